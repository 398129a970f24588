"""Tables for exact parts of a probability: of polls given the scores, and of max-win given the wrong classes' games."""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsim.kernels.bits import aligned_words
from pairsim.kernels.conditional_poll import PollTables
from pairsim.kernels.conditional_poll_random_ties import VALUES
from pairsim.memory import check_memory

MOST_TABLE = 1 << 24  # numbers of a poll's binomial tables: n scores by l + 1 sampled ones
_BYTES_PER_ENTRY = 240  # of such a table, its copies and its logarithms at the nodes of a quadrature
GUIDE_PARTS = 64
LONGEST_FULL_MATRIX = 64
SHORT_RULES = (3, 5, 7, 9, 11, 13, 15, 19, 23, 31)  # nodes: odd, so that with x = 1 there is an even number of them
USUAL_MARGIN = 1.1  # by which a group of rivals may be larger than usual
USUAL_ERROR = np.log(1e-14)
NEVER = -1e4  # stands for log 0, so that no count can make a nan of it


class Rules(NamedTuple):
    """Gauss-Legendre rules on [0, 1], shortest first; the last integrates the polynomials of n classes exactly."""

    sizes: NDArray[np.int64]
    nodes: NDArray[np.float64]
    weights: NDArray[np.float64]
    log_error: NDArray[np.float64]


@functools.lru_cache(maxsize=64)
def quadrature(n: int) -> Rules:
    """Return the rules for n classes, and log c, where c A**(2m) bounds the error relative to the probability at x = 1.

    The integrand is the product over the others of 1 - (1 - x) * share. With A the sum of the shares, its derivative of
    order 2m is at most A**(2m), so that c = (m!)**4 / ((2m + 1) ((2m)!)**3); from 2m >= n on the rule is exact.
    """
    from scipy.special import gammaln

    sizes = [SHORT_RULES[0]]
    while 2 * sizes[-1] < n:
        sizes.append(next((size for size in SHORT_RULES if size > sizes[-1]), 2 * sizes[-1] + 1))
    nodes, weights = np.ones((len(sizes), sizes[-1] + 1)), np.zeros((len(sizes), sizes[-1] + 1))
    for place, size in enumerate(sizes):
        x, weight = _gauss_legendre(size)
        nodes[place, :size], weights[place, :size] = (x + 1.0) / 2.0, weight / 2.0
    m = np.array(sizes)
    log_error = 4 * gammaln(m + 1) - 3 * gammaln(2 * m + 1) - np.log(2 * m + 1)
    return Rules(m, nodes, weights, np.where(2 * m >= n, -np.inf, log_error))


@functools.lru_cache(maxsize=64)
def _gauss_legendre(size: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return nodes and weights on [-1, 1]; NumPy has them as eigenvalues of a full matrix, which is for short rules."""
    if size <= LONGEST_FULL_MATRIX:
        return np.polynomial.legendre.leggauss(size)
    from scipy.special import roots_legendre

    nodes, weights = roots_legendre(size)
    return nodes, weights


def _usual_rules(rules: Rules, shares: NDArray[np.float64], log_upto: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the rule for each chunk that does for rivals who win half of their games, with some to spare.

    This is about speed only: where a chunk's rule does not do, a longer one is taken.
    """
    n = len(shares)
    likely = class_zero_scores(n, 0.5)[0][:n] * (n - 1)
    reach = USUAL_MARGIN * (0.5 + likely @ shares)
    slack = USUAL_ERROR - likely @ log_upto / USUAL_MARGIN
    errors = np.minimum(rules.log_error[:, None] + 2 * rules.sizes[:, None] * np.log(reach), 0.0)
    enough = (errors <= slack).reshape(len(rules.sizes), -1, VALUES).all(axis=2)
    enough[-1] = True
    chosen: NDArray[np.int64] = enough.argmax(axis=0)
    return chosen


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
    rules = quadrature(n)
    padding = ((0, 0), (0, -(l + 1) % VALUES))
    top_pmf, top_upto, top_share, top_log = (
        np.pad(table[:, ::-1], padding) for table in (pmf, upto, share, np.maximum(log_upto, NEVER))
    )
    chunk_rules = _usual_rules(rules, top_share, top_log)
    top_mixed = []
    for chunk, rule in enumerate(chunk_rules):
        here = np.s_[:, None, chunk * VALUES : (chunk + 1) * VALUES]
        size = rules.sizes[rule] + 1
        x = rules.nodes[rule, :size, None]
        logs = (top_log[here] + np.log1p((x - 1.0) * top_share[here])) / np.log(2.0)
        top_mixed.append(logs.reshape(n, size // 2, 2 * VALUES).transpose(1, 0, 2))
    mixed = aligned_words(sum(part.size for part in top_mixed)).view(np.float64).reshape(-1, n, 2 * VALUES)
    np.concatenate(top_mixed, out=mixed)
    return PollTables(pmf, log_below, log_upto, top_pmf, top_upto, top_share, mixed, chunk_rules, *rules)


@functools.lru_cache(maxsize=64)
def sampled_distribution(n: int, l: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
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


def has_table(n: int, l: int) -> bool:
    """Say whether a poll's tables are of a size that saves time: larger ones take longer than that, and gigabytes."""
    return n * (l + 1) <= MOST_TABLE


def check_table(spec: str, given: int | str, n: int, l: int) -> None:
    """Reject a poll whose tables would take more memory than there is."""
    check_memory("simulate", "l", given, _BYTES_PER_ENTRY * n * (l + 1), f"the table of {spec}")
