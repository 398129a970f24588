"""Kernels that pass once over the pairs of each row: column k is the k-th pair (i, j), i < j, in lexical order.

Unless it is said otherwise they add to `out`, which starts at 0.
"""

from __future__ import annotations

import numpy as np

from pairsim.coupling.compiled.linear import solve_positive
from pairsim.kernels.jit import jit

HUGE = 1e290  # margins beyond it count as infinite, so that no sum of finite ones can overflow


@jit
def count_votes(margins, n, out):
    """Give each pair's vote to the lower class when its margin is above 0, else to the higher."""
    for row in range(margins.shape[0]):
        k = 0
        for i in range(n - 1):
            won = 0
            for j in range(i + 1, n):
                low = 1 if margins[row, k] > 0.0 else 0
                won += low
                out[row, j] += 1 - low
                k += 1
            out[row, i] += won


@jit
def sum_margins(margins, n, out):
    """Sum the margins for each class; an infinite one weighs more than all finite ones of its row together."""
    for row in range(margins.shape[0]):
        finite = 0.0
        for k in range(margins.shape[1]):
            size = abs(margins[row, k])
            finite += size if size <= HUGE else 0.0
        most = 1.0 + 4.0 * finite
        k = 0
        for i in range(n - 1):
            total = 0.0
            for j in range(i + 1, n):
                margin = min(max(margins[row, k], -most), most)
                total += margin
                out[row, j] -= margin
                k += 1
            out[row, i] += total


@jit
def count_duels(margins, n, tied, out):
    """Count votes as `count_votes` does, over the pairs of which both classes are tied."""
    for row in range(margins.shape[0]):
        k = 0
        for i in range(n - 1):
            if tied[row, i]:
                for j in range(i + 1, n):
                    if tied[row, j]:
                        out[row, i if margins[row, k + j - i - 1] > 0.0 else j] += 1
            k += n - 1 - i


@jit
def sum_probabilities(probabilities, weights, n, clip, out):
    """Sum weights[k] times the probability of each class: its expected number of wins."""
    for row in range(probabilities.shape[0]):
        k = 0
        for i in range(n - 1):
            total = 0.0
            for j in range(i + 1, n):
                low = min(max(probabilities[row, k], clip), 1.0 - clip)
                total += weights[k] * low
                out[row, j] += weights[k] * (1.0 - low)
                k += 1
            out[row, i] += total


@jit
def sum_odds_against(probabilities, n, clip, out):
    """Sum the odds against each class, (1 - r) / r: what pkpd's denominator exceeds 1 by."""
    for row in range(probabilities.shape[0]):
        k = 0
        for i in range(n - 1):
            total = 0.0
            for j in range(i + 1, n):
                low = max(probabilities[row, k], clip)
                high = max(1.0 - probabilities[row, k], clip)
                total += high / low
                out[row, j] += low / high
                k += 1
            out[row, i] += total


@jit
def find_worst(probabilities, n, out):
    """Lower each class's entry of out to its probability against its worst opponent; out starts at 1."""
    for row in range(probabilities.shape[0]):
        k = 0
        for i in range(n - 1):
            worst = out[row, i]
            for j in range(i + 1, n):
                worst = min(worst, probabilities[row, k])
                out[row, j] = min(out[row, j], 1.0 - probabilities[row, k])
                k += 1
            out[row, i] = worst


@jit
def fill_quadratic_form(probabilities, n, out):
    """Set the upper triangle of out to that of Q + ee', Q the matrix of the second approach of Wu, Lin and Weng."""
    for i in range(n):
        out[i, i] = 1.0
    k = 0
    for i in range(n - 1):
        total = 0.0
        for j in range(i + 1, n):
            low = probabilities[k]
            high = 1.0 - low
            out[i, j] = 1.0 - low * high
            total += high * high
            out[j, j] += low * low
            k += 1
        out[i, i] += total


@jit
def solve_quadratic_forms(probabilities, n, out):
    """Set each row of out to the minimum of its quadratic form over vectors that sum to 1."""
    form = np.empty((n, n))
    for row in range(probabilities.shape[0]):
        p = out[row]
        p[:] = 1.0
        fill_quadratic_form(probabilities[row], n, form)
        solve_positive(form, p)
        p[:] = np.maximum(p, 0.0)  # rounding alone can make an entry negative
        p /= p.sum()
