"""Every tournament, every poll, every cut and every order of small problems, in fractions.

Written from the definitions alone, to be compared with the dynamic programmes. Probabilities are multiples of 1/16, so
that floats hold them exactly and fractions stay short.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from labels import told_apart

from pairsim import Adag, Ddag, Decoder, Matrix, MaxWin, Oracle, Poll, Similarity, TopK, Uniform
from pairsim.exact_values import exact

TIES = ("random", "lose", "first")
CLOSE = 2e-14  # relative; the dynamic programmes add up thousands of rounded numbers

Table = Sequence[Sequence[Fraction]]


def sixteenths(*rows: Sequence[int]) -> list[list[float]]:
    """Return the square table whose part above the diagonal is given in sixteenths."""
    n = len(rows) + 1
    table = [[0.5] * n for _ in range(n)]
    for i, row in enumerate(rows):
        for j, value in enumerate(row, start=i + 1):
            table[i][j], table[j][i] = value / 16, 1 - value / 16
    return table


PROBLEMS: list[Oracle] = [
    Uniform(2, 0.75),
    Uniform(3, 0.875),
    Uniform(4, 0.6875),
    Uniform(4, 0.0),
    Uniform(4, 1.0),
    Matrix(sixteenths([11, 14, 9], [13, 2], [5])),
    Matrix(sixteenths([16, 3, 12], [0, 16], [7])),
    Similarity([0.5, 0.5, 0.0, 0.0]),
]
FIVE: list[Oracle] = [Uniform(5, 0.8125), Matrix(sixteenths([13, 9, 16, 11], [3, 8, 14], [6, 10], [5]))]


def fractions_of(oracle: Oracle) -> Table:
    return [[Fraction(value) for value in row] for row in oracle.matrix().tolist()]


def tournaments(probabilities: Table) -> Iterator[tuple[Fraction, tuple[tuple[bool, ...], ...]]]:
    """Yield every tournament that can happen, as a table (does i beat j?), with its probability."""
    n = len(probabilities)
    pairs = list(itertools.combinations(range(n), 2))
    for answers in itertools.product((True, False), repeat=len(pairs)):
        beats = [[False] * n for _ in range(n)]
        probability = Fraction(1)
        for (i, j), low_wins in zip(pairs, answers, strict=True):
            probability *= probabilities[i][j] if low_wins else 1 - probabilities[i][j]
            beats[i][j], beats[j][i] = low_wins, not low_wins
        if probability:
            yield probability, tuple(map(tuple, beats))


def share_of_true_class(scores: dict[int, int], ties: str) -> Fraction:
    """Return the probability that class 0 is named when these classes have these scores."""
    if 0 not in scores or scores[0] < max(scores.values()):
        return Fraction(0)
    tied = sum(score == scores[0] for score in scores.values())
    if tied == 1 or ties == "first":
        return Fraction(1)
    return Fraction(1, tied) if ties == "random" else Fraction(0)


def polls(scores: Sequence[int], l: int) -> Iterator[tuple[Fraction, tuple[int, ...]]]:
    """Yield all sampled scores: each class wins a query when it meets one of the classes that it beats."""
    m = len(scores) - 1
    each = [
        [(s, Fraction(math.comb(l, s) * t**s * (m - t) ** (l - s), m**l)) for s in range(l + 1) if (t or not s)]
        for t in scores
    ]
    for together in itertools.product(*each):
        probability = math.prod((part for _, part in together), start=Fraction(1))
        if probability:
            yield probability, tuple(s for s, _ in together)


def cuts(sampled: Sequence[int], k: int, ties: str) -> Iterator[tuple[Fraction, tuple[int, ...]]]:
    """Yield the sets of candidates that these sampled scores can lead to."""
    bar = sorted(sampled)[-k]
    above = tuple(c for c, s in enumerate(sampled) if s > bar)
    tied = [c for c, s in enumerate(sampled) if s == bar]
    places = k - len(above)
    if ties == "random":
        ways = list(itertools.combinations(tied, places))
        yield from ((Fraction(1, len(ways)), above + way) for way in ways)
    elif ties == "first":
        yield Fraction(1), above + tuple(tied[:places])
    else:
        yield Fraction(1), above + (tuple(tied) if len(tied) <= places else ())


def count_wins(beats: Sequence[Sequence[bool]], decoder: TopK, candidates: Sequence[int]) -> dict[int, int]:
    """Return the score of every candidate in the final."""
    rivals = range(len(beats)) if decoder.final == "rescore" else candidates
    return {c: sum(beats[c][rival] for rival in rivals) for c in candidates}


def enumerate_success(probabilities: Table, decoder: Decoder) -> Fraction:
    if isinstance(decoder, Ddag | Adag):
        return enumerate_elimination(probabilities, decoder)
    return sum(
        (probability * success_in(beats, decoder) for probability, beats in tournaments(probabilities)),
        start=Fraction(0),
    )


def success_in(beats: Sequence[Sequence[bool]], decoder: Decoder) -> Fraction:
    """Return the probability that class 0 is named in one tournament."""
    scores = [sum(row) for row in beats]
    if isinstance(decoder, MaxWin):
        return share_of_true_class(dict(enumerate(scores)), decoder.ties)
    assert isinstance(decoder, Poll | TopK)
    assert isinstance(decoder.l, int)
    total = Fraction(0)
    for probability, sampled in polls(scores, decoder.l):
        if isinstance(decoder, Poll):
            total += probability * share_of_true_class(dict(enumerate(sampled)), decoder.ties)
        else:
            for part, candidates in cuts(sampled, decoder.k, decoder.ties):
                if candidates:
                    finals = count_wins(beats, decoder, candidates)
                    total += probability * part * share_of_true_class(finals, decoder.ties)
    return total


def enumerate_elimination(probabilities: Table, decoder: Ddag | Adag) -> Fraction:
    """Average over the orders the probability that class 0 comes out of each list, game by game."""
    n = len(probabilities)
    orders = [tuple(range(n))] if decoder.order == "given" else list(itertools.permutations(range(n)))
    survive = survive_ddag if isinstance(decoder, Ddag) else survive_adag
    return sum((survive(probabilities, order) for order in orders), start=Fraction(0)) / len(orders)


def survive_ddag(probabilities: Table, order: tuple[int, ...]) -> Fraction:
    if len(order) == 1:
        return Fraction(order == (0,))
    first, last = order[0], order[-1]
    return probabilities[first][last] * survive_ddag(probabilities, order[:-1]) + probabilities[last][
        first
    ] * survive_ddag(probabilities, order[1:])


def survive_adag(probabilities: Table, order: tuple[int, ...]) -> Fraction:
    if len(order) == 1:
        return Fraction(order == (0,))
    half = len(order) // 2
    games = [(order[place], order[-1 - place]) for place in range(half)]
    total = Fraction(0)
    for winners in itertools.product(*games):
        probability = math.prod(
            (probabilities[w][i + j - w] for w, (i, j) in zip(winners, games, strict=True)), start=Fraction(1)
        )
        if probability:
            total += probability * survive_adag(probabilities, winners + order[half : len(order) - half])
    return total


def agrees(oracle: Oracle, decoder: Decoder, success: Fraction) -> bool:
    """Compare both probabilities, each relative to itself, where class 0 is true for rules that read numbers."""
    found = exact(told_apart(oracle, decoder), decoder)
    failure_slack = CLOSE if not isinstance(decoder, TopK) else max(CLOSE, 1e-15 / max(float(1 - success), 1e-300))
    return math.isclose(found.success, float(success), rel_tol=CLOSE, abs_tol=1e-300) and math.isclose(
        found.failure, float(1 - success), rel_tol=failure_slack, abs_tol=1e-300
    )


def names(value: object) -> str:
    return value.spec if isinstance(value, Decoder) else repr(value)[:60]


def score_vectors(probabilities: Table) -> dict[tuple[int, ...], Fraction]:
    """Return the probability of every score vector, pair by pair."""
    n = len(probabilities)
    found = {(0,) * n: Fraction(1)}
    for i, j in itertools.combinations(range(n), 2):
        after: dict[tuple[int, ...], Fraction] = {}
        for scores, probability in found.items():
            for winner, part in ((i, probabilities[i][j]), (j, 1 - probabilities[i][j])):
                won = (*scores[:winner], scores[winner] + 1, *scores[winner + 1 :])
                after[won] = after.get(won, Fraction(0)) + probability * part
        found = after
    return found


def enumerate_cost(probabilities: Table, decoder: TopK) -> tuple[Fraction, Fraction]:
    """Return the expected queries and rounds of a top-k."""
    n = len(probabilities)
    assert isinstance(decoder.l, int)
    queries, rounds = Fraction(0), Fraction(0)
    for probability, beats in tournaments(probabilities):
        for part, sampled in polls([sum(row) for row in beats], decoder.l):
            for way, candidates in cuts(sampled, decoder.k, decoder.ties):
                size = len(candidates)
                more = size * (n - 1) if decoder.final == "rescore" else size * (size - 1) // 2
                queries += probability * part * way * (n * decoder.l + more)
                rounds += probability * part * way * (2 if more else 1)
    return queries, rounds
