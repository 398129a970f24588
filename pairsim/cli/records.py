"""Printing rows that are not those of a sweep: a table for people, csv and json for programs."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Sequence
from typing import Any

import typer

from pairsim.cli.console import print_plainly


def show_records(records: Sequence[dict[str, Any]], format_: str, caption: str = "") -> None:
    """Print the records, which all have the same keys, in the format that was asked for."""
    if format_ == "table":
        _print_table(records, caption)
    else:
        typer.echo(records_text(records, format_), nl=False)


def records_text(records: Sequence[dict[str, Any]], format_: str) -> str:
    """Return the records as csv or json."""
    if format_ == "json":
        clean = [{name: _strict(value) for name, value in record.items()} for record in records]
        return json.dumps(clean, indent=1, allow_nan=False) + "\n"
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: "" if _strict(value) is None else value for name, value in r.items()} for r in records)
    return text.getvalue()


def _strict(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _print_table(records: Sequence[dict[str, Any]], caption: str) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, caption=caption or None, caption_justify="left")
    for name in records[0]:
        table.add_column(name, justify="left" if all(_is_text(record[name]) for record in records) else "right")
    for record in records:
        table.add_row(*(_shown(value) for value in record.values()))
    print_plainly(table)


def _is_text(value: Any) -> bool:
    """Say whether a value is text and not a number that is written out already."""
    return isinstance(value, str) and re.fullmatch(r"[+-]?[\d,]+(\.\d+)?", value) is None


def _shown(value: Any) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if value == int(value) and 1.0 < value < 1e15 else f"{value:.6g}"
    return str(value)
