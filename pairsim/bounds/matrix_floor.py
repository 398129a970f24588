"""The floor for any probabilities of the pairs, where nobody knows which class has which row.

The setting. Pair {i, j} of roles 0 .. n-1 is won by i with probability P[i, j]; role 0 is the true class. The roles are
dealt to the n classes at random, all deals alike, and the decoder knows P but not the deal. (A decoder to which class
numbers mean nothing is as often correct on P itself. One that reads class numbers can predict class 0 without a query,
so that there can be no floor for it.)

Theorem. Let a decoder ask at most T different pairs and be correct with probability s. Take n deals s_0 .. s_{n-1} of
which the a-th gives role 0 to place a, and otherwise as you like. For places x < y let

    c(x, y) = -ln(exp(A) + exp(B)),   A = mean over a of ln P[s_a(x), s_a(y)],   B = the same of ln(1 - P[.., ..]).

Then, with kl(a, b) the divergence of Bernoulli(b) from Bernoulli(a),

    kl(1/n, max(s, 1/n)) <= the sum of the T largest c(x, y).                                                        (1)

Averaging over all n! deals in place of n gives the same with c(x, y) = c, minus the mean over all ordered pairs of
ln P[i, j], minus ln 2, for all x, y: kl(1/n, max(s, 1/n)) <= T c.                                                   (2)

Proof. Deal the places to the classes at random; fix that deal. In world a the roles are s_a of the places. In the
reference world 0, x beats y with probability Q[x, y] = exp(A) / (exp(A) + exp(B)), independently. A query about (x, y)
has divergence d_a(x, y) from world 0 to world a, and the mean over a of d_a(x, y) = Q ln Q + (1 - Q) ln(1 - Q) - Q A -
(1 - Q) B = c(x, y), the least that any Q gives. By the chain rule the divergences of all that is seen in world 0 from
the worlds a have as their mean E_0 of the sum of c over the pairs that were asked, at most the sum of the T largest.
What is seen tells the decoder's prediction, so kl(q_a, s_a) is at most the a-th divergence, with q_a and s_a the
probabilities in the worlds 0 and a that the class at place a is predicted. The q_a add up to at most 1. kl is convex in
both arguments together, so kl(q, s) is at most the bound for the means q <= 1/n and s over a and the deals of places,
and it falls as q grows up to s. Under random deals of places each world is a random deal of roles, so s is the
decoder's success. (2): the worlds are all n! deals, grouped by the place of role 0. QED.

Deals. The wrong classes are put in order by their mean probability to win; s_a lets the roles below place a move down
by one, so that every place has nearly the same role in all worlds where the roles change gradually. Both (1) with these
deals and (2) hold, and the better one counts. Where all pairs of wrong classes are fair coins (2) is the floor of
uniform-p with the mean divergence of the first row.

And as a decoder meets at most 2 T classes, and the order in which it meets them says nothing, it predicts one of at
most 2 T + 1 that it has met or chosen without evidence: s <= (2 T + 1) / n. This is what is left where answers are
certain (P[i, j] = 0 or 1), whose divergence is infinite.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pairsim.bounds.floor_base import Floor, divergence, success_at
from pairsim.memory import check_memory

SLACK = 1e-9  # relative: what rounding may have added is taken off


class MatrixFloor(Floor):
    """The floor for a matrix of probabilities, role 0 being the true class.

    Examples
    --------
    >>> from pairsim import Uniform
    >>> round(MatrixFloor(Uniform(512, 0.9).matrix()).least(0.99))
    2296
    """

    def __init__(self, probabilities: NDArray[np.float64]) -> None:
        self.n = len(probabilities)
        costs, mean = _pair_costs(probabilities)
        self._spent = np.concatenate(([0.0], np.minimum(np.cumsum(costs), mean * np.arange(1, self.pairs + 1))))
        self._top = self._within(self.pairs)

    def least(self, success: float) -> float:
        """Return the queries that this success needs."""
        if success <= 1.0 / self.n:
            return 0.0
        if success > self._top:
            return math.inf
        needed = divergence(1.0 / self.n, success) * (1.0 - SLACK)
        after = int(np.searchsorted(self._spent, needed))  # the first number of queries that may do
        before, here = (float(each) for each in self._spent[max(0, after - 1) : after + 1])
        partly = (needed - before) / (here - before) if math.isfinite(here) else 0.0
        by_divergence = after - 1 + partly
        by_meeting = 0.5 * (self.n * success - 1.0)
        return max(0.0, max(by_divergence, by_meeting) * (1.0 - SLACK) - SLACK)

    def most(self, queries: int) -> float:
        """Return the most success with so many queries."""
        return self._within(min(queries, self.pairs))

    def _within(self, queries: int) -> float:
        by_divergence = success_at(1.0 / self.n, float(self._spent[queries]) * (1.0 + SLACK))
        return min(by_divergence, (2.0 * queries + 1.0) / self.n, 1.0)


def check_size(owner: str, n: int) -> None:
    """Reject matrices whose pairs do not fit in memory, before they are made."""
    check_memory(owner, "oracle", f"{n} classes", 40 * n * n, "a cost for each pair")


def _pair_costs(probabilities: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Return c(x, y) of (1), the largest first, and c of (2)."""
    n = len(probabilities)
    order = np.concatenate(([0], 1 + np.argsort(-probabilities[1:, 1:].sum(axis=1), kind="stable")))
    with np.errstate(divide="ignore"):  # certain answers cost infinitely much
        logs = np.log(probabilities[np.ix_(order, order)])
    off = ~np.eye(n, dtype=bool)
    mean = max(0.0, -math.log(2.0) - float(logs[off].mean()))
    rows = [_row_costs(logs, x) for x in range(n - 1)]
    return -np.sort(-np.concatenate(rows)), mean


def _row_costs(logs: NDArray[np.float64], x: int) -> NDArray[np.float64]:
    """Return c(x, y) for the places y above x, from the logarithms of the roles' probabilities."""
    n = len(logs)
    y = np.arange(x + 1, n)
    sides = []
    for table in (logs, logs.T):  # ln P[i, j], and ln(1 - P[i, j]) = ln P[j, i]
        ways: list[tuple[NDArray[np.int64] | int, NDArray[np.float64]]] = [
            (x, table[x, y]),
            (1, table[0, y]),
            (y - x - 1, table[x + 1, y]),
            (1, np.full(y.size, table[x + 1, 0])),
        ]
        above = np.zeros(y.size)
        above[:-1] = table[x + 1, y[:-1] + 1]
        ways.append((n - 1 - y, above))
        sides.append(np.sum([_times(count, each) for count, each in ways], axis=0) / n)
    return np.asarray(np.maximum(0.0, -np.logaddexp(sides[0], sides[1])))


def _times(count: NDArray[np.int64] | int, logarithms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the product, 0 where the count is 0 though the logarithm is -inf."""
    none = np.equal(count, 0)
    return np.asarray(np.where(none, 0.0, np.where(none, 1, count) * logarithms))
