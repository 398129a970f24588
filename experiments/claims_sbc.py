"""The claims of the SBC paper, each read from our tables."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

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
    number,
    span,
)

PRINTED, OURS = "printed rows", "ours"


def _ranks(tables: Tables, errors: str) -> Any:
    rows = tables("sbc_ranks")
    return rows[rows.errors == errors]


def ranks(tables: Tables) -> Found:
    """Judge the printed average ranks by those of the printed rows."""
    rows = _ranks(tables, PRINTED)
    checks: list[bool | None] = [abs(row.rank - row.paper) < 0.005 for row in _list(rows)]
    named = ", ".join(f"{row.method} {row.rank:.2f}" for row in _list(rows))
    return Found(checks, f"of the printed rows: {named}")


def _list(rows: Any) -> list[Any]:
    """Return rows with a column `rank`, which a method of tables hides."""
    return list(rows.itertuples())


def significance(tables: Tables, errors: str) -> Found:
    """Judge whether KERNEL's rank differs from each other one by more than Bonferroni and Dunn's difference."""
    rows = _ranks(tables, errors)
    others = _list(rows[rows.method != "KERNEL"])
    checks: list[bool | None] = [bool(row.apart_from_kernel) for row in others]
    far = [row.method for row in others if row.apart_from_kernel]
    told = f"{errors}: {', '.join(far) or 'none'} further away than {others[0].difference_needed:.2f} ranks"
    return Found(checks, f"{told} (all alike: p = {number(others[0].p_value)})")


def best_rank(tables: Tables, errors: str) -> Found:
    """Judge whether KERNEL has the lowest average rank."""
    rows = sorted(_list(_ranks(tables, errors)), key=lambda row: float(row.rank))
    named = ", ".join(f"{row.method} {row.rank:.2f}" for row in rows)
    ahead = rows[1].rank - rows[0].rank > 0.005
    first = rows[0].method == "KERNEL" if ahead else None if "KERNEL" in (rows[0].method, rows[1].method) else False
    return Found([first], f"{errors}: {named}")


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
    scaled = tuple(f"{method}, C/(cm)" for method in printed.SBC_METHODS)
    judge = functools.partial(column, table="sbc_errors", methods=scaled)
    made.append(_sbc("eq. (3)", "errors of all seven with the penalty as printed, C/(cm)", "42 cells", judge))
    return made


def _lower(table: str, method: str, *others: str) -> Judge:
    return functools.partial(lower, table=table, method=method, others=others)


CLAIMS = (
    *_columns(),
    _sbc("sec. 5", "KERNEL errs less often than OVA (by means)", "10 rows", _lower("sbc_errors", "KERNEL", "OVA")),
    _sbc("sec. 5", "KERNEL errs less often than AP (by means)", "10 rows", _lower("sbc_errors", "KERNEL", "AP")),
    _sbc(
        "sec. 5",
        "IDENTITY errs less often than OVA, AP, ECOC (by means)",
        "10 rows",
        _lower("sbc_errors", "IDENTITY", "OVA", "AP", "ECOC"),
    ),
    _sbc("sec. 5", "KERNEL has the best average rank", "1.91", lambda t: best_rank(t, PRINTED), "sbc_ranks"),
    _sbc("sec. 5", "so it has when all is measured again", "1.91", lambda t: best_rank(t, OURS), "sbc_ranks"),
    _sbc("table 2", "the average ranks", "4, 4.68, 4.32, 3.27, 6.45, 3.36, 1.91", ranks, "sbc_ranks"),
    _sbc("sec. 5", "KERNEL's rank differs from each other one", "90%", lambda t: significance(t, PRINTED), "sbc_ranks"),
    _sbc("sec. 5", "so it does when all is measured again", "90%", lambda t: significance(t, OURS), "sbc_ranks"),
    _sbc("sec. 5", "learning the label weights improves", "a source", learning_helps, "sbc_defaults"),
    _sbc("sec. 5", "class frequencies could be used as weights", "future work", frequencies, "sbc_defaults"),
)
