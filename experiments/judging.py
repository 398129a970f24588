"""How a claim of a paper is judged: checks against intervals, one rule for the verdict, tables read from csv files."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from experiments.results_table import NUMBERS

RULE = """A claim is one or more *checks*. A check says yes or no where our 95% interval (or an exact or certified
value) decides it, else it is open. The verdict follows from the counts alone: **holds** when no check says no and at
least as many say yes as are open; **does not hold** when fewer than a quarter of the decided checks say yes; **holds
partly** otherwise; **not decided** when all are open. Claims *by means* compare mean errors as the paper does: the text
says in how many of their cases our intervals are apart."""

MARGIN = 1.0  # percent that we take to be nothing


class MissingTableError(LookupError):
    """A table that a claim is read from is not there."""


class Tables:
    """The csv files of a folder, read when they are asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @functools.cache  # noqa: B019 - lives as long as one run
    def __call__(self, name: str) -> Any:
        """Return a table by its name."""
        path = self.folder / f"{name}.csv"
        if not path.exists():
            raise MissingTableError(name)
        return pd.read_csv(path, keep_default_na=True)


class Found(NamedTuple):
    """What we found: the checks, and our figure in words."""

    checks: list[bool | None]
    ours: str

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many checks say yes, no, and nothing."""
        decided = [bool(each) for each in self.checks if each is not None]
        return sum(decided), len(decided) - sum(decided), len(self.checks) - len(decided)

    @property
    def verdict(self) -> str:
        """The verdict by `RULE`."""
        yes, no, unsure = self.counts
        if yes + no == 0:
            return "not decided"
        if no == 0 and yes >= unsure:
            return "holds"
        return "does not hold" if 4 * yes < yes + no else "holds partly"


class Claim(NamedTuple):
    """A claim, where it is printed and what is printed, the script that measures it, and how it is judged.

    Without `judge` it is not measured, for the reason that `why` gives.
    """

    paper: str
    where: str
    claim: str
    printed: str
    script: str
    judge: Callable[[Tables], Found] | None = None
    why: str | Callable[[Tables], str] = ""


def within(value: float, low: float, high: float) -> bool | None:
    """Say whether a printed figure lies in our interval; nothing where there is none."""
    return None if math.isnan(value) or math.isnan(low) or math.isnan(high) else low <= value <= high


def below(one: tuple[float, float], other: tuple[float, float]) -> bool | None:
    """Say whether the one number is less than the other, given the interval of each."""
    if one[1] < other[0]:
        return True
    return False if one[0] > other[1] else None


def lower_mean(one: Any, other: Any) -> bool | None:
    """Say whether the one row has the lower mean error; nothing where they are equal."""
    return None if abs(one.error - other.error) < 0.005 else one.error < other.error


def at_most(interval: tuple[float, float], limit: float) -> bool | None:
    """Say whether a number is at most a limit."""
    if interval[1] <= limit:
        return True
    return False if interval[0] > limit else None


def opposite(check: bool | None) -> bool | None:
    """Return what the opposite claim's check says."""
    return None if check is None else not check


def interval(row: Any, prefix: str = "") -> tuple[float, float]:
    """Return the interval of a row: columns low and high, with a prefix or without."""
    before = f"{prefix}_" if prefix else ""
    return float(getattr(row, f"{before}low")), float(getattr(row, f"{before}high"))


def number(value: float) -> str:
    """Return a number in three digits or so."""
    if value != 0.0 and abs(value) < 1e-3:
        return f"{value:.1e}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def span(values: Iterable[float]) -> str:
    """Return the least and the largest of some numbers."""
    kept = [value for value in values if not math.isnan(value)]
    if not kept:
        raise MissingTableError("with these rows")
    return f"{number(min(kept))} to {number(max(kept))}"


def cell(row: Any) -> str:
    """Return an error with its interval."""
    return f"{row.error:.1f} ({max(0.0, row.low):.1f} to {min(100.0, row.high):.1f})"


def printed_cells(rows: Any, what: str = "error") -> Found:
    """Judge whether printed figures lie in our intervals, and say which is furthest away."""
    rows = rows[rows.paper.notna() & rows.low.notna()]
    if not len(rows):
        raise MissingTableError("a row with a printed figure")
    checks = [within(row.paper, row.low, row.high) for row in rows.itertuples()]
    away = np.maximum(rows.low - rows.paper, rows.paper - rows.high)
    furthest = next(rows.loc[[away.idxmax()]].itertuples())
    place = "furthest" if away.max() > 0.0 else "nearest to an end"
    told = f"{what}: {sum(map(bool, checks))} of {len(checks)} cells in our intervals; {place}: "
    return Found(checks, told + f"{furthest.set} {furthest.paper:g} printed, ours {cell(furthest)}")


def cells_by(rows: Any, key: str = "set") -> dict[str, Any]:
    """Return the best-measured row of each set: the one with the most runs."""
    order = rows.sort_values("runs", kind="stable") if "runs" in rows else rows
    return {getattr(row, key): row for row in order.itertuples()}


def numeric(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table of errors with its numbers as numbers."""
    names = [name for name in NUMBERS if name in frame]
    return frame.assign(**{name: pd.to_numeric(frame[name], errors="coerce") for name in names})


def column(tables: Tables, table: str, methods: tuple[str, ...]) -> Found:
    """Judge the printed figures of some methods, from the row of each set with the most runs."""
    rows = tables(table)
    rows = rows[rows.method.isin(methods) & rows.paper.notna()].sort_values("runs", kind="stable")
    return printed_cells(rows.drop_duplicates(["set", "method"], keep="last"))


def lower(tables: Tables, table: str, method: str, others: tuple[str, ...]) -> Found:
    """Judge whether a method has lower mean errors than others, and say where intervals are apart."""
    rows = tables(table)
    mine, checks, told = cells_by(rows[rows.method == method]), [], []
    for other in others:
        theirs = cells_by(rows[rows.method == other])
        both = sorted(mine.keys() & theirs.keys())
        checks += [lower_mean(mine[name], theirs[name]) for name in both]
        apart = [below(interval(mine[name]), interval(theirs[name])) for name in both]
        fewer = sum(mine[name].error < theirs[name].error for name in both)
        told.append(f"lower than {other} on {fewer} of {len(both)} sets, {told_apart(apart)}")
    if not checks:
        raise MissingTableError(method)
    return Found(checks, "; ".join(told))


def told_apart(apart: list[bool | None]) -> str:
    """Say how often intervals are apart."""
    better, worse = (sum(each is said for each in apart) for said in (True, False))
    return f"certainly better in {better} and worse in {worse} of {len(apart)}"
