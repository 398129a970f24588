"""The floor of the budget under uniform-p: fewer queries cannot do, whatever the decoder.

Theorem. Let a decoder ask at most T queries about n classes, and let it be correct with probability s on average over
the n places that the true class can have (as every decoder is to which class numbers mean nothing). Then, with D =
-ln(4 p (1 - p)) / 2,

    kl(1/n, max(s, 1/n)) <= 2 T D / n,        kl(a, b) = a ln(a / b) + (1 - a) ln((1 - a) / (1 - b)).

Proof. Compare n + 1 worlds: in world k class k is the true one, in world 0 all answers are fair coins. The two differ
in the queries about k only, each of which has divergence D(1/2 || p) = D from world 0 to world k. If N_k is the number
of queries about k, the chain rule gives the divergence of all that the decoder sees in world 0 from what it sees in
world k as E_0[N_k] D. Let q_k be the probability that it predicts k in world 0, and s_k in world k. Looking at the
prediction alone can only lower the divergence: kl(q_k, s_k) <= E_0[N_k] D. A query is about two classes, so that the
N_k add up to at most 2 T. Averaging over k and using that kl is convex in both arguments together, kl(q, s) <= 2 T D /
n with q, the mean of the q_k, at most 1/n (one class is predicted at most) and s the mean of the s_k. Where s > 1/n,
kl(q, s) falls as q grows up to s, so that kl(1/n, s) <= kl(q, s). QED.

It bounds the most queries of a decoder, not their mean: a decoder that stops early may ask fewer on average. The
argument is that of Kaufmann, Cappé and Garivier ("On the complexity of best-arm identification in multi-armed bandit
models", JMLR 2016) with the roles of the worlds exchanged, so that it holds for fixed budgets.
"""

from __future__ import annotations

import math

from scipy.optimize import brentq
from scipy.special import rel_entr

from pairsim.checks import check_instance, check_number, check_whole
from pairsim.errors import parameter_error, shown
from pairsim.oracles import Oracle

SLACK = 1e-12  # relative: what rounding may have added is taken off


def least_queries(oracle: Oracle, success: float) -> int:
    """Return a number of queries that every decoder needs for a success probability, as the most that it may ask.

    Parameters
    ----------
    oracle : Uniform
    success : float
        In [0, 1).

    Examples
    --------
    >>> from pairsim import Uniform
    >>> from pairsim.bounds import least_queries
    >>> least_queries(Uniform(512, 0.9), 0.99)
    2297
    """
    n, divergence = _check_uniform("least_queries", oracle)
    must_be = "a number in [0, 1)"
    success = check_number("least_queries", "success", success, must_be)
    if not 0.0 <= success < 1.0:
        raise parameter_error("least_queries", "success", must_be, shown(success))
    if divergence == 0.0:
        return 0 if success <= 1.0 / n else n * (n - 1) // 2
    needed = n * _kl(1.0 / n, max(success, 1.0 / n)) / (2.0 * divergence)
    return max(0, math.ceil(needed * (1.0 - SLACK) - SLACK))


def most_success(oracle: Oracle, queries: int) -> float:
    """Return a success probability that no decoder exceeds which never asks more than so many queries.

    Parameters
    ----------
    oracle : Uniform
    queries : int

    Examples
    --------
    >>> from pairsim import Uniform
    >>> from pairsim.bounds import most_success
    >>> round(most_success(Uniform(512, 0.9), 2297), 4)
    0.99
    """
    n, divergence = _check_uniform("most_success", oracle)
    queries = check_whole("most_success", "queries", queries, 0, 1 << 62)
    spent = 2.0 * queries * divergence / n
    nearly_one = math.nextafter(1.0, 0.0)
    if _kl(1.0 / n, nearly_one) <= spent:
        return 1.0
    root = brentq(lambda success: _kl(1.0 / n, success) - spent, 1.0 / n, nearly_one, xtol=1e-15, rtol=1e-14)
    return min(1.0, float(root) * (1.0 + 1e-12) + 1e-15)


def _kl(a: float, b: float) -> float:
    return float(rel_entr(a, b) + rel_entr(1.0 - a, 1.0 - b))


def _check_uniform(owner: str, oracle: Oracle) -> tuple[int, float]:
    check_instance(owner, "oracle", oracle, Oracle, "an oracle such as Uniform(16, 0.9)")
    if not oracle.uniform or oracle.p is None:
        raise parameter_error(owner, "oracle", "uniform, for which the floor is proven", oracle.label)
    if oracle.p in (0.0, 1.0):
        return oracle.n, math.inf
    return oracle.n, max(0.0, -0.5 * math.log(4.0 * oracle.p * (1.0 - oracle.p)))
