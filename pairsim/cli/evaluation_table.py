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
        _print(rows)
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


def _unless_nan(value: float, form: str) -> str:
    return "" if value != value else format(value, form)
