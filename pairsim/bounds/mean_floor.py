"""The floor of the mean: how many queries every decoder asks on average, whatever it does.

Theorem. Let M(t) bound the success of every decoder that never asks more than t queries (`uniform_floor`,
`matrix_floor`), with M(0) = 1/n, concave, and t(x) its inverse. A decoder that is correct with probability s over the
same worlds and asks T queries, as many as it likes, has

    E[T] >= sum over t = 0, 1, 2 ... of max(0, s - M(t)) / (1 - 1/n)                                                 (1)
         >= (integral from 1/n to s of t(x) dx + (s - 1/n) / 2) / (1 - 1/n).                                         (2)

E is over the true model: its answers, the class that is the true one, the decoder's own draws.

Proof. Stop the decoder after t queries and let it predict a class at random where it had not ended. This is a decoder
that never asks more than t queries; it is correct with probability

    M(t) >= P(T <= t, correct) + P(T > t) / n = s - P(T > t, correct) + P(T > t) / n >= s - (1 - 1/n) P(T > t).

So P(T > t) >= (s - M(t)) / (1 - 1/n), and E[T] is the sum of P(T > t) over t >= 0: (1). The terms are a convex function
g of t, and the sum of g(0) / 2 + g(1) + g(2) + ... is the trapezoidal rule, at least its integral, the area between M
and s, which is that of t(x) over x. g(0) / 2 = (s - 1/n) / 2 is left: (2). As t(x) is convex, the midpoint rule with
any panels gives at most the integral; so it does with anything below t(x) in the place of t(x). QED.

It is not the floor of the budget at any success: with s = 0.99, n = 512 and p = 0.9 a decoder must be allowed 2,341
queries, while fewer than 535 on average are excluded, and 605 are enough for `Posterior` (measured: its success was
0.992). Most trials end long before the longest.
"""

from __future__ import annotations

import functools
import itertools
import math

from pairsim.bounds.floor import check_success, floor_of, least
from pairsim.bounds.floor_base import Floor
from pairsim.oracles import Oracle

PANEL = 0.87  # 1 - x falls by this factor in each panel of the midpoint rule, at any success, so that panels are kept
SLACK = 1e-12  # relative: what rounding may have added is taken off


def least_mean_queries(oracle: Oracle, success: float) -> float:
    """Return the floor of the mean: no decoder with this success asks fewer queries on average.

    Proven in `pairsim.bounds.mean_floor`. Compare it with mean numbers of queries only: for the most queries of a
    decoder there is `least_queries`, which is larger.

    Parameters
    ----------
    oracle : Uniform, Similarity, Matrix
        As for `least_queries`.
    success : float
        In [0, 1).

    Returns
    -------
    float, inf where all n (n - 1) / 2 pairs are proven not to be enough

    Examples
    --------
    >>> from pairsim import Uniform
    >>> from pairsim.bounds import least_mean_queries, least_queries
    >>> oracle = Uniform(512, 0.9)
    >>> f"{least_mean_queries(oracle, 0.99):.1f} on average, a budget of {least_queries(oracle, 0.99)}"
    '535.0 on average, a budget of 2341'
    """
    floor = floor_of("least_mean_queries", oracle)
    return _least_mean(floor, check_success("least_mean_queries", success))


@functools.lru_cache(maxsize=1024)
def _least_mean(floor: Floor, success: float) -> float:
    guess = 1.0 / floor.n
    if success <= guess:
        return 0.0
    if least(floor, success) == math.inf:
        return math.inf
    edges = [guess]
    while edges[-1] < success:
        edges.append(min(success, 1.0 - PANEL * (1.0 - edges[-1])))
    area = math.fsum(
        (above - below) * least(floor, 0.5 * (below + above)) for below, above in itertools.pairwise(edges)
    )
    return (area + 0.5 * (success - guess)) / (1.0 - guess) * (1.0 - SLACK)
