"""What a user would write instead, written as well as such scripts are: vectorised NumPy, and a plain numba loop."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def numpy_scores(probabilities: Floats, trials: int, rng: np.random.Generator) -> tuple[Ints, list[NDArray[np.bool_]]]:
    """Play `trials` tournaments, vectorised over trials and opponents; return scores and who won each pair."""
    n = len(probabilities)
    scores = np.zeros((trials, n), np.int64)
    games = []
    for i in range(n - 1):
        wins = rng.random((trials, n - 1 - i)) < probabilities[i, i + 1 :]
        scores[:, i] += wins.sum(axis=1)
        scores[:, i + 1 :] += ~wins
        games.append(wins)
    return scores, games


def numpy_winners(scores: Ints, rng: np.random.Generator) -> Ints:
    """Name a class with the highest score, ties by a fair draw."""
    winners: Ints = (scores + rng.random(scores.shape)).argmax(axis=1)
    return winners


def numpy_max_win(probabilities: Floats, trials: int, rng: np.random.Generator) -> float:
    """Estimate max-win's success."""
    scores, _ = numpy_scores(probabilities, trials, rng)
    return float((numpy_winners(scores, rng) == 0).mean())


def numpy_panel(probabilities: Floats, trials: int, rng: np.random.Generator) -> list[float]:
    """Estimate all six curves of the POLL paper at one point: max-win, three polls, adag, ddag."""
    n = len(probabilities)
    scores, games = numpy_scores(probabilities, trials, rng)
    beats = np.zeros((trials, n, n), np.bool_)
    for i, wins in enumerate(games):
        beats[:, i, i + 1 :] = wins
        beats[:, i + 1 :, i] = ~wins
    results = [float((numpy_winners(scores, rng) == 0).mean())]
    rows = np.arange(trials)
    for factor in (1, 3, 5):
        sampled = np.zeros((trials, n), np.int64)
        for _ in range(math.ceil(factor * math.log2(n))):
            opponents = rng.integers(0, n - 1, (trials, n))
            opponents += opponents >= np.arange(n)
            sampled += np.take_along_axis(beats, opponents[:, :, None], axis=2)[:, :, 0]
        results.append(float((numpy_winners(sampled, rng) == 0).mean()))
    order = rng.permuted(np.tile(np.arange(n), (trials, 1)), axis=1)
    alive = order
    while alive.shape[1] > 1:
        half = alive.shape[1] // 2
        first, last = alive[:, :half], alive[:, : -half - 1 : -1]
        won = beats[rows[:, None], first, last]
        alive = np.concatenate((np.where(won, first, last), alive[:, half : alive.shape[1] - half]), axis=1)
    results.append(float((alive[:, 0] == 0).mean()))
    low, high = np.zeros(trials, np.int64), np.full(trials, n - 1)
    for _ in range(n - 1):
        won = beats[rows, order[rows, low], order[rows, high]]
        low += ~won
        high -= won
    results.append(float((order[rows, low] == 0).mean()))
    return results


@numba.njit
def loop_max_win(n: int, p: float, trials: int) -> int:
    """Count max-win's successes with the loop that everybody writes first, free of branches on the answers."""
    successes = 0
    scores = np.zeros(n, np.int64)
    for _ in range(trials):
        scores[:] = 0
        for i in range(n - 1):
            probability = p if i == 0 else 0.5
            for j in range(i + 1, n):
                wins = np.random.random() < probability
                scores[i] += wins
                scores[j] += 1 - wins
        best = scores.max()
        tied = 0
        for c in range(n):
            tied += scores[c] == best
        if scores[0] == best and np.random.random() * tied < 1.0:
            successes += 1
    return successes


@numba.njit
def drawn_polls(beats: NDArray[np.bool_], l: int, trials: int, seed: int) -> int:
    """Count the polls that name class 0 on tournaments that are there already, drawing every opponent."""
    n = beats.shape[1]
    np.random.seed(seed)
    successes = 0
    scores = np.zeros(n, np.int64)
    for t in range(trials):
        table: Any = beats[t % beats.shape[0]]
        for i in range(n):
            score = 0
            for _ in range(l):
                j = np.int64(np.random.random() * (n - 1))
                score += table[i, j + (j >= i)]
            scores[i] = score
        best = scores.max()
        tied = 0
        for c in range(n):
            tied += scores[c] == best
        if scores[0] == best and np.random.random() * tied < 1.0:
            successes += 1
    return successes
