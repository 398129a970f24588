"""poll under uniform(n, p), from both sides, any tie rule, up to ten million classes.

Class 0 wins a = Bin(n - 1, p) games and then shows v = Bin(l, a / (n - 1)). Given (a, v), a rival of score s is ahead
with the probability that Bin(l, s / (n - 1)) beats v, independently of the others given the scores, and the bounds of
`cells` apply. The failure is the sum over (a, v) of the probability of the cell times what happens in it: the only
inequalities are those inside the cells.

There is one more upper side, sharp where several rivals are ahead on average but each one hardly ever. Given the
scores nobody is ahead with probability exp(sum of log(1 - h)), and by Jensen's inequality its mean is at least exp of
the mean. Scores with 1 - h < `FAINT`, or too unlikely to matter, are left out of the logarithm and counted as failures.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pairsim.bounds.binomial import binomial_window, fill_tails
from pairsim.bounds.cells import UNSEEN, CellRules, bound_cell, cell_rules, fill_choices, fill_moments
from pairsim.bounds.result import widen
from pairsim.bounds.tie_rules import tie_nodes, typical_ties
from pairsim.kernels.jit import jit

FAINT = 1e-6
RARE = 1e-18  # probability of a score that is not worth its logarithms
LOG_LOST, LOG_BEAT, OUT_LOST, OUT_BEAT = range(4)


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
    """Return the moments of the cells v = 0 .. samples, one per row."""
    cells = table.shape[0] - 1
    moments = np.empty((cells, rules.order * (rules.order + 3) // 2))
    ahead = np.empty(rules.order + 1)
    for v in range(cells):
        for k in range(rules.order + 1):
            ahead[k] = (1.0 - x) * table[v, k] + x * table[v + 1, k]
        fill_moments(ahead, rules, moments[v])
    return moments


@jit
def sampled_logarithms(samples: int, rivals: int, x: float) -> NDArray[np.float64]:
    """Return for each cell v the mean of log(1 - h), and the probability of a score left out of it.

    Columns LOG_LOST and OUT_LOST are for a rival that lost to class 0, LOG_BEAT and OUT_BEAT for one that beat it.
    """
    first, pmf = binomial_window(rivals - 1, 1.0, 1.0)
    table = np.zeros((samples + 1, 4))
    tails = np.empty(samples + 2)
    rare = 0.0
    for i in range(pmf.size):
        if pmf[i] < RARE:
            rare += pmf[i]
            continue
        for beat in range(2):
            score = first + i + beat
            fill_tails(samples, float(score), float(rivals - score), tails)
            for v in range(samples + 1):
                h = (1.0 - x) * tails[v] + x * tails[v + 1]
                if h > 1.0 - FAINT:
                    table[v, OUT_LOST + beat] += pmf[i]
                else:
                    table[v, LOG_LOST + beat] += pmf[i] * (math.log1p(-h) if h > 1e-9 else -h * (1.0 + 1e-9))
    table[:, OUT_LOST:] += rare
    return table


@jit
def sum_poll(
    first: int,
    weights: NDArray[np.float64],
    likely: NDArray[np.int64],
    rivals: int,
    moments: NDArray[np.float64],
    logarithms: NDArray[np.float64],
    rules: CellRules,
) -> tuple[float, float]:
    """Return (low, high) of poll's failure; moments[v], logarithms[v] belong to the cells where class 0 shows v."""
    samples = moments.shape[0] - 1
    lost_choices, beat_choices = np.empty(rules.order + 1), np.empty(rules.order + 1)
    sums = np.empty(rules.order)
    low, high = 0.0, 0.0
    for i in likely:
        if weights[i] <= UNSEEN * high:
            high += weights[i]
            continue
        lost, beat = first + i, rivals - first - i
        fill_choices(lost, lost_choices)
        fill_choices(beat, beat_choices)
        shown, probabilities = binomial_window(samples, float(lost), float(beat))
        for j in range(probabilities.size):
            weight = weights[i] * probabilities[j]
            cell, logs = moments[shown + j], logarithms[shown + j]
            most = weight * min(1.0, lost * cell[0] + beat * cell[1])
            if most <= UNSEEN * high:
                high += most
                continue
            cell_low, cell_high = bound_cell(cell, lost_choices, beat_choices, rules, sums)
            left_out = lost * logs[OUT_LOST] + beat * logs[OUT_BEAT]
            jensen = left_out - math.expm1(lost * logs[LOG_LOST] + beat * logs[LOG_BEAT])
            low += weight * cell_low
            high += weight * min(cell_high, jensen)
    return low, high


def poll_failure(n: int, p: float, l: int, ties: str) -> tuple[float, float]:
    """Return (failure_low, failure_high) of poll with l opponents per class under uniform(n, p).

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
    typical, probabilities = binomial_window(l, p, 1.0 - p)
    shown = np.zeros(l + 1)
    shown[typical : typical + probabilities.size] = probabilities
    tied = typical_ties((n - 1) * table[:, rules.order // 2], shown)
    low = high = 0.0
    for node in tie_nodes(ties, tied):
        moments = sampled_moments(table, node.x, rules)
        logarithms = sampled_logarithms(l, n - 1, node.x)
        node_low, node_high = sum_poll(first, weights, likely, n - 1, moments, logarithms, rules)
        low += node.low * node_low
        high += node.high * node_high
    return widen(low, high)
