"""Max-win given the games among the other classes: what is left is which of them beat class 0, a random subset."""

from __future__ import annotations

import math

import numpy as np

from pairsim.kernels.jit import bare_inner, bare_jit, jit
from pairsim.kernels.ties import FIRST, LOSE


@bare_inner
def _all_lost(others, losers, chosen):
    """Return the probability that `chosen` given classes are all among `losers` of `others`, drawn at random."""
    probability = 1.0
    for k in range(chosen):
        probability *= max(losers - k, 0) / (others - k)
    return probability


@bare_inner
def _mean_share(log_factorials, others, winners, chosen, already):
    """Return the mean of 1 / (already + K), K the number of `chosen` classes among `winners` of `others`."""
    low = max(0, chosen - (others - winners))
    high = min(chosen, winners)
    log_probability = (
        log_factorials[winners]
        - log_factorials[low]
        - log_factorials[winners - low]
        + log_factorials[others - winners]
        - log_factorials[chosen - low]
        - log_factorials[others - winners - chosen + low]
        - log_factorials[others]
        + log_factorials[chosen]
        + log_factorials[others - chosen]
    )
    probability = math.exp(log_probability)
    mean = 0.0
    for k in range(low, high + 1):
        mean += probability / (already + k)
        probability *= (winners - k) * (chosen - k) / ((k + 1.0) * (others - winners - chosen + k + 1.0))
    return mean


@jit
def max_win_probabilities(n, ties, heights, at_top, below_top, fail_at, fail_above):
    """Write the probabilities to fail when class 0 scores M and M + 1, M being the others' top score without it.

    heights is M, at_top how many have it, below_top how many have M - 1. With M wins, class 0 needs those at M to have
    all lost to it, and ties with them and with those at M - 1 who beat it; with M + 1 it ties with those at M that
    beat it.
    """
    others = n - 1
    log_factorials = np.empty(n, np.float64)
    for k in range(n):
        log_factorials[k] = math.lgamma(k + 1.0)
    for t in range(heights.size):
        top = heights[t]
        if ties == FIRST:
            fail_at[t] = 1.0 - _all_lost(others, top, at_top[t])
            fail_above[t] = 0.0
        elif ties == LOSE:
            fail_at[t] = 1.0
            fail_above[t] = 1.0 - _all_lost(others, top + 1, at_top[t])
        else:
            beaten = _all_lost(others, top, at_top[t])
            fail_at[t] = 1.0
            if beaten > 0.0:
                fail_at[t] -= beaten * _mean_share(
                    log_factorials, others - at_top[t], others - top, below_top[t], 1.0 + at_top[t]
                )
            fail_above[t] = 1.0 - _mean_share(log_factorials, others, others - top - 1, at_top[t], 1.0)


@bare_jit
def max_win_failures(probabilities, below, heights, fail_at, fail_above, missed):
    """Write max-win's probability to fail, given those of class 0 to score a (`probabilities`) and less (`below`).

    With less than the others' top score M it fails, with M and M + 1 it may, with more it does not.
    """
    for t in range(missed.size):
        top = heights[t]
        missed[t] = below[top] + probabilities[top] * fail_at[t] + probabilities[top + 1] * fail_above[t]
