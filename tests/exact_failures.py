"""Exact failure probabilities of max-win and poll on small problems, to hold the bounds against.

Uniform-p: the wrong classes are alike, so only how many of their tournaments have which scores matters, and which of
them beat class 0 is a uniform draw. Other probabilities: every score vector, game by game. The arithmetic is that of
the numbers put in: fractions stay fractions.
"""

from __future__ import annotations

import functools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

Number = float | Fraction | int


class TaskProgress(NamedTuple):
    """What class 0 has to show, how likely that is, and how likely a rival of score s stays below or is level."""

    probability: Number
    below: Callable[[int], Number]
    level: Callable[[int], Number]


def binomial(trials: int, wins: int, p: Number) -> Number:
    return math.comb(trials, wins) * p**wins * (1 - p) ** (trials - wins)


def share(tied: int, ties: str) -> Fraction:
    """Return class 0's probability where nobody is above it and `tied` rivals are level."""
    return {"lose": Fraction(tied == 0), "first": Fraction(1), "random": Fraction(1, 1 + tied)}[ties]


def max_win_cells(score: int) -> Iterator[TaskProgress]:
    yield TaskProgress(1, lambda s: int(s < score), lambda s: int(s == score))


def poll_cells(score: int, games: int, samples: int, one: Number) -> Iterator[TaskProgress]:
    """Yield a cell for each sampled score; `one` is 1 or 1.0 and sets the arithmetic."""

    law = [[binomial(samples, v, one * s / games) for v in range(samples + 1)] for s in range(games + 1)]
    for v in range(samples + 1):
        below, level = [sum(row[:v]) for row in law], [row[v] for row in law]
        yield TaskProgress(level[score], below.__getitem__, level.__getitem__)


@functools.cache
def tournament_scores(size: int) -> Counter[tuple[int, ...]]:
    """Return how many tournaments on `size` classes have which scores, highest first."""
    if size == 1:
        return Counter({(0,): 1})
    found: Counter[tuple[int, ...]] = Counter()
    for scores, count in tournament_scores(size - 1).items():
        outcomes: dict[tuple[tuple[int, ...], int], int] = {((), 0): 1}  # old scores and wins of the new class
        for score, held in Counter(scores).items():
            after: defaultdict[tuple[tuple[int, ...], int], int] = defaultdict(int)
            for (older, wins), ways in outcomes.items():
                for beaten in range(held + 1):
                    grown = older + (score + 1,) * (held - beaten) + (score,) * beaten
                    after[grown, wins + beaten] += ways * math.comb(held, beaten)
            outcomes = after
        for (older, wins), ways in outcomes.items():
            found[tuple(sorted((*older, wins), reverse=True))] += count * ways
    return found


def nobody_above(scores: Sequence[int], beat: int, cell: TaskProgress) -> list[Number]:
    """Return P(nobody above class 0 and T level), T = 0 .. rivals, where a random `beat` of the rivals beat class 0."""
    rivals = len(scores)
    ways: dict[tuple[int, int], Number] = {(0, 0): 1}  # (how many beat class 0, how many are level)
    for score in scores:
        after: defaultdict[tuple[int, int], Number] = defaultdict(int)
        for (used, tied), weight in ways.items():
            for win in range(min(1, beat - used) + 1):
                below, level = cell.below(score + win), cell.level(score + win)
                if below:
                    after[used + win, tied] += weight * below
                if level:
                    after[used + win, tied + 1] += weight * level
        ways = after
    return [ways.get((beat, tied), 0) * Fraction(1, math.comb(rivals, beat)) for tied in range(rivals + 1)]


def uniform_failure(n: int, p: Number, ties: str, samples: int = 0) -> Number:
    """Return the failure of max-win, or of poll where `samples` is positive, under uniform(n, p)."""
    rivals = n - 1
    one = Fraction(1) if isinstance(p, Fraction) else 1.0
    failure: Number = 0
    for score in range(rivals + 1):
        for cell in poll_cells(score, rivals, samples, one) if samples else max_win_cells(score):
            weight = binomial(rivals, score, p) * cell.probability
            if weight:
                success: Number = 0
                for scores, count in tournament_scores(rivals).items():
                    probabilities = nobody_above(scores, rivals - score, cell)
                    success += count * sum(
                        probability * share(tied, ties) for tied, probability in enumerate(probabilities) if probability
                    )
                failure += weight * (1 - success * Fraction(1, 1 << math.comb(rivals, 2)))
    return failure


def score_vectors(probabilities: Sequence[Sequence[Fraction]]) -> dict[tuple[int, ...], Fraction]:
    """Return the law of the score vector where pair {i, j}, i < j, answers i with probabilities[i][j]."""
    n = len(probabilities)
    law: dict[tuple[int, ...], Fraction] = {(0,) * n: Fraction(1)}
    for i in range(n):
        for j in range(i + 1, n):
            after: defaultdict[tuple[int, ...], Fraction] = defaultdict(Fraction)
            for scores, weight in law.items():
                for winner, probability in ((i, probabilities[i][j]), (j, 1 - probabilities[i][j])):
                    if probability:
                        after[tuple(s + (k == winner) for k, s in enumerate(scores))] += weight * probability
            law = after
    return law


def general_failure(probabilities: Sequence[Sequence[Fraction]], ties: str, samples: int = 0) -> Fraction:
    """Return the failure of max-win, or of poll where `samples` is positive, for any probabilities."""
    n = len(probabilities)
    success = Fraction(0)
    for (first, *others), weight in score_vectors(probabilities).items():
        for cell in poll_cells(first, n - 1, samples, Fraction(1)) if samples else max_win_cells(first):
            if cell.probability:
                probabilities_of_ties = nobody_above(others, 0, cell)
                value = sum(probability * share(tied, ties) for tied, probability in enumerate(probabilities_of_ties))
                success += weight * cell.probability * value
    return 1 - success
