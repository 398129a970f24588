"""The best sequential test of a fair coin against one that shows heads with probability p.

A test tosses the coin as often as it likes, at most `longest` times, then accepts (phi = 1: "heads has probability p")
or rejects. Let N be the number of tosses, L_t the likelihood ratio after t of them, and E_0 the expectation under the
fair coin. For lambda, mu >= 0 the best test is worth

    V(lambda, mu) = max E_0[phi (L_N - mu) - lambda N],

an optimal stopping problem in one dimension, since under the fair coin the chain L doubles p or 1 - p at each toss.

The relaxation. With D = -E_0 ln(L_1) = -ln(4 p (1 - p)) / 2 and kappa = lambda / D, Wald's identity gives -lambda E_0 N
= kappa E_0 ln L_N, so that from a state L a test is worth at most E_0 h(L_N) - kappa ln L, where h(y) = max(y - mu, 0)
+ kappa ln y. As E_0 L_N = L, that is at most h^(L) - kappa ln L with the concave envelope h^. The envelope leaves h
only between two points y1 < y2, between which it is the common tangent: kappa (1/y1 - 1/y2) = 1 and mu = kappa ln(y2 /
y1). So nothing is gained by a toss outside of (y1, y2), and inside the value is at most

    L - mu + kappa (ln(y2 / L) + L / y2 - 1).

`value_of_testing` goes backward from the last toss on the lattice of (tosses, heads), within (y1, y2) only. Where
`longest` is too far away, it starts at an earlier toss with the relaxation, which keeps it an upper bound.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pairsim.kernels.jit import jit


class Thresholds(NamedTuple):
    """A pair (lambda, mu) by the interval outside of which no toss is worth its cost."""

    low: float
    high: float

    @property
    def kappa(self) -> float:
        """Return lambda / D."""
        return self.low * self.high / (self.high - self.low)

    @property
    def mu(self) -> float:
        """Return mu."""
        return self.kappa * math.log(self.high / self.low)


@jit
def value_of_testing(
    up: float, down: float, low: float, high: float, kappa: float, mu: float, toss: float, last: int, exact: bool
) -> float:
    """Return V, or an upper bound, for a coin whose logarithm of L rises by `up` or falls by `down`.

    `toss` is lambda, `last` the toss to start from, and `exact` says whether it is the last one that there may be.
    """
    if not low < 1.0 < high:
        return max(1.0 - mu, 0.0)
    log_low, log_high = math.log(low), math.log(high)
    width = up + down
    after = np.zeros(last + 2)
    now = np.zeros(last + 2)
    for t in range(last, -1, -1):
        first = max(0, math.floor((log_low + t * down) / width) - 1)
        end = min(t, math.ceil((log_high + t * down) / width) + 1)
        for heads in range(first, end + 1):
            logarithm = heads * width - t * down
            ratio = math.exp(logarithm)
            value = max(ratio - mu, 0.0)
            if log_low < logarithm < log_high:
                if t < last:
                    value = max(value, 0.5 * (after[heads] + after[heads + 1]) - toss)
                elif not exact:
                    value = max(value, ratio - mu + kappa * (log_high - logarithm + ratio / high - 1.0))
            now[heads] = value
        after, now = now, after
    return float(after[0])
