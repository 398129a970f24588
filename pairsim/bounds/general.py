"""Max-win and poll under any chances (similarity and matrix oracles), from both sides."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairsim.bounds.binomial import binomial_window, fill_tails
from pairsim.bounds.result import widen
from pairsim.bounds.rivals import SUMS, bound_sums, fill_law, score_laws, walk_rivals
from pairsim.bounds.tie_rules import tie_nodes, typical_ties
from pairsim.kernels.jit import jit

UNSEEN = 1e-17  # weight, against the total so far, of a cell that is counted as a sure failure instead of bounded
FINE_RIVALS = 256  # with more rivals a fair draw is integrated by fewer points, as each costs seconds
ROUNDING = 1e-12  # of a rise of h, which is a difference, in units of h


@jit
def law_at(law: NDArray[np.float64], s: int) -> float:
    """Return P(t = s), 0 outside."""
    return float(law[s]) if 0 <= s < law.size else 0.0


@jit
def fill_max_win_rivals(
    laws: NDArray[np.float64],
    tails: NDArray[np.float64],
    score: int,
    x: float,
    ahead: NDArray[np.float64],
    rises: NDArray[np.float64],
) -> None:
    """Fill f and e of every rival where class 0 has `score`: ahead[beaten, j] and rises[beaten, j]."""
    for beaten in range(2):
        for j in range(laws.shape[0]):
            level = score - 1 + beaten  # the t_j that draws level with class 0
            ahead[beaten, j] = (1.0 - x) * (tails[j, max(0, level)] if level < laws.shape[1] else 0.0)
            ahead[beaten, j] += x * (tails[j, max(0, level + 1)] if level + 1 < laws.shape[1] else 0.0)
            rises[beaten, j] = (1.0 - x) * law_at(laws[j], level) + x * law_at(laws[j], level + 1)


@jit
def sum_general_max_win(
    wins: NDArray[np.float64],
    losses: NDArray[np.float64],
    laws: NDArray[np.float64],
    tails: NDArray[np.float64],
    weights: NDArray[np.float64],
    likely: NDArray[np.int64],
    x: float,
) -> tuple[float, float]:
    """Return (low, high) of max-win's failure; weights[a] is the chance that class 0 scores a."""
    rivals = wins.size
    sums = np.empty((SUMS, rivals + 1))
    ahead, rises = np.empty((2, rivals)), np.empty((2, rivals))
    low, high = 0.0, 0.0
    for score in likely:
        if weights[score] <= UNSEEN * high:
            high += weights[score]
            continue
        fill_max_win_rivals(laws, tails, score, x, ahead, rises)
        walk_rivals(wins, losses, ahead, rises, score, score, sums)
        cell_low, cell_high = bound_sums(sums, score, rivals)
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


@jit
def sum_general_poll(
    wins: NDArray[np.float64],
    losses: NDArray[np.float64],
    ahead: NDArray[np.float64],
    rises: NDArray[np.float64],
    shown: NDArray[np.float64],
    weights: NDArray[np.float64],
    likely: NDArray[np.int64],
) -> tuple[float, float]:
    """Return (low, high) of poll's failure; ahead[v] and rises[v] belong to the cells where class 0 shows v.

    shown[a, v] is the chance that score a shows as v, weights[v] the chance that class 0 shows v.
    """
    rivals = wins.size
    sums = np.empty((SUMS, rivals + 1))
    low, high = 0.0, 0.0
    for v in likely:
        if weights[v] <= UNSEEN * high:
            high += weights[v]
            continue
        walk_rivals(wins, losses, ahead[v], rises[v], 0, rivals, sums)
        for score in range(rivals + 1):
            cell_low, cell_high = bound_sums(sums, score, rivals)
            low += shown[score, v] * cell_low
            high += shown[score, v] * cell_high
    return low, high


def class_0_law(wins: NDArray[np.float64], losses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the law of class 0's score: P(a), a = 0 .. rivals."""
    law = np.empty(wins.size + 1)
    fill_law(wins, losses, law)
    return law


def general_max_win_failure(chances: NDArray[np.float64], ties: str) -> tuple[float, float]:
    """Return (failure_low, failure_high) of max-win where pair {i, j} answers i with chance chances[i, j].

    Examples
    --------
    >>> from pairsim import Similarity
    >>> low, high = general_max_win_failure(Similarity([0.7, 0.2, 0.1]).matrix(), "lose")
    >>> 0.319 < low <= high < 0.321  # class 0 has to win both games: 1 - 7/9 * 7/8 = 0.319...
    True
    """
    wins, losses = chances[0, 1:].copy(), chances[1:, 0].copy()
    laws = score_laws(chances)
    tails = np.cumsum(laws[:, ::-1], axis=1)[:, ::-1].copy()
    weights = class_0_law(wins, losses)
    likely = np.argsort(-weights, kind="stable")
    low = high = 0.0
    for node in tie_nodes(ties, coarse=wins.size > FINE_RIVALS):
        node_low, node_high = sum_general_max_win(wins, losses, laws, tails, weights, likely, node.x)
        low += node.low * node_low
        high += node.high * node_high
    return widen(low, high)


def general_poll_failure(chances: NDArray[np.float64], l: int, ties: str) -> tuple[float, float]:
    """Return (failure_low, failure_high) of poll with l opponents a class where {i, j} answers i with chances[i, j].

    Examples
    --------
    >>> from pairsim import Similarity
    >>> low, high = general_poll_failure(Similarity.profile("zipf:2.0", 32).matrix(), 60, "random")
    >>> 0.0 < low <= high < 1.0
    True
    """
    wins, losses = chances[0, 1:].copy(), chances[1:, 0].copy()
    laws = score_laws(chances)
    shown, tails = sampling_tables(l, wins.size)
    weights = class_0_law(wins, losses) @ shown
    likely = np.argsort(-weights, kind="stable")
    # [beaten, v, j]: a rival that class 0 beat scores t_j, one that it did not beat scores t_j + 1
    ahead = np.stack([(laws @ tails[1:]).T, (laws @ tails[:-1]).T])
    steps = np.diff(tails, axis=0)
    rises = np.stack([(laws[:, 1:] @ steps[1:]).T, (laws[:, 1:] @ steps[:-1]).T]) + ROUNDING * ahead
    tied = typical_ties(ahead.mean(axis=0).sum(axis=1), weights)
    low = high = 0.0
    for node in tie_nodes(ties, tied, coarse=wins.size > FINE_RIVALS):
        f, e = ((1.0 - node.x) * rows[:, :-1] + node.x * rows[:, 1:] for rows in (ahead, rises))
        node_low, node_high = sum_general_poll(
            wins, losses, f.transpose(1, 0, 2).copy(), e.transpose(1, 0, 2).copy(), shown, weights, likely
        )
        low += node.low * node_low
        high += node.high * node_high
    return widen(low, high)
