"""Printing records: a table for people, csv and json for programs."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Collection, Sequence
from typing import Any

from pairsim.cli.console import print_for_programs
from pairsim.plain_text import printable

Record = dict[str, Any]


def show_records(records: Sequence[Record], format_: str, caption: str = "") -> None:
    """Print the records, which all have the same keys, in the format that was asked for."""
    if format_ == "table":
        print_records(records, caption)
    else:
        print_for_programs(records_text(records, format_))


def records_text(records: Sequence[Record], format_: str) -> str:
    """Return the records as csv or json; text in csv is printable, and json escapes what is not."""
    if format_ == "json":
        clean = [{name: _strict(value) for name, value in record.items()} for record in records]
        return json.dumps(clean, indent=1, allow_nan=False) + "\n"
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _csv_cell(value) for name, value in record.items()} for record in records)
    return text.getvalue()


def print_records(records: Sequence[Record], caption: str = "", section_starts: Collection[int] | None = None) -> None:
    """Print the records as a table, with what all of them share below it, and then the caption.

    A blank line comes before the rows of `section_starts`; by default, between the points of a grid.
    """
    from pairsim.cli.record_table import lay_out  # not needed to print help

    lay_out(records, caption, section_starts)


def _csv_cell(value: Any) -> Any:
    return "" if _strict(value) is None else printable(value) if isinstance(value, str) else value


def _strict(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
