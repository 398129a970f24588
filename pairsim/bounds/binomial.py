"""Binomial distributions without logarithms: each term from its neighbour, outwards from the mode.

A term is off by at most a few roundings a step, so a distribution of a million games is right to about 1e-11 of every
term, where a difference of log-gammas of that size would be right to 1e-8. Terms below 1e-300 of the largest are left
out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairsim.kernels.jit import jit

NEGLIGIBLE = 1e-300
RELATIVE_SLACK = 1e-9  # what `result` says of rounding; it is here because kernels are compiled with its value


@jit
def binomial_window(n: int, wins: float, losses: float) -> tuple[int, NDArray[np.float64]]:
    """Return (first, pmf): P(Bin(n, wins / (wins + losses)) = first + i) is pmf[i]; what is outside is negligible."""
    if wins <= 0.0:
        return 0, np.ones(1)
    if losses <= 0.0:
        return n, np.ones(1)
    odds = wins / losses
    mode = min(n, int((n + 1) * (wins / (wins + losses))))
    value = 1.0
    first = mode
    while first > 0 and value > NEGLIGIBLE:
        value *= first / ((n - first + 1) * odds)
        first -= 1
    value = 1.0
    last = mode
    while last < n and value > NEGLIGIBLE:
        value *= (n - last) * odds / (last + 1)
        last += 1
    pmf = np.ones(last - first + 1)
    for k in range(mode, first, -1):
        pmf[k - 1 - first] = pmf[k - first] * (k / ((n - k + 1) * odds))
    for k in range(mode, last):
        pmf[k + 1 - first] = pmf[k - first] * ((n - k) * odds / (k + 1))
    total = 0.0
    for i in range(pmf.size):
        total += pmf[i]
    for i in range(pmf.size):
        pmf[i] /= total
    return first, pmf


@jit
def fill_tails(n: int, wins: float, losses: float, tails: NDArray[np.float64]) -> None:
    """Write P(Bin(n, wins / (wins + losses)) >= v) to tails[v] for v = 0 .. n, and 0 to the one after."""
    first, pmf = binomial_window(n, wins, losses)
    tails[first + pmf.size :] = 0.0
    above = 0.0
    for i in range(pmf.size - 1, -1, -1):
        above += pmf[i]
        tails[first + i] = above
    tails[: first + 1] = 1.0
