"""The floor under uniform-p: how often any decoder can be correct with at most T queries.

Theorem. Let a decoder ask at most T different pairs of n classes, and let it be correct with probability s on average
over the n classes that may be the true one (as every decoder is to which class numbers mean nothing). For all lambda,
mu >= 0, with V from `fair_coin` for at most n - 1 tosses,

    s <= V(lambda, mu) + 2 lambda T / n + mu / n,                                                                    (1)

and, with D = -ln(4 p (1 - p)) / 2 and kl(a, b) = a ln(a / b) + (1 - a) ln((1 - a) / (1 - b)),

    kl(1/n, max(s, 1/n)) <= 2 T D / n.                                                                               (2)

Proof. Compare n + 1 worlds: in world k class k is the true one, in world 0 all answers are fair coins. The two differ
in the queries about k only. There are N_k of them, at most n - 1. Seen from k ("k wins") their answers are fair coins
in world 0, independent of all that came before, and show heads with probability p in world k. The rest of what happens
(other queries, the decoder's own draws) is distributed alike in both worlds, given these. So, seen from k, the decoder
is a sequential test: it tosses N_k times and accepts if it predicts k. What it sees has density L_k, the likelihood
ratio of these tosses, in world k with respect to world 0. With q_k and s_k the probabilities that it predicts k in the
worlds 0 and k, s_k = E_0[phi_k L_k], and by the definition of V, for which draws from outside gain nothing,

    s_k - lambda E_0 N_k - mu q_k = E_0[phi_k (L_k - mu) - lambda N_k] <= V(lambda, mu).

A query is about two classes, so that the N_k add up to at most 2 T. One class is predicted at most, so that the q_k add
up to at most 1. The mean over k is (1). For (2), the divergence of what is seen in world 0 from world k is E_0[N_k] D
(chain rule), and it cannot grow by looking at phi_k alone: kl(q_k, s_k) <= E_0[N_k] D. As kl is convex in both
arguments together, the means satisfy kl(q, s) <= 2 T D / n with q <= 1/n, and where s > 1/n kl(q, s) falls as q grows
up to s. (It is (1) with the relaxation of V in the place of V: what is won by (1) is that L moves in steps, which
matters most where p is large and s is small.) QED.

Two limits: p = 1 gives s <= (1 + T) / n, which is what a knock-out of T + 1 classes reaches (V = 0 at lambda = 1/2, mu
= 1). And no T helps where s is above what n - 1 tosses, the most for each class, allow by the Neyman-Pearson lemma:
`_most_with_all_pairs`.

It bounds the most queries of a decoder; for their mean see `mean_floor`. (2) is the argument of Kaufmann, Cappé and
Garivier ("On the complexity of best-arm identification in multi-armed bandit models", JMLR 2016) with the roles of the
worlds exchanged, so that it holds for fixed budgets.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize
from scipy.special import gammaln

from pairsim.bounds.fair_coin import Thresholds, value_of_testing
from pairsim.bounds.floor_base import Floor, divergence, success_at

SLACK = 1e-9  # relative: what rounding may have added is taken off
STATES = 20_000  # of the lattice that are looked at for one V
LIKELY = 0.6  # below, the best decoders leave some classes out, and lambda and mu are nearly those of this success
SURE = 1e-9  # failures below this are left to (2), where V has too few digits


class UniformFloor(Floor):
    """The floor under uniform(n, p).

    Examples
    --------
    >>> round(UniformFloor(512, 0.9).least(0.6), 1), round(512 * divergence(1 / 512, 0.6) / 1.0217, 1)
    (541.2, 451.7)
    """

    def __init__(self, n: int, p: float) -> None:
        self.n, self.p = n, max(p, 1.0 - p)  # a decoder can turn all answers around
        self._bias = -0.5 * math.log1p(-((2.0 * self.p - 1.0) ** 2)) if self.p < 1.0 else math.inf  # D
        self._guess = 1.0 / n
        self._top = _most_with_all_pairs(n, self.p)

    def least(self, success: float) -> float:
        """Return the queries that this success needs."""
        if success <= self._guess:
            return 0.0
        if success > self._top or self._bias == 0.0:
            return math.inf
        if self.p == 1.0:
            needed = self.n * success - 1.0
        else:
            needed = max(self._least_by_divergence(success), 0.5 * self.n * self._least_tosses(success))
        needed = max(0.0, needed * (1.0 - SLACK) - SLACK)
        return needed if needed <= self.pairs else math.inf

    def most(self, queries: int) -> float:
        """Return the most success with so many queries."""
        if queries == 0:
            return self._guess
        if queries >= self.pairs or self._bias == 0.0:
            return self._top
        if self.p == 1.0:
            return min(1.0, (1.0 + queries) / self.n)
        tosses = 2.0 * queries / self.n
        by_divergence = success_at(self._guess, tosses * self._bias)
        found = by_divergence
        if 1.0 - by_divergence > SURE:
            search = self._search(by_divergence, lambda value, toss, mu: value + toss * tosses + mu * self._guess)
            found = min(found, search)
        return min(self._top, max(self._guess, found + SLACK * (1.0 - self._guess)))

    def _least_by_divergence(self, success: float) -> float:
        return 0.5 * self.n * divergence(self._guess, success) / self._bias

    def _least_tosses(self, success: float) -> float:
        """Return 2 T / n from (1), with lambda and mu sought where (2) has its own."""
        if 1.0 - success <= SURE:
            return 0.0
        return -self._search(success, lambda value, toss, mu: (value + mu * self._guess - success) / toss)

    def _search(self, success: float, bound: Callable[[float, float, float], float]) -> float:
        """Return the smallest bound(V, lambda, mu) that is found: each holds, so the search needs no proof."""
        starts = {max(success, LIKELY), max(success, 1.2 * self._guess)}
        return min(self._search_from(start, bound) for start in starts)

    def _search_from(self, success: float, bound: Callable[[float, float, float], float]) -> float:
        low, high = (1.0 - success) / (1.0 - self._guess), success / self._guess
        up, down = math.log(2.0 * self.p), -math.log(2.0 * (1.0 - self.p))
        last, exact = _last_toss(self.n - 1, math.log(high / low), up + down, self._bias)

        def of(place: np.ndarray) -> float:
            low, ratio = math.exp(place[0]), math.exp(math.exp(min(place[1], 5.0)))
            if not (1e-14 < low < 1e3 and 1.0 + 1e-9 < ratio < 1e14 / low):
                return math.inf
            at = Thresholds(low, low * ratio)
            toss = at.kappa * self._bias
            value = value_of_testing(up, down, at.low, at.high, at.kappa, at.mu, toss, last, exact)
            rounding = 1e-15 * (last + 10)
            return bound(value + rounding, toss, at.mu)

        start = np.array([math.log(low), math.log(math.log(high / low))])
        simplex = start + np.array([[0.0, 0.0], [0.5, 0.0], [0.0, 0.3]])
        options = {"xatol": 1e-5, "fatol": 1e-9, "initial_simplex": simplex, "maxfev": 400}
        return float(minimize(of, start, method="Nelder-Mead", options=options).fun)


def _last_toss(longest: int, span: float, width: float, bias: float) -> tuple[int, bool]:
    """Return the toss that V starts from, and whether it is the last one that there may be."""
    tossed = 6.0 * span / bias + 20.0  # few sequences are undecided then
    affordable = max(30.0, STATES / (span / width + 2.0))
    last = int(min(longest, tossed, affordable))
    return last, last == longest


@functools.lru_cache(maxsize=256)
def _most_with_all_pairs(n: int, p: float) -> float:
    """Return the most power of a test of n - 1 tosses that accepts a fair coin with probability 1/n."""
    if p == 1.0 or n > 10_000:
        return 1.0  # always a bound
    heads = np.arange(n - 1, -1, -1, dtype=np.float64)
    fair = gammaln(n) - gammaln(heads + 1.0) - gammaln(n - heads)
    tosses = n - 1.0
    null = np.exp(fair - tosses * math.log(2.0))
    power = np.exp(fair + heads * math.log(p) + (tosses - heads) * math.log1p(-p))
    spent = np.cumsum(null)
    whole = int(np.searchsorted(spent, 1.0 / n, side="right"))
    left = 1.0 / n - (float(spent[whole - 1]) if whole else 0.0)
    found = math.fsum(power[:whole]) + (float(power[whole] / null[whole]) * left if whole < n else 0.0)
    return min(1.0, found * (1.0 + 1e-10))
