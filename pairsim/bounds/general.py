"""Max-win and poll under any probabilities (similarity and matrix oracles), from both sides."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsim.bounds.binomial import binomial_window, fill_tails
from pairsim.bounds.result import widen
from pairsim.bounds.rivals import SUMS, bound_sums, fill_pmf, score_pmfs, walk_rivals
from pairsim.bounds.tie_rules import tie_nodes, typical_ties
from pairsim.kernels.jit import jit

UNSEEN = 1e-17  # weight, against the total so far, of a cell that is counted as a sure failure instead of bounded
FINE_RIVALS = 256  # with more rivals a fair draw is integrated by fewer points, as each costs seconds
FAINT = 1e-6  # a rival stays behind with at least this probability, or its score is set apart
ROUNDING = 1e-12  # of a rise of h, which is a difference, in units of h


@jit
def pmf_at(pmf: NDArray[np.float64], s: int) -> float:
    """Return P(t = s), 0 outside."""
    return float(pmf[s]) if 0 <= s < pmf.size else 0.0


@jit
def fill_max_win_rivals(
    pmfs: NDArray[np.float64],
    tails: NDArray[np.float64],
    score: int,
    x: float,
    ahead: NDArray[np.float64],
    rises: NDArray[np.float64],
) -> None:
    """Fill f and e of every rival where class 0 has `score`: ahead[beaten, j] and rises[beaten, j]."""
    for beaten in range(2):
        for j in range(pmfs.shape[0]):
            level = score - 1 + beaten  # the t_j that draws level with class 0
            ahead[beaten, j] = (1.0 - x) * (tails[j, max(0, level)] if level < pmfs.shape[1] else 0.0)
            ahead[beaten, j] += x * (tails[j, max(0, level + 1)] if level + 1 < pmfs.shape[1] else 0.0)
            rises[beaten, j] = (1.0 - x) * pmf_at(pmfs[j], level) + x * pmf_at(pmfs[j], level + 1)


@jit
def sum_general_max_win(
    wins: NDArray[np.float64],
    losses: NDArray[np.float64],
    pmfs: NDArray[np.float64],
    tails: NDArray[np.float64],
    weights: NDArray[np.float64],
    likely: NDArray[np.int64],
    x: float,
) -> tuple[float, float]:
    """Return (low, high) of max-win's failure; weights[a] is the probability that class 0 scores a."""
    rivals = wins.size
    sums = np.empty((SUMS, rivals + 1))
    ahead, rises, calms = np.empty((2, rivals)), np.empty((2, rivals)), np.ones((2, rivals))
    low, high = 0.0, 0.0
    for score in likely:
        if weights[score] <= UNSEEN * high:
            high += weights[score]
            continue
        fill_max_win_rivals(pmfs, tails, score, x, ahead, rises)
        walk_rivals(wins, losses, ahead, rises, calms, score, score, sums)
        cell_low, cell_high = bound_sums(sums, score, rivals, 0.0)
        low += cell_low
        high += cell_high
    return low, high


