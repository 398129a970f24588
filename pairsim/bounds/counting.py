"""From the first few binomial moments of a count N to both sides of P(N >= 1).

With S_i = E C(N, i), a polynomial q of degree r with q(0) = 1 gives E(1 - q(N)) = c_1 S_1 + ... + c_r S_r, and

    q(k) <= 0 for k = 1, 2, ...   proves   P(N >= 1) <= E(1 - q(N)),
    q(k) >= 0 for k = 1, 2, ...   proves   P(N >= 1) >= E(1 - q(N)).

A product of factors (z - k)(z + 1 - k) is never negative at whole k, so products of such pairs serve the second line,
and such a product times (1 - k) serves the first; a factor (1 - k/m) may join either where N <= m. Roots packed at
1, 2, 3, ... are the Bonferroni inequalities; roots spread over where N is likely to be are far sharper once E N is
more than about 1 (Prekopa, "Boole-Bonferroni inequalities and linear programming", Operations Research 36, 1988).
Every such polynomial gives a true bound, so the best of a few is taken: those that are best for some binomial N.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MEANS = 2.0 ** np.linspace(-6.0, 4.0, 81)  # below, Bonferroni is best; above, hardly anything beats "at most 1"
LARGEST_ROOT = 22


class CountingPolynomials(NamedTuple):
    """Coefficients c_1 .. c_order of the polynomials to try, one per row."""

    high: NDArray[np.float64]  # E(1 - q) >= P(N >= 1)
    low: NDArray[np.float64]  # E(1 - q) <= P(N >= 1)


@functools.cache
def _root_sets(pairs: int, least: int) -> NDArray[np.int64]:
    """Return every choice of this many root pairs (z, z + 1) that do not overlap, z from `least` up, one per row."""
    sets = [
        roots
        for roots in itertools.combinations(range(least, LARGEST_ROOT), pairs)
        if all(right - left >= 2 for left, right in itertools.pairwise(roots))
    ]
    return np.array(sets, dtype=np.int64).reshape(len(sets), pairs)


def _coefficients(roots: NDArray[np.float64], order: int) -> NDArray[np.float64]:
    """Return c_1 .. c_order of 1 - q for the q with q(0) = 1 and these roots, one set a row.

    In the basis C(k, i), k C(k, i) = i C(k, i) + (i + 1) C(k, i + 1) multiplies by one factor 1 - k/root after the
    other. From the smallest root up, both terms of each new coefficient have one sign: no digit is lost.
    """
    i = np.arange(order + 1, dtype=np.float64)
    found = np.zeros((len(roots), order + 1))
    found[:, 0] = 1.0
    for root in np.sort(roots, axis=1).T[:, :, None]:
        carried = np.roll(found, 1, axis=1) * i / root
        found = found * (1.0 - i / root) - carried
    return -found[:, 1:]


def family(m: int, order: int, side: str) -> NDArray[np.float64]:
    """Return the coefficients of every polynomial considered for a count of at most m, one per row.

    Examples
    --------
    >>> [1.0, 0.0, 0.0] in family(10, 3, "high").tolist()  # the union bound is among them
    True
    """
    found = []
    for pairs in range(order // 2 + 1):
        lower = _root_sets(pairs, 2 if side == "high" else 1)
        for ends in ([], [float(m)]):
            single = [1.0, *ends] if side == "high" else ends
            if 1 <= 2 * pairs + len(single) <= order:
                roots = np.hstack((lower, lower + 1.0, np.tile(single, (len(lower), 1))))
                found.append(_coefficients(roots, order))
    return np.concatenate(found)


@functools.lru_cache(maxsize=256)
def counting_polynomials(m: int, order: int) -> CountingPolynomials:
    """Return the polynomials to try for a count of at most m whose first `order` moments are known: about twenty.

    Examples
    --------
    >>> [1.0, -1.0, 1.0] in counting_polynomials(100, 3).high.tolist()  # Bonferroni, best for a small mean
    True
    """
    probability = np.minimum(1.0, MEANS / m)
    moments = np.array([math.comb(m, i) * probability**i for i in range(1, order + 1)])
    high, low = family(m, order, "high"), family(m, order, "low")
    best_high, best_low = np.unique((high @ moments).argmin(axis=0)), np.unique((low @ moments).argmax(axis=0))
    return CountingPolynomials(high[best_high], low[best_low])
