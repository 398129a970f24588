"""The table of an evaluation for people, and as csv and json for programs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from pairsim.cli.console import note, print_for_programs, say
from pairsim.cli.records import print_records

if TYPE_CHECKING:
    from pairsim.evaluation import Comparison, Row


def show_evaluation(rows: Sequence[Row], comparisons: Sequence[Comparison], format_: str) -> None:
    """Print the rows in the format that was asked for."""
    if format_ == "table":
        others = [row for row in rows if not row.decoder]
        if len(others) < len(rows):
            _print([row for row in rows if row.decoder])
        if others:
            _print_reductions(others)
        return

    from pairsim.evaluation import EVALUATION_TABLE

    records = [row._asdict() for row in rows]
    if format_ == "csv":
        print_for_programs(EVALUATION_TABLE.csv_text(records))
    else:
        compared = [each._asdict() for each in comparisons]
        print_for_programs(EVALUATION_TABLE.json_text(records, comparisons=compared))


def warn_of_narrow_intervals(rows: Sequence[Row]) -> None:
    """Tell of intervals that an earlier version wrote to a table, which does not have what better ones are made of."""
    from pairsim.evaluation.results import too_narrow

    if too_narrow(rows):
        note("an earlier version wrote this table: its intervals over folds are too narrow; evaluate or export again")


def _print(rows: Sequence[Row]) -> None:
    """Print decoders, model by model."""
    _print_table(
        rows,
        lambda row: (row.data, row.split, row.reduction, row.estimator, row.seed),
        lambda row: {
            "data": row.data,
            "estimator": row.estimator if row.reduction == "one-vs-one" else f"{row.reduction} {row.estimator}",
            "seed": row.seed,
            "decoder": row.decoder,
            "accuracy": row.accuracy,
            "low": row.low,
            "high": row.high,
            "agreement": row.agreement,
            "McNemar p": row.mcnemar,
            "queries": row.queries,
            "distinct": row.distinct,
            "rounds": row.rounds,
            "scaling": "" if row.scaling == "standard" else row.scaling,
        },
    )


def _shorten(chosen: str) -> str:
    """Return the settings that most folds have chosen; csv and json have the others."""
    first, *others = chosen.split("; ")
    return f"{first}, {len(others)} others" if len(others) > 1 else chosen


def _print_reductions(rows: Sequence[Row]) -> None:
    """Print reductions: errors instead of accuracies, as their papers do, and what they train on."""
    from pairsim.evaluation.rows import short_tuning

    _print_table(
        rows,
        lambda row: (row.data, row.split),
        lambda row: {
            "data": row.data,
            "reduction": row.reduction,
            "estimator": row.estimator,
            "seed": row.seed,
            "error %": 100.0 * (1.0 - row.accuracy),
            "low": 100.0 * (1.0 - row.high),
            "high": 100.0 * (1.0 - row.low),
            "agreement": row.agreement,
            "t-test p": row.corrected_t,
            "McNemar p": row.mcnemar,
            "problems": row.problems,
            "rows each": row.problem_rows,
            "tuning": short_tuning(row.tuning),
            "chosen": _shorten(row.chosen),
            "scaling": "" if row.scaling == "standard" else row.scaling,
        },
    )

    for line in _rank_lines(rows):
        say(line)


def _rank_lines(rows: Sequence[Row]) -> list[str]:
    """Return what the ranks of the reductions say, or why there is nothing to say."""
    from pairsim.evaluation.ranks import ranks_of

    sets = {row.data for row in rows}
    methods = {(row.reduction, row.estimator, row.scaling, row.tuning) for row in rows}
    found = ranks_of(rows)
    if found is None and len(methods) > 1 and len(sets) < 2:
        return ["no test of the ranks: Friedman's takes two data sets or more, and the runs of one set count once"]
    if found is None and len(methods) > 1:
        return ["no test of the ranks: Friedman's takes two reductions or more that every run has"]
    if found is None:
        return []
    order = sorted(range(len(found.methods)), key=lambda k: float(found.ranks[k]))
    same = " (all sets rank them alike)" if math.isinf(found.iman_davenport) else ""
    return [
        "average ranks: " + ", ".join(f"{found.methods[k]} {found.ranks[k]:.2f}" for k in order),
        f"Friedman {found.friedman:.3f} ({found.sets} data sets), Iman-Davenport F {found.iman_davenport:.3f}{same}, "
        f"p = {found.p_value:.3g}; critical difference {found.critical_difference:.2f} (Nemenyi, 95%)",
    ]


def _print_table(
    rows: Sequence[Row], section: Callable[[Row], object], record: Callable[[Row], dict[str, Any]]
) -> None:
    """Print rows as records, and times behind them; a line between sections."""
    starts = {place for place in range(1, len(rows)) if section(rows[place]) != section(rows[place - 1])}
    records = [record(row) | {"fit s": row.fit_seconds, "predict s": row.predict_seconds} for row in rows]
    sets = list(dict.fromkeys((row.data, row.n, row.rows, row.split) for row in rows))
    caption = "; ".join(f"{data}: {n} classes, {count:,} rows ({split})" for data, n, count, split in sets)
    if len({row.data for row in rows}) == 1:  # the caption names it
        records = [{name: value for name, value in each.items() if name != "data"} for each in records]
    print_records(records, caption, starts)
