"""The three tie rules as one integral.

Let A be the number of rivals strictly above class 0 and T the number level with it. A fair draw succeeds with
probability E[1{A = 0} / (1 + T)], which is the integral over x from 0 to 1 of Q(x) = E[1{A = 0} x**T]; Q(0) is the
success when ties lose, and Q(1) when class 0 (the lowest number) wins its ties. For a given x it is as if each level
rival were above with probability 1 - x, independently, so one argument serves all x.

Q is a power series with terms of one sign, so every derivative is at least 0 and quadrature errs to a known side:
Gauss-Legendre falls short of the integral, Gauss-Lobatto exceeds it. Hence a Gauss sum of lower bounds on Q is a
lower bound on the success, and a Lobatto sum of upper bounds an upper one. Both hold on every piece of [0, 1] too, and
where many rivals tie, so that Q rises steeply just below 1, the pieces halve towards 1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsim.errors import parameter_error, shown

_GAUSS = math.sqrt(0.15)  # three Gauss-Legendre points on [0, 1]: 1/2 and 1/2 -+ this
_LOBATTO = math.sqrt(0.05)  # four Gauss-Lobatto points on [0, 1]: 0, 1 and 1/2 -+ this


class TieNode(NamedTuple):
    """One x, and what it weighs in the upper and in the lower bound on the failure."""

    x: float
    high: float
    low: float


_FINE = (
    TieNode(0.0, 0.0, 1 / 12),
    TieNode(0.5 - _GAUSS, 5 / 18, 0.0),
    TieNode(0.5 - _LOBATTO, 0.0, 5 / 12),
    TieNode(0.5, 8 / 18, 0.0),
    TieNode(0.5 + _LOBATTO, 0.0, 5 / 12),
    TieNode(0.5 + _GAUSS, 5 / 18, 0.0),
    TieNode(1.0, 0.0, 1 / 12),
)
_COARSE = (TieNode(0.0, 0.0, 1 / 6), TieNode(0.5, 1.0, 4 / 6), TieNode(1.0, 0.0, 1 / 6))
_CERTAIN = {"lose": TieNode(0.0, 1.0, 1.0), "first": TieNode(1.0, 1.0, 1.0)}


def tie_nodes(ties: str, tied: float = 1.0, *, coarse: bool = False) -> tuple[TieNode, ...]:
    """Return the nodes of a tie rule.

    About `tied` rivals are expected to tie where that matters: more pieces for more of them, for a sharper result.
    `coarse` takes fewer nodes a piece where each is expensive.

    Examples
    --------
    >>> tie_nodes("lose")
    (TieNode(x=0.0, high=1.0, low=1.0),)
    >>> len(tie_nodes("random")), len(tie_nodes("random", 500.0))
    (7, 61)
    """
    if ties in _CERTAIN:
        return (_CERTAIN[ties],)
    pieces = 1 + max(0, math.ceil(math.log2(max(1.0, tied))))
    weights: dict[float, tuple[float, float]] = {}
    start, width = 0.0, 1.0
    for piece in range(1, pieces + 1):
        width = 1.0 - start if piece == pieces else (1.0 - start) / 2.0
        for node in _COARSE if coarse else _FINE:
            high, low = weights.get(start + width * node.x, (0.0, 0.0))  # neighbours share an end
            weights[start + width * node.x] = (high + width * node.high, low + width * node.low)
        start += width
    return tuple(TieNode(x, high, low) for x, (high, low) in weights.items())


def typical_ties(reach: NDArray[np.float64], shown: NDArray[np.float64]) -> float:
    """Return about how many rivals tie with class 0 where it has a probability: a hint for `tie_nodes`.

    reach[v] is the expected number of rivals that show v or more, shown[v] the probability that class 0 shows v.
    """
    level = reach[:-1] - reach[1:]
    hopeful = (reach[1:] < 10.0) & (shown > 1e-6)
    return float(level[hopeful].max(initial=1.0))


def check_ties(owner: str, ties: object) -> str:
    """Return `ties` when it names a tie rule."""
    if not isinstance(ties, str) or ties not in ("random", *_CERTAIN):
        raise parameter_error(owner, "ties", "one of 'random', 'lose', 'first'", shown(ties))
    return ties
