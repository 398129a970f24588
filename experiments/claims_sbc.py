"""The claims of the SBC paper, each read from our tables."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import t as student

from experiments import printed
from experiments.judging import (
    MARGIN,
    Claim,
    Found,
    Tables,
    below,
    column,
    lower,
    span,
)
from pairsim.evaluation.ranks import average_ranks

_TABLE_2 = np.array(list(printed.SBC_TABLE_2.values()), dtype=np.float64)


def ranks(tables: Tables) -> Found:
    """Judge the printed average ranks by those of the printed rows."""
    found = average_ranks(_TABLE_2, printed.SBC_METHODS, printed.SBC_LEVEL)
    checks: list[bool | None] = [
        abs(ours - said) < 0.005 for ours, said in zip(found.ranks, printed.SBC_RANKS, strict=True)
    ]
    named = zip(printed.SBC_METHODS, found.ranks, strict=True)
    return Found(checks, "of the printed rows: " + ", ".join(f"{name} {rank:.2f}" for name, rank in named))


def significance(tables: Tables) -> Found:
    """Judge whether KERNEL's printed rank differs from each other one by more than Bonferroni and Dunn's difference."""
    found = average_ranks(_TABLE_2, printed.SBC_METHODS, printed.SBC_LEVEL)
    gaps = found.ranks[:-1] - found.ranks[-1]
    checks: list[bool | None] = [bool(gap > found.control_difference) for gap in gaps]
    apart = [name for name, said in zip(printed.SBC_METHODS, checks, strict=False) if said]
    told = f"the printed rows put {', '.join(apart)} further away than {found.control_difference:.2f} ranks"
    return Found(checks, told)


def missing_cells(tables: Tables) -> str:
    """Say how many cells of table 2 nobody has measured."""
    rows = tables("sbc_errors")
    there = set(zip(rows["set"], rows["method"], strict=True))
    cells = {(name, method) for name in printed.SBC_TABLE_2 for method in printed.SBC_METHODS}
    return f"not yet measured: {len(cells - there)} of {len(cells)} cells are missing"


def best_rank(tables: Tables) -> Found:
    """Judge whether KERNEL has the lowest average rank of the printed rows."""
    found = average_ranks(_TABLE_2, printed.SBC_METHODS, printed.SBC_LEVEL)
    order = np.argsort(found.ranks)
    second = printed.SBC_METHODS[order[1]]
    return Found(
        [printed.SBC_METHODS[order[0]] == "KERNEL"],
        f"of the printed rows: {found.ranks.min():.2f}, next {second} with {found.ranks[order[1]]:.2f}",
    )


def _defaults(tables: Tables, method: str, other: str) -> tuple[list[Any], list[Any]]:
    rows = tables("sbc_defaults")
    keys = ["set", "protocol"]
    both = rows[rows.method == method].merge(rows[rows.method == other], on=keys, suffixes=("", "_other"))
    pairs = list(both.itertuples())
    return pairs, [row.error - row.error_other for row in pairs]


def _means(row: Any, suffix: str = "") -> tuple[float, float]:
    """Return Student's interval for the mean of the five splits."""
    error, runs = getattr(row, f"error{suffix}"), int(getattr(row, f"runs{suffix}"))
    half = float(student.ppf(0.975, runs - 1)) * getattr(row, f"sd{suffix}") / math.sqrt(runs)
    return error - half, error + half


def learning_helps(tables: Tables) -> Found:
    """Judge whether Algorithm 2's weights err less often than equal ones."""
    pairs, gaps = _defaults(tables, "paper", "equal weights")
    checks = [below(_means(row), _means(row, "_other")) for row in pairs]
    more, fewer = sum(gap > MARGIN for gap in gaps), sum(gap < -MARGIN for gap in gaps)
    told = f"{span(gaps)} points more errors than equal weights; more than {MARGIN:g} point worse in {more} of "
    return Found(checks, f"{told}{len(gaps)} cases, better in {fewer}")


def frequencies(tables: Tables) -> Found:
    """Judge whether the classes' frequencies serve as well as Algorithm 2's weights."""
    pairs, gaps = _defaults(tables, "class frequencies", "paper")
    checks: list[bool | None] = []
    for row, gap in zip(pairs, gaps, strict=True):
        worse = below(_means(row, "_other"), _means(row))
        checks.append(False if worse and gap > MARGIN else True if gap <= MARGIN else None)
    return Found(checks, f"{span(gaps)} points more errors than Algorithm 2's weights in {len(gaps)} cases")


Judge = Callable[[Tables], Found]


def _sbc(where: str, claim: str, said: str, judge: Judge, script: str = "sbc_errors") -> Claim:
    return Claim("SBC", where, claim, said, script, judge)


def _columns() -> list[Claim]:
    made = []
    for method in ("KERNEL", "IDENTITY", "OVA", "AP", "ECOC", "SBC-ECOC", "SINGLE"):
        judge = functools.partial(column, table="sbc_errors", methods=(method,))
        made.append(_sbc("table 2", f"errors of {method}", "10 cells", judge))
    return made


def _lower(table: str, method: str, *others: str) -> Judge:
    return functools.partial(lower, table=table, method=method, others=others)


CLAIMS = (
    *_columns(),
    _sbc("sec. 5", "KERNEL errs less often than OVA (by means)", "10 rows", _lower("sbc_errors", "KERNEL", "OVA")),
    _sbc("sec. 5", "KERNEL errs less often than AP (by means)", "10 rows", _lower("sbc_errors", "KERNEL", "AP")),
    _sbc(
        "sec. 5",
        "IDENTITY errs less often than OVA and AP (by means)",
        "10 rows",
        _lower("sbc_errors", "IDENTITY", "OVA", "AP"),
    ),
    _sbc("sec. 5", "KERNEL has the best average rank", "1.91", best_rank, "verdict"),
    _sbc("table 2", "the average ranks", "4, 4.68, 4.32, 3.27, 6.45, 3.36, 1.91", ranks, "verdict"),
    _sbc("sec. 5", "KERNEL's rank differs significantly from each other one", "90% level", significance, "verdict"),
    _sbc("sec. 5", "learning the label weights improves", "a source", learning_helps, "sbc_defaults"),
    _sbc("sec. 5", "class frequencies could be used as weights", "future work", frequencies, "sbc_defaults"),
    Claim(
        "SBC",
        "table 2",
        "KERNEL ranks first when all seven methods are measured again",
        "1.91",
        "sbc_errors",
        why=missing_cells,
    ),
)