@jit
def sampling_tables(samples: int, rivals: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return pmf[a, v] and tails[a, v] of Bin(samples, a / rivals); the tails have one more column, of zeros."""
    pmf = np.zeros((rivals + 1, samples + 1))
    tails = np.zeros((rivals + 1, samples + 2))
    for score in range(rivals + 1):
        first, window = binomial_window(samples, float(score), float(rivals - score))
        pmf[score, first : first + window.size] = window
        fill_tails(samples, float(score), float(rivals - score), tails[score])
    return pmf, tails


class SampledRivals(NamedTuple):
    """What `walk_rivals` needs where class 0 shows v, [v, beaten, j], and the probability of a score set apart, [v]."""

    ahead: NDArray[np.float64]
    rises: NDArray[np.float64]
    calms: NDArray[np.float64]
    set_apart: NDArray[np.float64]


def sampled_rivals(pmfs: NDArray[np.float64], h: NDArray[np.float64]) -> SampledRivals:
    """Average over the scores; h[s, v]: the probability that a rival of score s is ahead of a class 0 that shows v."""

    def averages(of_score: NDArray[np.float64], least: int = 0) -> NDArray[np.float64]:
        # a rival that class 0 beat scores t_j, one that it did not beat scores t_j + 1; t_j is at least `least`
        return np.stack([(pmfs[:, least:] @ of_score[least + skip :][: pmfs.shape[1] - least]).T for skip in (1, 0)], 1)

    apart = h > 1.0 - FAINT
    ahead = averages(h)
    rises = averages(np.diff(h, axis=0, prepend=0.0), 1) + ROUNDING * ahead
    calms = -np.expm1(averages(np.log1p(-np.where(apart, 0.0, h))))
    return SampledRivals(ahead, rises, calms, averages(apart.astype(np.float64)).max(axis=1).sum(axis=1))


@jit
def sum_general_poll(
    wins: NDArray[np.float64],
    losses: NDArray[np.float64],
    rivals: SampledRivals,
    shown: NDArray[np.float64],
    weights: NDArray[np.float64],
    likely: NDArray[np.int64],
) -> tuple[float, float]:
    """Return (low, high) of poll's failure.

    shown[a, v] is the probability that score a shows as v, weights[v] the probability that class 0 shows v.
    """
    sums = np.empty((SUMS, wins.size + 1))
    low, high = 0.0, 0.0
    for v in likely:
        if weights[v] <= UNSEEN * high:
            high += weights[v]
            continue
        walk_rivals(wins, losses, rivals.ahead[v], rivals.rises[v], rivals.calms[v], 0, wins.size, sums)
        for score in range(wins.size + 1):
            cell_low, cell_high = bound_sums(sums, score, wins.size, rivals.set_apart[v])
            low += shown[score, v] * cell_low
            high += shown[score, v] * cell_high
    return low, high


def class_0_law(wins: NDArray[np.float64], losses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distribution of class 0's score: P(a), a = 0 .. rivals."""
    pmf = np.empty(wins.size + 1)
    fill_pmf(wins, losses, pmf)
    return pmf


def general_max_win_failure(probabilities: NDArray[np.float64], ties: str) -> tuple[float, float]:
    """Return (failure_low, failure_high) of max-win where pair {i, j} answers i with probability probabilities[i, j].

    Examples
    --------
    >>> from pairsim import Similarity
    >>> low, high = general_max_win_failure(Similarity([0.7, 0.2, 0.1]).matrix(), "lose")
    >>> 0.319 < low <= high < 0.321  # class 0 has to win both games: 1 - 7/9 * 7/8 = 0.319...
    True
    """
    wins, losses = probabilities[0, 1:].copy(), probabilities[1:, 0].copy()
    pmfs = score_pmfs(probabilities)
    tails = np.cumsum(pmfs[:, ::-1], axis=1)[:, ::-1].copy()
    weights = class_0_law(wins, losses)
    likely = np.argsort(-weights, kind="stable")
    low = high = 0.0
    for node in tie_nodes(ties, coarse=wins.size > FINE_RIVALS):
        node_low, node_high = sum_general_max_win(wins, losses, pmfs, tails, weights, likely, node.x)
        low += node.low * node_low
        high += node.high * node_high
    return widen(low, high)


def general_poll_failure(probabilities: NDArray[np.float64], l: int, ties: str) -> tuple[float, float]:
    """Return (failure_low, failure_high) of poll with l opponents per class; i beats j with probabilities[i, j].

    Examples
    --------
    >>> from pairsim import Similarity
    >>> low, high = general_poll_failure(Similarity.profile("zipf:2.0", 32).matrix(), 60, "random")
    >>> 0.0 < low <= high < 1.0
    True
    """
    wins, losses = probabilities[0, 1:].copy(), probabilities[1:, 0].copy()
    pmfs = score_pmfs(probabilities)
    shown, tails = sampling_tables(l, wins.size)
    weights = class_0_law(wins, losses) @ shown
    likely = np.argsort(-weights, kind="stable")
    tied = typical_ties(pmfs.mean(axis=0) @ tails[:-1] * wins.size, weights)
    low = high = 0.0
    for node in tie_nodes(ties, tied, coarse=wins.size > FINE_RIVALS):
        rivals = sampled_rivals(pmfs, (1.0 - node.x) * tails[:, :-1] + node.x * tails[:, 1:])
        node_low, node_high = sum_general_poll(wins, losses, rivals, shown, weights, likely)
        low += node.low * node_low
        high += node.high * node_high
    return widen(low, high)
