"""Tables made of any records.

What is known of columns by their names: which of them name a row, which matter less, and which go below the table when
all rows have the same value.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Collection, Sequence
from typing import Any

from pairsim.cli import figures
from pairsim.cli.console import print_columns
from pairsim.cli.layout import Column

Record = dict[str, Any]

KEYS = (
    *("task", "data", "oracle", "trait", "n", "p", "order", "difficulty", "reduction", "estimator", "decoder"),
    *("first", "second", "seed", "split", "parameter"),
)
# what goes below the table when it is the same for all rows, and how it is said there
SHARED = {
    "oracle": "{}",
    "data": "{}",
    "n": "n = {}",
    "p": "p = {}",
    "reduction": "{}",
    "estimator": "{}",
    "split": "{}",
    "method": "{}",
    "trials": "{} trials",
    "rows": "{} rows",
    "seed": "seed {}",
    "how": "{}",
    "paired": "paired: {}",
    "first": "first: {}",
    "second": "second: {}",
}
# columns that matter less, those that are left out first at the end
LESS = (
    *("rounds", "paper_l", "trials", "rows", "paired", "blocks", "method"),
    *("certified_l", "stored", "problems", "rows each", "t-test p", "corrected_t", "McNemar p", "mcnemar", "how"),
    *("fit s", "predict s", "distinct", "agreement"),
)
PLAN_LESS = ("rounds", "method", "budget_floor", "mean_floor", "distinct_95", "at_once", "queries")  # the same of plans
TELL_APART = ("method",)  # names a row where its keys alone do not: one decoder's rows by two methods
ESTIMATES = ("success", "accuracy", "difference", "observed")
COUNTS = (
    "queries",
    "distinct",
    "distinct_95",
    "most",
    "at_once",
    "mean_floor",
    "budget_floor",
    "rounds",
    "problems",
    "problem_rows",
    "rows each",
)
AGREEMENT_DECIMALS = 4
# digits, where no interval says
ROUNDED = {"mcnemar": 3, "McNemar p": 3, "corrected_t": 3, "t-test p": 3, "fit s": 3, "predict s": 3}
TASK_LETTERS = 12


def lay_out(records: Sequence[Record], caption: str, section_starts: Collection[int] | None) -> None:
    """Print the records as a table; see `print_records`."""
    if section_starts is None:
        section_starts = _points(records)
    columns = [column for column in table_columns(records) if any(column.cells)]
    shared = [column for column in columns if column.name in SHARED and _is_shared(column)]
    if len(shared) == len(columns):  # something must be left to print
        shared = shared[:-1]
    facts = [SHARED[column.name].format(max(column.cells)) for column in shared]
    printed = _told_apart([column for column in columns if column not in shared])
    print_columns(printed, [", ".join(facts), caption], section_starts)


def _told_apart(columns: list[Column]) -> list[Column]:
    """Return the columns, with one more key where rows would have the same name without it."""
    for name in TELL_APART:
        place = next((place for place, column in enumerate(columns) if column.name == name), None)
        if place is None:
            continue
        more = [*columns]
        more[place] = dataclasses.replace(columns[place], is_key=True)
        if _names(more) > _names(columns):
            columns = more
    return columns


def _names(columns: Sequence[Column]) -> int:
    """Count the different names that keys give to rows."""
    return len(set(zip(*(column.cells for column in columns if column.is_key), strict=True)))


def _points(records: Sequence[Record]) -> set[int]:
    """Return where another point of a grid begins; nothing where all points have one row."""
    points = [repr([record.get(name) for name in ("oracle", "n", "p")]) for record in records]
    starts = {place for place in range(1, len(points)) if points[place] != points[place - 1]}
    return starts if len(starts) < len(records) - 1 else set()


def _is_shared(column: Column) -> bool:
    values = set(column.cells)
    return len(values - {""} if column.name == "trials" else values) == 1


def table_columns(records: Sequence[Record]) -> list[Column]:
    """Return the columns of a table of records: figures rounded, low and high joined to an interval."""
    names = list(records[0])
    joined = _interval_of(names)
    columns = []
    for name in names:
        if name in ("low", "high") and joined:
            continue
        if name.endswith(("_low", "_high")) and name.rpartition("_")[0] in names and _follows(names, name):
            continue  # such as agreement_low: csv has it
        if name == joined:
            columns += _estimate_columns(name, records)
        else:
            columns.append(_column(name, records))
    if "budget_floor" in names:
        ranks = {name: place + 1 for place, name in enumerate(PLAN_LESS)}
        columns = [dataclasses.replace(column, rank=ranks.get(column.name, 0)) for column in columns]
    return columns


def _interval_of(names: Sequence[str]) -> str | None:
    """Return the column that `low` and `high` belong to."""
    if not {"low", "high"} <= set(names):
        return None
    before = names[names.index("low") - 1]
    return next((name for name in ESTIMATES if name in names), before)


def _follows(names: Sequence[str], end: str) -> bool:
    """Say whether x_low and x_high come right after x, so that they are its interval and no figures of their own."""
    stem = end.rpartition("_")[0]
    place = names.index(stem)
    return list(names[place + 1 : place + 3]) == [f"{stem}_low", f"{stem}_high"]


def _estimate_columns(name: str, records: Sequence[Record]) -> list[Column]:
    """Return the columns of an estimate and of its interval, which is `low .. high`, or in its short form +-."""
    values, intervals, reaches = [], [], []
    for record in records:
        value, low, high = (_number(record[key]) for key in (name, "low", "high"))
        value_text, low_text, high_text = figures.estimated(value, low, high, is_share=name != "difference")
        known = record.get("method")
        if known == "exact" or (known == "certified" and low_text == high_text):
            value_text, interval, reach = figures.exact(value), known, known
        elif low_text:
            interval, reach = f"{low_text} .. {high_text}", figures.half_width(value, low, high)
        else:
            interval = reach = ""
        values.append(value_text)
        intervals.append(interval)
        reaches.append(reach)
    short = Column("±", reaches)
    return [Column(name, figures.aligned(values)), Column("interval", intervals, short=short)]


def _column(name: str, records: Sequence[Record]) -> Column:
    cells = [_shown(name, record[name]) for record in records]
    if name in KEYS:
        cells = _with_enough_digits([record[name] for record in records], cells)
    if name == "trials":  # an exact value has none
        cells = ["" if r.get("method") == "exact" else cell for r, cell in zip(records, cells, strict=True)]
    elif f"{name}_low" in records[0] and _follows(list(records[0]), f"{name}_low"):
        ends = ((_number(r[key]) for key in (name, f"{name}_low", f"{name}_high")) for r in records)
        cells = [figures.estimated(*values)[0] for values in ends]
    is_text = name in ("task", "decoder") or any(_is_text(record[name]) for record in records)
    short = None
    if name == "task":
        short = Column(name, [cell[:TASK_LETTERS] for cell in cells], is_key=True, is_text=True)
    return Column(name, cells, name in KEYS, _rank(name), is_text, short)


def _with_enough_digits(values: Sequence[Any], cells: list[str]) -> list[str]:
    """Return the cells with more digits where numbers that differ would look alike: they name rows."""
    numbers = {value for value in values if isinstance(value, float) and math.isfinite(value)}
    digits = figures.EXACT_DIGITS
    while len({f"{value:.{digits}g}" for value in numbers}) < len(numbers):  # at 17, no two floats are alike
        digits += 1
    if digits == figures.EXACT_DIGITS:
        return cells
    return [f"{value:.{digits}g}" if value in numbers else cell for value, cell in zip(values, cells, strict=True)]


def _rank(name: str) -> int:
    if name.endswith("_distance"):
        return len(LESS) + 1
    return LESS.index(name) + 1 if name in LESS else 0


def _is_text(value: Any) -> bool:
    """Say whether a value is text and not a number that is written out already."""
    return isinstance(value, str) and bool(value) and re.fullmatch(r"[+-]?[\d,]+(\.\d+)?(e[+-]?\d+)?", value) is None


def _shown(name: str, value: Any) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, int) and name not in ("n", "seed"):
        return f"{value:,}"
    return _figure(name, value) if isinstance(value, float) else str(value)


def _figure(name: str, value: float) -> str:
    if name == "agreement":
        return figures.fixed(value, AGREEMENT_DECIMALS)
    if name in COUNTS:
        return figures.count(value)
    return figures.rounded(value, ROUNDED.get(name, figures.EXACT_DIGITS))


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)
