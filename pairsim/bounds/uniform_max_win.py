"""max-win under uniform(n, p), from both sides, any tie rule, up to ten million classes.

Class 0 wins a = Bin(n - 1, p) games. Given a, the rivals are ahead according to their scores, and the bounds of
`cells` apply. The failure is the sum over a of the probability of a times what happens in that cell: the only
inequalities are those inside the cells.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairsim.bounds.binomial import binomial_window
from pairsim.bounds.cells import UNSEEN, CellRules, bound_cell, cell_rules, fill_choices, fill_moments
from pairsim.bounds.result import widen
from pairsim.bounds.tie_rules import tie_nodes
from pairsim.kernels.jit import jit


@jit
def tail_at(first: int, tails: NDArray[np.float64], score: int) -> float:
    """Return P(X >= score) from the tails of a window that starts at `first`."""
    if score <= first:
        return 1.0
    if score - first >= tails.size:
        return 0.0
    return float(tails[score - first])


@jit
def sum_max_win(
    first: int, weights: NDArray[np.float64], likely: NDArray[np.int64], rivals: int, x: float, rules: CellRules
) -> tuple[float, float]:
    """Return (low, high) of max-win's failure; P(class 0 scores first + i) = weights[i], `likely` i first."""
    tail_first, pmf = binomial_window(rivals - rules.order, 1.0, 1.0)
    tails = np.cumsum(pmf[::-1])[::-1]
    lost_choices, beat_choices = np.empty(rules.order + 1), np.empty(rules.order + 1)
    sums, ahead = np.empty(rules.order), np.empty(rules.order + 1)
    moments = np.empty(rules.order * (rules.order + 3) // 2)
    low, high = 0.0, 0.0
    for i in likely:
        if weights[i] <= UNSEEN * high:
            high += weights[i]
            continue
        score = first + i
        for k in range(rules.order + 1):
            level = tail_at(tail_first, tails, score - k)
            above = tail_at(tail_first, tails, score - k + 1)
            ahead[k] = (1.0 - x) * level + x * above
        fill_moments(ahead, rules, moments)
        fill_choices(score, lost_choices)
        fill_choices(rivals - score, beat_choices)
        cell_low, cell_high = bound_cell(moments, lost_choices, beat_choices, rules, sums)
        low += weights[i] * cell_low
        high += weights[i] * cell_high
    return low, high


def max_win_failure(n: int, p: float, ties: str) -> tuple[float, float]:
    """Return (failure_low, failure_high) of max-win under uniform(n, p).

    Examples
    --------
    >>> low, high = max_win_failure(16, 0.7, "random")
    >>> f"{low:.3f} {high:.3f}"
    '0.540 0.540'
    """
    if p >= 1.0:  # class 0 wins n - 1 games, and nobody else can
        return 0.0, 0.0
    first, weights = binomial_window(n - 1, p, 1.0 - p)
    likely = np.argsort(-weights, kind="stable")
    rules = cell_rules(n - 1)
    low = high = 0.0
    for node in tie_nodes(ties):
        node_low, node_high = sum_max_win(first, weights, likely, n - 1, node.x, rules)
        low += node.low * node_low
        high += node.high * node_high
    return widen(low, high)
