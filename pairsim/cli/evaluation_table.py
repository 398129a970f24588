"""The table of an evaluation for people, and as csv and json for programs."""

from __future__ import annotations

from collections.abc import Sequence
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
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in ("data", "estimator", "decoder"):
        table.add_column(name, no_wrap=name == "decoder")
    for name in FIGURES:
        table.add_column(name, justify="right", no_wrap=True)
    previous = None
    for row in rows:
        model = (row.data, row.split, row.reduction, row.estimator, row.seed)
        if previous is not None and model != previous:
            table.add_section()
        previous = model
        table.add_row(
            row.data,
            row.estimator if row.reduction == "one-vs-one" else f"{row.reduction} {row.estimator}",
            row.decoder,
            f"{row.accuracy:.4f}",
            f"{row.low:.4f} .. {row.high:.4f}",
            _unless_nan(row.agreement, ".4f"),
            _unless_nan(row.mcnemar, ".3g"),
            *("" if value != value else count(value) for value in (row.queries, row.distinct, row.rounds)),
            _unless_nan(row.fit_seconds, ".3g"),
            _unless_nan(row.predict_seconds, ".3g"),
        )
    sets = list(dict.fromkeys((row.data, row.n, row.rows, row.split) for row in rows))
    table.caption = "; ".join(f"{data}: {n} classes, {count:,} rows ({split})" for data, n, count, split in sets)
    table.caption_justify = "left"
    print_plainly(table)


def _print_reductions(rows: Sequence[Row]) -> None:
    """Print reductions: errors instead of accuracies, as their papers do, and what they train on."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in ("data", "reduction", "estimator"):
        table.add_column(name)
    for name in ("error %", "interval", "agreement", "McNemar p", "problems", "rows each", "fit s", "predict s"):
        table.add_column(name, justify="right", no_wrap=True)
    previous = None
    for row in rows:
        if previous is not None and (row.data, row.split) != previous:
            table.add_section()
        previous = (row.data, row.split)
        table.add_row(
            row.data,
            row.reduction,
            row.estimator,
            f"{100.0 * (1.0 - row.accuracy):.2f}",
            f"{100.0 * (1.0 - row.high):.2f} .. {100.0 * (1.0 - row.low):.2f}",
            _unless_nan(row.agreement, ".4f"),
            _unless_nan(row.mcnemar, ".3g"),
            *("" if value != value else count(value) for value in (row.problems, row.problem_rows)),
            _unless_nan(row.fit_seconds, ".3g"),
            _unless_nan(row.predict_seconds, ".3g"),
        )
    sets = list(dict.fromkeys((row.data, row.n, row.rows, row.split) for row in rows))
    table.caption = "; ".join(f"{data}: {n} classes, {count:,} rows ({split})" for data, n, count, split in sets)
    table.caption_justify = "left"
    print_plainly(table)

    from pairsim.evaluation.ranks import ranks_of

    found = ranks_of(rows)
    if found is not None:
        order = sorted(range(len(found.methods)), key=lambda k: float(found.ranks[k]))
        typer.echo("average ranks: " + ", ".join(f"{found.methods[k]} {found.ranks[k]:.2f}" for k in order))
        typer.echo(
            f"Friedman {found.friedman:.3f}, Iman-Davenport F {found.iman_davenport:.3f}, p = {found.p_value:.3g}; "
            f"ranks that differ by {found.critical_difference:.2f} are told apart (Nemenyi, 95%)"
        )


def _unless_nan(value: float, form: str) -> str:
    return "" if value != value else format(value, form)
