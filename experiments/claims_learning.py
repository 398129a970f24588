"""The claims of the four papers on learning, each read from our tables."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import t as student

from experiments import printed
from experiments.judging import (
    Claim,
    Found,
    MissingTableError,
    Tables,
    at_most,
    below,
    cells_by,
    interval,
    lower_mean,
    number,
    printed_cells,
    span,
)
from pairsim.evaluation.ranks import average_ranks

MARGIN = 1.0  # percent that we take to be nothing
NEAR = 0.01  # of the last objective: converged


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
        told.append(f"lower than {other} on {fewer} of {len(both)} sets, {_apart(apart)}")
    if not checks:
        raise MissingTableError(method)
    return Found(checks, "; ".join(told))


def _apart(apart: list[bool | None]) -> str:
    """Say how often intervals are apart."""
    better, worse = (sum(each is said for each in apart) for said in (True, False))
    return f"certainly better in {better} and worse in {worse} of {len(apart)}"


# SBC

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


# voSVM


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


def updates(tables: Tables) -> Found:
    """Judge Theorem 1 by what happened at step = margin = 1."""
    rows = tables("perceptron_updates")
    rows = rows[(rows.step == 1.0) & (rows.margin == 1.0)]
    checks: list[bool | None] = [bool(row.halted and row.most_updates <= row.bound) for row in rows.itertuples()]
    told = f"{span(rows.ratio)} of the bound in {len(rows)} settings of {rows.orders.iloc[0]} orders each; "
    return Found(checks, f"{told}training errors of {span(rows.training_error)}% when it halts")


# the notes


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


# SDT


def _trees(tables: Tables) -> dict[tuple[str, str, str], Any]:
    rows = tables("tree_errors")
    parts = rows.method.str.split(" ", n=1, expand=True)
    named = rows.assign(kernel=parts[0], way=parts[1])
    return {(row.set, row.kernel, row.way): row for row in named.itertuples()}


def tree_column(tables: Tables, way: str) -> Found:
    """Judge the printed errors (100 less accuracy) of one method with both kernels."""
    return column(tables, "tree_errors", (f"linear {way}", f"rbf {way}"))


def discriminating_order(tables: Tables) -> Found:
    """Judge whether SDT has the lowest mean error."""
    return _lowest(tables, "SDT", ("OVA", "OVO", "DAG", "HierSVM samples"))


def one_vs_one(tables: Tables) -> Found:
    """Judge whether OVO has the lowest mean error of the four older methods."""
    return _lowest(tables, "OVO", ("OVA", "DAG", "HierSVM samples"))


def _lowest(tables: Tables, way: str, rivals: tuple[str, ...]) -> Found:
    found = _trees(tables)
    cases = sorted({(name, kernel) for name, kernel, own in found if own == way})
    checks: list[bool | None] = []
    apart = []
    for case in cases:
        best = min((found[*case, rival] for rival in rivals), key=lambda row: row.error)
        checks.append(lower_mean(found[*case, way], best))
        apart.append(below(interval(found[*case, way]), interval(best)))
    fewer = sum(map(bool, checks))
    return Found(checks, f"lowest in {fewer} of {len(cases)} cases; {_apart(apart)} than the best of the others")


def advantage(tables: Tables) -> Found:
    """Judge the printed differences between SDT and OVO."""
    rows = tables("tree_errors")
    return printed_cells(rows[rows.method.str.endswith("SDT less OVO")], "SDT's error less OVO's")


def gaussian(tables: Tables) -> Found:
    """Judge whether the Gaussian kernel errs less often than the linear one."""
    found = _trees(tables)
    cases = sorted({(name, way) for name, kernel, way in found if kernel == "rbf" and "less" not in way})
    checks = [below(interval(found[name, "rbf", way]), interval(found[name, "linear", way])) for name, way in cases]
    gaps = [found[name, "linear", way].error - found[name, "rbf", way].error for name, way in cases]
    return Found(checks, f"{span(gaps)} points fewer errors, {len(cases)} cases of set and method")


def _descents(tables: Tables, matrix: str) -> list[Any]:
    rows = tables("sdt_convergence")
    parts = [part for _, part in rows[rows.matrix == matrix].groupby("start")]
    return [part for part in parts if part.objective.notna().all()]


def _settled(part: Any) -> tuple[int, int]:
    values = part.objective.to_numpy()
    step = int(np.argmax(np.abs(values - values[-1]) <= NEAR * abs(values[-1])))
    return step, int(part.cutting_planes.iloc[: step + 1].sum())


def convergence(tables: Tables) -> Found:
    """Judge whether the corrected method is within 1% of its last objective after 4 steps."""
    settled = [_settled(part) for part in _descents(tables, "corrected")]
    checks: list[bool | None] = [step <= 4 for step, _ in settled]
    steps, planes = zip(*settled, strict=True)
    told = (
        f"median {number(float(np.median(steps)))} CCCP steps ({min(steps)} to {max(steps)}) of {len(steps)} starts, "
    )
    return Found(
        checks, f"{told}{number(float(np.median(planes)))} cutting-plane rounds ({min(planes)} to {max(planes)})"
    )


def monotone(tables: Tables, matrix: str) -> Found:
    """Judge whether the objective falls in every start."""
    parts = _descents(tables, matrix)
    checks: list[bool | None] = [
        bool((np.diff(part.objective) <= 1e-9 * part.objective.iloc[0]).all()) for part in parts
    ]
    ends = [part.objective.iloc[-1] for part in parts]
    return Found(checks, f"falls in {sum(map(bool, checks))} of {len(parts)} starts, to {span(ends)}")


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
        "7 sets, borrowed",
        "-",
        why="not yet measured on these seven sets",
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
    *(
        Claim(
            "SDT", "table II", f"accuracy of {way}", "12 cells", "tree_errors", functools.partial(tree_column, way=way)
        )
        for way in ("OVA", "OVO", "DAG", "HierSVM samples", "SDT")
    ),
    Claim("SDT", "table II", "accuracy of C&S", "12 cells", "-", why="not yet measured with this protocol"),
    Claim(
        "SDT", "sec. V-B, 3)", "SDT is more accurate than its rivals", "most sets", "tree_errors", discriminating_order
    ),
    Claim(
        "SDT", "sec. V-B, 1)", "OVO errs least of OVA, OVO, DAG and HierSVM (by means)", "-", "tree_errors", one_vs_one
    ),
    Claim("SDT", "sec. V-B, 2)", "the RBF kernel is better than the linear one", "overall", "tree_errors", gaussian),
    Claim("SDT", "fig. 2", "converges after about 3 iterations (4 or fewer)", "3", "sdt_convergence", convergence),
    Claim(
        "SDT",
        "sec. IV-A",
        "CCCP lowers the objective, with M_ij as printed",
        "monotone",
        "sdt_convergence",
        lambda t: monotone(t, "printed"),
    ),
    Claim(
        "SDT",
        "sec. IV-A",
        "CCCP lowers the objective, with M_ij corrected",
        "monotone",
        "sdt_convergence",
        lambda t: monotone(t, "corrected"),
    ),
    Claim(
        "SDT",
        "table III",
        "SDT is best on COREL",
        "73.26, 77.25",
        "-",
        why="cannot be tested here: COREL is not to be had",
    ),
    Claim("SDT", "table IV", "SDT is best on 20 Newsgroups", "63.23, 68.72", "-", why="not yet measured"),
)
