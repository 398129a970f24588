"""Success of max-win and of poll as sums of products: one weight per class, given the scores.

Given the score s0 of class 0, max-win succeeds when each other class stays below it; a fair draw with j tied classes,
1 / (1 + j), is the integral of x^j over [0, 1]: each tied class has weight x. Given all scores, the sampled scores of
a poll are independent binomials: for each sampled score of class 0 the others must stay below, or tie with weight x.
A lane is one such product: one value of everything that the weights depend on, besides the class's own score.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Lanes(NamedTuple):
    """Weights by number of losses of class 0 (start) and by final score of another class (keep + drop = 1)."""

    start: Floats  # [n, lanes]
    keep: Floats  # [n, lanes]
    drop: Floats  # [n, lanes]


class Sampled(NamedTuple):
    """Probabilities that a class with full score t samples less than, exactly or more than s of l; index [t, s]."""

    below: Floats
    at: Floats
    above: Floats


def draw_nodes(ties: str, most: int) -> tuple[Floats, Floats]:
    """Return the weights x of a tied class and their shares, such that up to `most` ties are settled exactly.

    Examples
    --------
    >>> x, share = draw_nodes("random", 3)
    >>> round(float((share * x**3).sum()), 12)  # a draw among four
    0.25
    """
    if ties == "random":
        nodes, weights = np.polynomial.legendre.leggauss(count_nodes(ties, most))
        return (nodes + 1.0) / 2.0, weights / 2.0
    return np.array([1.0 if ties == "first" else 0.0]), np.ones(1)


def count_nodes(ties: str, most: int) -> int:
    """Return how many nodes `draw_nodes` needs: Gauss-Legendre with k nodes is exact up to degree 2k - 1."""
    return most // 2 + 1 if ties == "random" else 1


def most_ties(n: int, losses: int) -> int:
    """Return how many others can tie with a class that has `losses`: they share out the games among themselves."""
    return min(n - 1, 2 * losses)


def max_win_lanes(n: int, losses: int, ties: str) -> Lanes:
    """Return the lanes of max-win for a class 0 that has lost `losses` games."""
    x, share = draw_nodes(ties, most_ties(n, losses))
    cap = n - 1 - losses
    score = np.arange(n)[:, None]
    start = np.zeros((n, x.size))
    start[losses] = share
    return Lanes(start, (score < cap) + x * (score == cap), (score > cap) + (1.0 - x) * (score == cap))


def possible_losses(n: int) -> range:
    """Return the numbers of losses with which a class can still be on top: not more than half of its games."""
    return range((n - 1) // 2 + 1)


def poll_lanes(n: int, l: int, ties: str) -> Lanes:
    """Return the lanes of a poll: one for each sampled score of class 0 and each node of the draw."""
    below, at, above = (table[:, :, None] for table in sample_scores(n, l))
    x, share = draw_nodes(ties, n - 1)
    start = at[::-1] * share  # b losses are a score of n - 1 - b
    keep = below + x * at
    drop = above + (1.0 - x) * at
    return Lanes(*(np.ascontiguousarray(table.reshape(n, -1)) for table in (start, keep, drop)))


def sample_scores(n: int, l: int) -> Sampled:
    """Return the binomial probabilities of a class's sampled score, correctly rounded ratios of integers.

    Examples
    --------
    >>> sample_scores(3, 2).at
    array([[1.  , 0.  , 0.  ],
           [0.25, 0.5 , 0.25],
           [0.  , 0.  , 1.  ]])
    """
    m = n - 1
    total = m**l
    below = np.empty((n, l + 1))
    at = np.empty((n, l + 1))
    above = np.empty((n, l + 1))
    choose = [math.comb(l, s) for s in range(l + 1)]
    for t in range(n):
        lower = 0
        for s in range(l + 1):
            ways = choose[s] * t**s * (m - t) ** (l - s)
            below[t, s], at[t, s], above[t, s] = lower / total, ways / total, (total - lower - ways) / total
            lower += ways
    return Sampled(below, at, above)


def lose_games(n: int, p: float) -> Floats:
    """Return the probabilities that class 0 loses 0 .. n-1 of its games, each won with probability p."""
    m = n - 1
    return np.array([math.comb(m, b) * p ** (m - b) * (1.0 - p) ** b for b in range(n)])
