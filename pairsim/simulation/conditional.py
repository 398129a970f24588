"""Exact parts of a chance: tables for polls given the scores, and max-win given the others' games."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from pairsim.kernels.polls import PollTables

GUIDE_PARTS = 64
FIRST_RULE = 8  # nodes of the shortest Gauss-Legendre rule; each next one has twice as many


def _log_error(nodes: int, n: int) -> float:
    """Return log c, where c A**(2m) bounds the error of m nodes relative to the chance of not being beaten.

    The integrand is the product over the others of 1 - (1 - x) * share. With A the sum of the shares, its derivative of
    order 2m is at most A**(2m), so that c = (m!)**4 / ((2m + 1) ((2m)!)**3); from 2m >= n on the rule is exact.
    """
    from scipy.special import gammaln

    if 2 * nodes >= n:
        return -np.inf
    return float(4 * gammaln(nodes + 1) - 3 * gammaln(2 * nodes + 1) - np.log(2 * nodes + 1))


_gauss_legendre = functools.lru_cache(maxsize=64)(np.polynomial.legendre.leggauss)


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
        share = np.where(upto > 0.0, np.minimum(pmf / upto, 1.0), 0.0)
    rules = [FIRST_RULE, 2 * FIRST_RULE]
    while 2 * rules[-1] < n:
        rules.append(2 * rules[-1])
    nodes, weights = np.zeros((2, len(rules), rules[-1]))
    for place, count in enumerate(rules):
        x, weight = _gauss_legendre(count)
        nodes[place, :count], weights[place, :count] = (x + 1.0) / 2.0, weight / 2.0
    mixed_8, mixed_16 = (
        log_upto[:, :, None] + np.log1p((nodes[place, :count] - 1.0) * share[:, :, None])
        for place, count in enumerate(rules[:2])
    )
    log_error = np.array([_log_error(count, n) for count in rules])
    return PollTables(pmf, log_below, log_upto, share, mixed_8, mixed_16, nodes, weights, log_error)


@functools.lru_cache(maxsize=64)
def sampled_law(n: int, l: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the distribution functions of a sampled score, one row for each score, and where to start in them."""
    from scipy.special import bdtr

    cdf = np.ascontiguousarray(bdtr(np.arange(l + 1)[None, :], l, np.arange(n)[:, None] / (n - 1)))
    starts = np.arange(GUIDE_PARTS) / GUIDE_PARTS
    guide = np.array([np.searchsorted(row, starts, side="right") for row in cdf])
    return cdf, np.minimum(guide, l)


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
