"""uniform(n, p) from both sides: max-win and poll, any tie rule, up to ten million classes.

Class 0 wins a = Bin(n - 1, p) games. Given a, max-win's rivals are ahead according to their scores, and the bounds of
`cells` apply. Poll adds a second step: class 0 shows v = Bin(l, a / (n - 1)), and given (a, v) a rival of score s is
ahead with the chance that Bin(l, s / (n - 1)) beats v, independently of the others given the scores: the same kind of
cell. The failure is the sum over a, or over (a, v), of the chance of the cell times what happens in it. So the only
inequalities are those inside a cell; the rest is exact.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairsim.bounds.binomial import binomial_window, fill_tails
from pairsim.bounds.cells import CellRules, bound_cell, cell_rules, fill_choices, fill_moments
from pairsim.bounds.result import widen
from pairsim.bounds.tie_rules import tie_nodes, typical_ties
from pairsim.kernels.jit import jit

UNSEEN = 1e-16  # what a cell can add, against the total so far, for its union bound to be enough


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
    """Return (low, high) of max-win's failure; class 0 scores first + i with chance weights[i], `likely` i first."""
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


@jit
def sampled_ahead(samples: int, rivals: int, order: int) -> NDArray[np.float64]:
    """Return the table [v, k] of E P(Bin(samples, s / rivals) >= v), s = k + Bin(rivals - order, 1/2)."""
    first, pmf = binomial_window(rivals - order, 1.0, 1.0)
    table = np.zeros((samples + 2, order + 1))
    tails = np.empty(samples + 2)
    for score in range(first, first + pmf.size + order):
        fill_tails(samples, float(score), float(rivals - score), tails)
        for k in range(order + 1):
            place = score - k - first
            if 0 <= place < pmf.size:
                for v in range(samples + 2):
                    table[v, k] += pmf[place] * tails[v]
    return table


@jit
def sampled_moments(table: NDArray[np.float64], x: float, rules: CellRules) -> NDArray[np.float64]:
    """Return the moments of the cells v = 0 .. samples, one a row."""
    cells = table.shape[0] - 1
    moments = np.empty((cells, rules.order * (rules.order + 3) // 2))
    ahead = np.empty(rules.order + 1)
    for v in range(cells):
        for k in range(rules.order + 1):
            ahead[k] = (1.0 - x) * table[v, k] + x * table[v + 1, k]
        fill_moments(ahead, rules, moments[v])
    return moments


@jit
def sum_poll(
    first: int,
    weights: NDArray[np.float64],
    likely: NDArray[np.int64],
    rivals: int,
    moments: NDArray[np.float64],
    rules: CellRules,
) -> tuple[float, float]:
    """Return (low, high) of poll's failure; moments[v] belongs to the cells where class 0 shows v."""
    samples = moments.shape[0] - 1
    lost_choices, beat_choices = np.empty(rules.order + 1), np.empty(rules.order + 1)
    sums = np.empty(rules.order)
    low, high = 0.0, 0.0
    for i in likely:
        if weights[i] <= UNSEEN * high:
            high += weights[i]
            continue
        score = first + i
        fill_choices(score, lost_choices)
        fill_choices(rivals - score, beat_choices)
        shown, chances = binomial_window(samples, float(score), float(rivals - score))
        for j in range(chances.size):
            weight = weights[i] * chances[j]
            cell = moments[shown + j]
            most = weight * min(1.0, lost_choices[1] * cell[0] + beat_choices[1] * cell[1])
            if most <= UNSEEN * high:
                high += most
                continue
            cell_low, cell_high = bound_cell(cell, lost_choices, beat_choices, rules, sums)
            low += weight * cell_low
            high += weight * cell_high
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


def poll_failure(n: int, p: float, l: int, ties: str) -> tuple[float, float]:
    """Return (failure_low, failure_high) of poll with l opponents a class under uniform(n, p).

    Examples
    --------
    >>> low, high = poll_failure(512, 0.9, 51, "lose")
    >>> 1.6e-3 < low <= high < 1 / 512
    True
    """
    first, weights = binomial_window(n - 1, p, 1.0 - p)
    likely = np.argsort(-weights, kind="stable")
    rules = cell_rules(n - 1)
    table = sampled_ahead(l, n - 1, rules.order)
    typical, chances = binomial_window(l, p, 1.0 - p)
    shown = np.zeros(l + 1)
    shown[typical : typical + chances.size] = chances
    tied = typical_ties((n - 1) * table[:, rules.order // 2], shown)
    low = high = 0.0
    for node in tie_nodes(ties, tied):
        moments = sampled_moments(table, node.x, rules)
        node_low, node_high = sum_poll(first, weights, likely, n - 1, moments, rules)
        low += node.low * node_low
        high += node.high * node_high
    return widen(low, high)
