"""The claims of the voSVM paper and of the lecture notes, each read from our tables."""

from __future__ import annotations

import math
from typing import Any

from scipy.stats import t as student

from experiments import printed
from experiments.judging import (
    MARGIN,
    Claim,
    Found,
    Tables,
    at_most,
    below,
    cells_by,
    interval,
    printed_cells,
    span,
)


def counts(tables: Tables) -> Found:
    """Judge table 3 by the classes of table 2."""
    checks: list[bool | None] = []
    wrong = []
    for name, classes in printed.VECTOR_CLASSES.items():
        pairs, single = printed.VECTOR_COUNTS[name]
        right = (pairs, single) == (classes * (classes - 1) // 2, classes)
        checks.append(right)
        wrong += [] if right else [f"{name}: {classes} classes in table 2, {single} in table 3"]
    return Found(checks, "; ".join(wrong))


def _vector(tables: Tables, method: str) -> dict[str, Any]:
    rows = tables("vector_errors")
    return cells_by(rows[rows.method.str.startswith(method) & ~rows.method.str.contains("simplex")])


def vector_column(tables: Tables, method: str) -> Found:
    """Judge a column of table 4."""
    rows = tables("vector_errors")
    return printed_cells(rows[rows.method.str.startswith(method) & ~rows.method.str.contains("simplex")])


def against_perceptron(tables: Tables) -> Found:
    """Judge whether the machine errs less often than the perceptron."""
    machine, online = _vector(tables, "voSVM"), _vector(tables, "perceptron")
    both = sorted(machine.keys() & online.keys())
    checks = [below(interval(machine[name]), interval(online[name])) for name in both]
    gaps = [online[name].error - machine[name].error for name in both]
    return Found(checks, f"{span(gaps)} points fewer errors on {', '.join(both)}")


def against_borrowed(tables: Tables) -> Found:
    """Judge whether the machine errs no more often than the better of the borrowed columns."""
    machine = _vector(tables, "voSVM")
    checks: list[bool | None] = []
    worse = []
    for name, row in machine.items():
        best = min(printed.VECTOR_BORROWED[name])
        checks.append(False if row.low > best else True if row.error <= best + MARGIN else None)
        worse += [f"{name} {row.error:.1f} against {best}"] if row.low > best else []
    told = f"on {len(checks)} sets; certainly worse: {', '.join(worse) or 'none'}"
    return Found(checks, told)


def against_measured(tables: Tables) -> Found:
    """Judge whether the machine errs no more often than the better reduction does here."""
    machine, rows = _vector(tables, "voSVM"), tables("vector_errors")
    checks: list[bool | None] = []
    gaps = []
    for name, row in machine.items():
        both = rows[rows.method.str.startswith("SVM") & (rows["set"] == name)]
        if len(both):
            best = next(both.loc[[both.error.idxmin()]].itertuples())
            gaps.append(row.error - best.error)
            worse = below(interval(best), interval(row))
            checks.append(False if worse else True if gaps[-1] <= MARGIN else None)
    return Found(checks, f"{span(gaps)} points more errors than the better of the two, on {len(checks)} sets")


def updates(tables: Tables) -> Found:
    """Judge Theorem 1 by what happened at step = margin = 1."""
    rows = tables("perceptron_updates")
    rows = rows[(rows.step == 1.0) & (rows.margin == 1.0)]
    checks: list[bool | None] = [bool(row.halted and row.most_updates <= row.bound) for row in rows.itertuples()]
    told = f"{span(rows.ratio)} of the bound in {len(rows)} settings of {rows.orders.iloc[0]} orders each; "
    return Found(checks, f"{told}training errors of {span(rows.training_error)}% when it halts")


def decoding(tables: Tables, rule: str) -> Found:
    """Judge the worked example: four distances and the class that is named."""
    rows = tables("notes_decoding")
    rows = rows[rows.rule == rule]
    checks: list[bool | None] = [abs(row.distance - row.paper) <= row.rounding * 1.000001 for row in rows.itertuples()]
    checks.append(bool((rows.named == rows.paper_named).all()))
    told = ", ".join(f"{each:.7g}" for each in rows.distance)
    return Found(checks, f"{told}: class {rows.named.iloc[0]}")


def sectors(tables: Tables, method: str, *, can: bool) -> Found:
    """Judge whether linear scores can (or cannot) tell sectors apart; 99% right is taken to be able to."""
    rows = tables("notes_sectors")
    rows = rows[rows.method == method]
    checks: list[bool | None] = [(row.right >= 99.0) is can for row in rows.itertuples()]
    cases = [f"{row.shape} {'with' if row.bias else 'without'} a bias {row.right:.1f}%" for row in rows.itertuples()]
    return Found(checks, "right: " + ", ".join(cases))


def stochastic(tables: Tables, shrink: str) -> Found:
    """Judge whether stochastic subgradients come within 1% of the least objective."""
    rows = tables("linear_errors")
    row = next(rows[rows.method == f"SGD excess, {shrink}"].itertuples())
    half = float(student.ppf(0.975, row.runs - 1)) * row.sd / math.sqrt(row.runs)
    low, high = row.error - half, row.error + half
    told = f"{row.error:.1f}% ({max(0.0, low):.1f} to {high:.1f}) above the least objective ({row.set})"
    return Found([at_most((low, high), 1.0)], told)


CLAIMS = (
    Claim("voSVM", "table 4", "errors of voSVM", "7 sets", "vector_errors", lambda t: vector_column(t, "voSVM")),
    Claim(
        "voSVM",
        "table 4",
        "errors of the perceptron",
        "7 sets",
        "vector_errors",
        lambda t: vector_column(t, "perceptron"),
    ),
    Claim(
        "voSVM", "table 4", "voSVM errs less often than the perceptron", "7 sets", "vector_errors", against_perceptron
    ),
    Claim(
        "voSVM",
        "sec. 6",
        "voSVM is as accurate as one-vs-all and all-vs-all (their printed errors)",
        "table 4",
        "vector_errors",
        against_borrowed,
    ),
    Claim(
        "voSVM",
        "table 4",
        "errors of one-vs-all and all-vs-all",
        "14 cells, borrowed",
        "vector_errors",
        lambda t: vector_column(t, "SVM"),
    ),
    Claim(
        "voSVM",
        "sec. 6",
        "voSVM is as accurate as one-vs-all and all-vs-all (measured here, within a point)",
        "may improve",
        "vector_errors",
        against_measured,
    ),
    Claim("voSVM", "table 3", "number of binary problems", "n(n-1)/2 and n", "verdict", counts),
    Claim("voSVM", "Theorem 1", "at most 3 |W*|^2 updates", "a bound", "perceptron_updates", updates),
    Claim(
        "notes",
        "sec. 1.3",
        "Hamming decoding of the example",
        "class 3",
        "notes_examples",
        lambda t: decoding(t, "hamming"),
    ),
    Claim(
        "notes",
        "sec. 1.3",
        "exponential loss of the example",
        "class 4",
        "notes_examples",
        lambda t: decoding(t, "exponential"),
    ),
    Claim(
        "notes",
        "sec. 3",
        "three sectors: a multiclass machine makes no error (99% or more)",
        "zero error",
        "notes_examples",
        lambda t: sectors(t, "Crammer-Singer", can=True),
    ),
    Claim(
        "notes",
        "sec. 3",
        "three sectors: no line splits off one of them (under 99%)",
        "none",
        "notes_examples",
        lambda t: sectors(t, "one sector from the others", can=False),
    ),
    Claim(
        "notes",
        "sec. 2.2",
        "the printed SGD finds the least objective (within 1%)",
        "an algorithm",
        "linear_errors",
        lambda t: stochastic(t, "active"),
    ),
    Claim(
        "notes",
        "sec. 2.2",
        "SGD that shrinks in every step finds it",
        "corrected",
        "linear_errors",
        lambda t: stochastic(t, "always"),
    ),
)
