"""Exact parts of a chance: tables for polls given the scores, and max-win given the others' games."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from pairsim.kernels.polls import PollTables

FIRST_RULE = 8  # nodes of the shortest Gauss-Legendre rule; each next one has twice as many


def _rule_reach(nodes: int, n: int) -> float:
    """Return the sum A of shares up to which a rule is good to 1e-14 of the chance without ties.

    The integrand is the product over the others of 1 - (1 - x) * share. Its derivative of order 2m is at most A**(2m),
    so m nodes err by at most A**(2m) (m!)**4 / ((2m + 1) ((2m)!)**3); from 2m >= n on they are exact.
    """
    from scipy.special import gammaln

    if 2 * nodes >= n:
        return np.inf
    log_reach = np.log(1e-14 * (2 * nodes + 1)) + 3 * gammaln(2 * nodes + 1) - 4 * gammaln(nodes + 1)
    return float(np.exp(log_reach / (2 * nodes)))


@functools.lru_cache(maxsize=64)
def poll_tables(n: int, l: int) -> PollTables:
    """Return the binomial tables for n classes and l opponents each."""
    from scipy.special import bdtr, bdtrc, gammaln, xlog1py, xlogy

    q = np.arange(n)[:, None] / (n - 1)
    v = np.arange(l + 1)[None, :]
    choose = gammaln(l + 1) - gammaln(v + 1) - gammaln(l - v + 1)
    pmf = np.exp(choose + xlogy(v, q) + xlog1py(l - v, -q))
    upto, above = bdtr(v, l, q), bdtrc(v, l, q)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_upto = np.where(above < 0.5, np.log1p(-above), np.log(upto))
        log_below = np.concatenate((np.full((n, 1), -np.inf), log_upto[:, :-1]), axis=1)
        share = np.where(upto > 0.0, pmf / upto, 0.0)
    rules = [FIRST_RULE]
    while 2 * rules[-1] < n:
        rules.append(2 * rules[-1])
    reach = np.array([_rule_reach(nodes, n) for nodes in rules])
    rule_nodes, rule_weights = np.zeros((2, len(rules), rules[-1]))
    for place, nodes in enumerate(rules):
        x, weights = np.polynomial.legendre.leggauss(nodes)
        rule_nodes[place, :nodes], rule_weights[place, :nodes] = (x + 1.0) / 2.0, weights / 2.0
    # the rule that is tabled at v is long enough for twice the ties of a tournament of coin flips; where a tournament
    # has more, the kernel takes a longer rule without a table
    coins = np.exp(gammaln(n) - gammaln(np.arange(n) + 1) - gammaln(n - np.arange(n)) - (n - 1) * np.log(2.0))
    usual = 2.0 * (n - 1) * (coins[:, None] * share).sum(axis=0) + 2.0
    chosen = np.minimum(np.searchsorted(reach, usual), len(rules) - 1)
    nodes_at = np.array([rules[place] for place in chosen])
    starts = np.concatenate(([0], np.cumsum(nodes_at * n)[:-1]))
    log_mixed = np.empty(int((nodes_at * n).sum()))
    for at in range(l + 1):
        x = rule_nodes[chosen[at], : nodes_at[at]]
        with np.errstate(divide="ignore"):
            mixed = log_upto[:, at, None] + np.log1p((x - 1.0) * share[:, at, None])
        log_mixed[starts[at] : starts[at] + mixed.size] = mixed.ravel()
    return PollTables(
        pmf, log_below, log_upto, share, nodes_at, starts, log_mixed, rule_nodes, rule_weights, reach
    )


@functools.lru_cache(maxsize=64)
def sampled_cdf(n: int, l: int) -> NDArray[np.float64]:
    """Return the distribution functions of a sampled score, one row for each score."""
    from scipy.special import bdtr

    cdf: NDArray[np.float64] = np.ascontiguousarray(bdtr(np.arange(l + 1)[None, :], l, np.arange(n)[:, None] / (n - 1)))
    return cdf


@functools.lru_cache(maxsize=256)
def class_zero_scores(n: int, p: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return P(score of class 0 = a) and P(< a) for a = 0 .. n, under uniform-p."""
    from scipy.special import bdtr, gammaln, xlog1py, xlogy

    a = np.arange(n)
    pmf = np.exp(gammaln(n) - gammaln(a + 1) - gammaln(n - a) + xlogy(a, p) + xlog1py(n - 1 - a, -p))
    below = np.concatenate(([0.0], bdtr(a, n - 1, p)))
    return np.append(pmf, 0.0), below


def max_win_failures(
    n: int, p: float, heights: NDArray[np.int64], at_top: NDArray[np.float64], above_top: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return max-win's failure probability in each trial, given the others' top score M.

    `at_top` and `above_top` are the chances to fail when class 0 scores M and M + 1; with less it fails, with more not.
    """
    pmf, below = class_zero_scores(n, p)
    failures: NDArray[np.float64] = below[heights] + pmf[heights] * at_top + pmf[heights + 1] * above_top
    return failures
