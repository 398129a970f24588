"""The table of an evaluation for people, and as csv and json for programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import typer

from pairsim.cli.console import count, print_plainly

if TYPE_CHECKING:
    from pairsim.evaluation import Comparison, Row

FIGURES = ("accuracy", "interval", "agreement", "McNemar p", "queries", "distinct", "rounds", "fit s", "predict s")


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
        typer.echo(EVALUATION_TABLE.csv_text(records), nl=False)
    else:
        compared = [each._asdict() for each in comparisons]
        typer.echo(EVALUATION_TABLE.json_text(records, comparisons=compared), nl=False)


def _print(rows: Sequence[Row]) -> None:
    """Print decoders, model by model."""
    _print_table(
        rows,
        ("data", "estimator", "decoder"),
        FIGURES,
        lambda row: (row.data, row.split, row.reduction, row.estimator, row.seed),
        lambda row: (
            row.data,
            row.estimator if row.reduction == "one-vs-one" else f"{row.reduction} {row.estimator}",
            row.decoder,
            f"{row.accuracy:.4f}",
            f"{row.low:.4f} .. {row.high:.4f}",
        ),
        lambda row: (row.queries, row.distinct, row.rounds),
    )


def _print_reductions(rows: Sequence[Row]) -> None:
    """Print reductions: errors instead of accuracies, as their papers do, and what they train on."""
    _print_table(
        rows,
        ("data", "reduction", "estimator"),
        ("error %", "interval", "agreement", "McNemar p", "problems", "rows each", "fit s", "predict s"),
        lambda row: (row.data, row.split),
        lambda row: (
            row.data,
            row.reduction,
            row.estimator,
            f"{100.0 * (1.0 - row.accuracy):.2f}",
            f"{100.0 * (1.0 - row.high):.2f} .. {100.0 * (1.0 - row.low):.2f}",
        ),
        lambda row: (row.problems, row.problem_rows),
    )

    from pairsim.evaluation.ranks import ranks_of

    found = ranks_of(rows)
    if found is not None:
        order = sorted(range(len(found.methods)), key=lambda k: float(found.ranks[k]))
        typer.echo("average ranks: " + ", ".join(f"{found.methods[k]} {found.ranks[k]:.2f}" for k in order))
        typer.echo(
            f"Friedman {found.friedman:.3f}, Iman-Davenport F {found.iman_davenport:.3f}, p = {found.p_value:.3g}; "
            f"ranks that differ by {found.critical_difference:.2f} are told apart (Nemenyi, 95%)"
        )


def _print_table(
    rows: Sequence[Row],
    names: Sequence[str],
    figures: Sequence[str],
    section: Callable[[Row], object],
    begin: Callable[[Row], Sequence[str]],
    counts: Callable[[Row], Sequence[float]],
) -> None:
    """Print rows: how they begin, agreement and test, what is counted, and times; a line between sections."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in names:
        table.add_column(name, no_wrap=name == "decoder")
    for name in figures:
        table.add_column(name, justify="right", no_wrap=True)
    for place, row in enumerate(rows):
        if place and section(row) != section(rows[place - 1]):
            table.add_section()
        table.add_row(
            *begin(row),
            _unless_nan(row.agreement, ".4f"),
            _unless_nan(row.mcnemar, ".3g"),
            *("" if value != value else count(value) for value in counts(row)),
            _unless_nan(row.fit_seconds, ".3g"),
            _unless_nan(row.predict_seconds, ".3g"),
        )
    sets = list(dict.fromkeys((row.data, row.n, row.rows, row.split) for row in rows))
    table.caption = "; ".join(f"{data}: {n} classes, {count:,} rows ({split})" for data, n, count, split in sets)
    table.caption_justify = "left"
    print_plainly(table)


def _unless_nan(value: float, form: str) -> str:
    return "" if value != value else format(value, form)
