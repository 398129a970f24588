"""Ranks of several methods over several data sets, and whether they differ (Friedman; Iman and Davenport; Nemenyi)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsim.checks import check_instance, check_members
from pairsim.errors import parameter_error
from pairsim.evaluation.rows import Row, name_method
from pairsim.oracles.base import as_numbers
from pairsim.plots.style import check_axes
from pairsim.stats import check_confidence

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Ranks(NamedTuple):
    """Average ranks, the best first where ranks are lowest, and the tests on them.

    `friedman` is the chi-squared statistic, `iman_davenport` the F statistic made of it, which is less conservative
    (infinite where all sets rank the methods in the same order), and `p_value` the probability of one as large if all
    methods were alike. The F distribution is an approximation that goes down to 0; the p-value does not go below the
    probability that ranks drawn at random are these or the same with the methods exchanged.

    Two methods whose ranks differ by `critical_difference` or more differ by Nemenyi's test of all pairs;
    `control_difference` is the smaller difference that is enough when only one method, chosen beforehand, is compared
    with the others (Bonferroni and Dunn).
    """

    methods: tuple[str, ...]
    ranks: NDArray[np.float64]
    sets: int
    friedman: float
    iman_davenport: float
    p_value: float
    critical_difference: float
    control_difference: float


def average_ranks(errors: ArrayLike, methods: Sequence[str], confidence: float = 0.95) -> Ranks:
    """Rank methods by their errors on several data sets.

    Parameters
    ----------
    errors : array_like, shape (data sets, methods)
        The smaller the better; equal errors share their ranks.
    methods : sequence of str
        Names of the columns.
    confidence : float
        Confidence level of the critical differences.

    Examples
    --------
    >>> from pairsim.evaluation.ranks import average_ranks
    >>> found = average_ranks([[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]], ["a", "b", "c"])
    >>> found.ranks.tolist(), round(found.friedman, 2), round(found.critical_difference, 2)
    ([1.25, 2.0, 2.75], 4.5, 1.66)
    """
    from scipy.stats import f, norm, rankdata, studentized_range

    table = as_numbers("average_ranks", "errors", errors, 2)
    methods = check_members("average_ranks", "methods", methods, str, "names of the columns of errors")
    sets, count = table.shape
    alpha = 1.0 - check_confidence("average_ranks", confidence)
    if sets < 2 or count < 2 or count != len(methods):
        must_be = "two data sets or more by two named methods or more"
        raise parameter_error("average_ranks", "errors", must_be, f"shape {table.shape} and {len(methods)} names")
    ranks = rankdata(table, axis=1)
    mean = ranks.mean(axis=0)
    # the variance of the ranks themselves, so that ties are accounted for
    spread = float(((ranks - (count + 1) / 2.0) ** 2).sum()) / (sets * (count - 1))
    friedman = sets * float(((mean - (count + 1) / 2.0) ** 2).sum()) / spread if spread > 0.0 else 0.0
    room = sets * (count - 1) - friedman
    statistic = (sets - 1) * friedman / room if room > 1e-12 * friedman else math.inf
    p_value = float(f.sf(statistic, count - 1, (count - 1) * (sets - 1))) if spread > 0.0 else 1.0
    p_value = max(p_value, _least_p_value(ranks))
    unit = math.sqrt(count * (count + 1) / (6.0 * sets))
    all_pairs = float(studentized_range.ppf(1.0 - alpha, count, math.inf)) / math.sqrt(2.0) * unit
    with_control = float(norm.isf(alpha / (2.0 * (count - 1)))) * unit
    return Ranks(tuple(methods), mean, sets, friedman, statistic, p_value, all_pairs, with_control)


def _least_p_value(ranks: NDArray[np.float64]) -> float:
    """Return the share of all ways to shuffle the ranks of each data set that only rename the methods, or less.

    All of those have the same statistic, so that no p-value of the permutation test is smaller. The rows of one set can
    be put in `ways` different orders; the names alone can be exchanged in at least as many ways as the most of these.
    """
    from scipy.special import gammaln

    ways = [
        float(gammaln(len(row) + 1.0) - gammaln(np.unique(row, return_counts=True)[1] + 1.0).sum()) for row in ranks
    ]
    return math.exp(max(ways) - math.fsum(ways))


def ranks_of(rows: Sequence[Row]) -> Ranks | None:
    """Return the ranks of the reductions that all runs among the rows have; None with less than two of sets or methods.

    A data set counts once: its errors are the means over its runs, which differ in seed or folds and not in the data.
    """
    runs: dict[str, dict[tuple[str, int], dict[str, float]]] = {}
    for row in rows:
        errors = runs.setdefault(row.data, {}).setdefault((row.split, row.seed), {})
        errors[name_method(row.reduction, row.estimator, "", row.scaling, row.tuning)] = 1.0 - row.accuracy
    first, *others = (errors for of_set in runs.values() for errors in of_set.values())
    methods = [name for name in first if all(name in each for each in others)]
    if len(runs) < 2 or len(methods) < 2:
        return None
    means = [
        [math.fsum(errors[name] for errors in of_set.values()) / len(of_set) for name in methods]
        for of_set in runs.values()
    ]
    # means of equal errors may differ in their last digits, and would not share their ranks
    return average_ranks(np.round(means, 12), methods)


def alike_groups(found: Ranks) -> list[tuple[int, int]]:
    """Return the longest stretches of methods, in the order of their ranks, that the test does not tell apart."""
    ordered = np.sort(found.ranks)
    groups: list[tuple[int, int]] = []
    for first in range(len(ordered)):
        last = int(np.searchsorted(ordered, ordered[first] + found.critical_difference, side="left")) - 1
        if last > first and (not groups or groups[-1][1] < last):
            groups.append((first, last))
    return groups


def plot_ranks(found: Ranks, *, ax: Axes | None = None) -> Axes:
    """Draw the critical-difference diagram: ranks on a line, and a bar over methods that are not told apart.

    Examples
    --------
    >>> from pairsim.evaluation.ranks import average_ranks, plot_ranks
    >>> found = average_ranks([[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]], ["a", "b", "c"])
    >>> plot_ranks(found).get_xlabel()
    'average rank (4 data sets)'
    """
    from matplotlib.figure import Figure

    check_instance("plot_ranks", "found", found, Ranks, "what average_ranks returned")
    check_axes("plot_ranks", ax)
    count = len(found.methods)
    if ax is None:
        ax = Figure(figsize=(7.0, 1.6 + 0.24 * count), layout="constrained").subplots()
    order = np.argsort(found.ranks, kind="stable")
    ordered, half = found.ranks[order], (count + 1) // 2
    for place, which in enumerate(order):
        left = place < half
        level = -1.0 - 0.5 * (place if left else count - 1 - place) - 0.35 * len(alike_groups(found))
        rank, edge = found.ranks[which], 1.0 if left else float(count)
        ax.plot([rank, rank, edge], [0.0, level, level], color="0.35", linewidth=0.8, clip_on=False)
        label = f"{found.methods[which]} ({rank:.2f})"
        ax.text(edge, level, label + "  " if left else "  " + label, ha="right" if left else "left", va="center")
    for level, (first, last) in enumerate(alike_groups(found)):
        height = -0.4 - 0.35 * level
        ax.plot([ordered[first] - 0.03, ordered[last] + 0.03], [height, height], color="0.1", linewidth=3.0)
    ax.plot([1.0, 1.0 + found.critical_difference], [0.9, 0.9], color="0.1", linewidth=1.5, clip_on=False)
    ax.text(1.0, 1.0, f"critical difference {found.critical_difference:.2f}", va="bottom")
    ax.set_xlim(1.0, count)
    ax.set_ylim(-1.4 - 0.5 * half - 0.35 * len(alike_groups(found)), 1.8)
    ax.spines[["left", "right", "bottom"]].set_visible(False)
    ax.spines["top"].set_position(("data", 0.0))
    ax.xaxis.set_ticks_position("top")
    ax.xaxis.set_label_position("top")
    ax.set_xticks(range(1, count + 1))
    ax.set_yticks([])
    ax.set_xlabel(f"average rank ({found.sets} data sets)")
    return ax
