"""Exact values against every tournament, every poll and every draw of small problems, in fractions.

The enumeration is written from the definitions alone: it goes through all answers, all sampled scores, all ways to
settle ties. Chances are multiples of 1/16, so that floats hold them exactly and fractions stay short.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


def tournaments(chances: Table) -> Iterator[tuple[Fraction, tuple[tuple[bool, ...], ...]]]:
    """Yield every tournament that can happen, as a table (does i beat j?), with its probability."""
    n = len(chances)
    pairs = list(itertools.combinations(range(n), 2))
    for answers in itertools.product((True, False), repeat=len(pairs)):
        beats = [[False] * n for _ in range(n)]
        chance = Fraction(1)
        for (i, j), low_wins in zip(pairs, answers, strict=True):
            chance *= chances[i][j] if low_wins else 1 - chances[i][j]
            beats[i][j], beats[j][i] = low_wins, not low_wins
        if chance:
            yield chance, tuple(map(tuple, beats))


def share_of_true_class(scores: dict[int, int], ties: str) -> Fraction:
    """Return the chance that class 0 is named when these classes have these scores."""
    if 0 not in scores or scores[0] < max(scores.values()):
        return Fraction(0)
    tied = sum(score == scores[0] for score in scores.values())
    if tied == 1 or ties == "first":
        return Fraction(1)
    return Fraction(1, tied) if ties == "random" else Fraction(0)


def polls(scores: Sequence[int], l: int) -> Iterator[tuple[Fraction, tuple[int, ...]]]:
    """Yield all sampled scores: each class wins a question when it meets one of the classes that it beats."""
    m = len(scores) - 1
    each = [
        [(s, Fraction(math.comb(l, s) * t**s * (m - t) ** (l - s), m**l)) for s in range(l + 1) if (t or not s)]
        for t in scores
    ]
    for together in itertools.product(*each):
        chance = math.prod((part for _, part in together), start=Fraction(1))
        if chance:
            yield chance, tuple(s for s, _ in together)


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


def enumerate_success(chances: Table, decoder: Decoder) -> Fraction:
    if isinstance(decoder, Ddag | Adag):
        return enumerate_elimination(chances, decoder)
    return sum(
        (chance * success_in(beats, decoder) for chance, beats in tournaments(chances)),
        start=Fraction(0),
    )


def success_in(beats: Sequence[Sequence[bool]], decoder: Decoder) -> Fraction:
    """Return the chance that class 0 is named in one tournament."""
    scores = [sum(row) for row in beats]
    if isinstance(decoder, MaxWin):
        return share_of_true_class(dict(enumerate(scores)), decoder.ties)
    assert isinstance(decoder, Poll | TopK)
    assert isinstance(decoder.l, int)
    total = Fraction(0)
    for chance, sampled in polls(scores, decoder.l):
        if isinstance(decoder, Poll):
            total += chance * share_of_true_class(dict(enumerate(sampled)), decoder.ties)
        else:
            for part, candidates in cuts(sampled, decoder.k, decoder.ties):
                if candidates:
                    finals = count_wins(beats, decoder, candidates)
                    total += chance * part * share_of_true_class(finals, decoder.ties)
    return total


def enumerate_elimination(chances: Table, decoder: Ddag | Adag) -> Fraction:
    """Average over the orders the chance that class 0 comes out of each list, game by game."""
    n = len(chances)
    orders = [tuple(range(n))] if decoder.order == "given" else list(itertools.permutations(range(n)))
    survive = survive_ddag if isinstance(decoder, Ddag) else survive_adag
    return sum((survive(chances, order) for order in orders), start=Fraction(0)) / len(orders)


def survive_ddag(chances: Table, order: tuple[int, ...]) -> Fraction:
    if len(order) == 1:
        return Fraction(order == (0,))
    first, last = order[0], order[-1]
    return chances[first][last] * survive_ddag(chances, order[:-1]) + chances[last][first] * survive_ddag(
        chances, order[1:]
    )


def survive_adag(chances: Table, order: tuple[int, ...]) -> Fraction:
    if len(order) == 1:
        return Fraction(order == (0,))
    half = len(order) // 2
    games = [(order[place], order[-1 - place]) for place in range(half)]
    total = Fraction(0)
    for winners in itertools.product(*games):
        chance = math.prod((chances[w][i + j - w] for w, (i, j) in zip(winners, games, strict=True)), start=Fraction(1))
        if chance:
            total += chance * survive_adag(chances, winners + order[half : len(order) - half])
    return total


def agrees(oracle: Oracle, decoder: Decoder, success: Fraction) -> bool:
    """Compare both chances, each relative to itself."""
    found = exact(oracle, decoder)
    failure_slack = CLOSE if not isinstance(decoder, TopK) else max(CLOSE, 1e-15 / max(float(1 - success), 1e-300))
    return math.isclose(found.success, float(success), rel_tol=CLOSE, abs_tol=1e-300) and math.isclose(
        found.failure, float(1 - success), rel_tol=failure_slack, abs_tol=1e-300
    )


def names(value: object) -> str:
    return value.spec if isinstance(value, Decoder) else repr(value)[:60]


@pytest.mark.parametrize("oracle", PROBLEMS + FIVE, ids=names)
@pytest.mark.parametrize("ties", TIES)
def test_max_win_meets_all_tournaments(oracle: Oracle, ties: str) -> None:
    assert agrees(oracle, MaxWin(ties), enumerate_success(fractions_of(oracle), MaxWin(ties)))


@pytest.mark.parametrize("oracle", PROBLEMS, ids=names)
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("l", [1, 2, 3])
def test_poll_meets_all_polls(oracle: Oracle, ties: str, l: int) -> None:
    decoder = Poll(l, ties)
    assert agrees(oracle, decoder, enumerate_success(fractions_of(oracle), decoder))


@pytest.mark.parametrize("oracle", [oracle for oracle in PROBLEMS if oracle.n > 2], ids=names)
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("final", ["rescore", "maxwin"])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_top_k_meets_all_polls_and_cuts(oracle: Oracle, ties: str, final: str, k: int) -> None:
    decoder = TopK(k, 2, final, ties)
    assert agrees(oracle, decoder, enumerate_success(fractions_of(oracle), decoder))


@pytest.mark.parametrize("oracle", PROBLEMS + FIVE, ids=names)
@pytest.mark.parametrize("order", ["given", "random"])
@pytest.mark.parametrize("kind", [Ddag, Adag])
def test_eliminations_meet_all_games(oracle: Oracle, order: str, kind: type[Ddag] | type[Adag]) -> None:
    assert agrees(oracle, kind(order), enumerate_success(fractions_of(oracle), kind(order)))


# --- tiny failures: both chances keep all their digits -----------------------------------------------------------

ALMOST_SURE = 1 - 2.0**-40
NEARLY_RIGHT: list[Oracle] = [
    Uniform(4, ALMOST_SURE),
    Uniform(5, 1 - 2.0**-30),
    Matrix([[0.5, ALMOST_SURE, 1 - 2.0**-45], [1 - ALMOST_SURE, 0.5, 0.25], [2.0**-45, 0.75, 0.5]]),
]


@pytest.mark.parametrize("oracle", NEARLY_RIGHT, ids=names)
@pytest.mark.parametrize("decoder", [*map(MaxWin, TIES), Ddag(), Adag(), Ddag("given"), Adag("given")], ids=names)
def test_tiny_failures_keep_their_digits(oracle: Oracle, decoder: Decoder) -> None:
    success = enumerate_success(fractions_of(oracle), decoder)
    assert 0 < 1 - success < 1e-8
    assert math.isclose(exact(oracle, decoder).failure, float(1 - success), rel_tol=CLOSE)


def test_one_minus_success_would_have_lost_them() -> None:
    """Negative control: the difference from 1 fails the comparison that the failure passes."""
    oracle = Uniform(5, 1 - 2.0**-30)
    success = enumerate_success(fractions_of(oracle), MaxWin())
    assert not math.isclose(1.0 - exact(oracle, MaxWin()).success, float(1 - success), rel_tol=CLOSE)


# --- prices ----------------------------------------------------------------------------------------------------


def enumerate_price(chances: Table, decoder: TopK) -> tuple[Fraction, Fraction]:
    """Return the expected questions and rounds of a top-k."""
    n = len(chances)
    assert isinstance(decoder.l, int)
    questions, rounds = Fraction(0), Fraction(0)
    for chance, beats in tournaments(chances):
        for part, sampled in polls([sum(row) for row in beats], decoder.l):
            for way, candidates in cuts(sampled, decoder.k, decoder.ties):
                size = len(candidates)
                more = size * (n - 1) if decoder.final == "rescore" else size * (size - 1) // 2
                questions += chance * part * way * (n * decoder.l + more)
                rounds += chance * part * way * (2 if more else 1)
    return questions, rounds


@pytest.mark.parametrize("oracle", [PROBLEMS[2], PROBLEMS[5]], ids=names)
@pytest.mark.parametrize("final", ["rescore", "maxwin"])
@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("ties", ["lose", "random"])
def test_price_of_top_k_is_its_expectation(oracle: Oracle, final: str, k: int, ties: str) -> None:
    decoder = TopK(k, 2, final, ties)
    queries, rounds = enumerate_price(fractions_of(oracle), decoder)
    found = exact(oracle, decoder)
    assert math.isclose(found.queries, float(queries), rel_tol=CLOSE)
    assert math.isclose(found.rounds, float(rounds), rel_tol=CLOSE)
    if ties == "lose" and k < oracle.n and (final, k) != ("maxwin", 1):  # one candidate has nobody to play
        assert found.queries < decoder.cost(oracle.n).queries


@pytest.mark.parametrize(("n", "l"), [(2, 1), (2, 3), (3, 1), (3, 2), (4, 1), (4, 2)])
def test_distinct_pairs_of_a_poll_meet_all_polls(n: int, l: int) -> None:
    opponents = [itertools.product([j for j in range(n) if j != i], repeat=l) for i in range(n)]
    asked = [
        len({frozenset((i, j)) for i, poll in enumerate(together) for j in poll})
        for together in itertools.product(*opponents)
    ]
    distinct = exact(Uniform(n, 0.75), Poll(l)).distinct
    assert distinct is not None
    assert math.isclose(distinct, sum(asked) / len(asked), rel_tol=1e-15)


# --- random problems -------------------------------------------------------------------------------------------


@st.composite
def problems(draw: st.DrawFn) -> Oracle:
    n = draw(st.integers(2, 4))
    if draw(st.booleans()):
        return Uniform(n, draw(st.integers(0, 16)) / 16)
    return Matrix(
        sixteenths(*(draw(st.lists(st.integers(0, 16), min_size=m, max_size=m)) for m in range(n - 1, 0, -1)))
    )


@st.composite
def questions(draw: st.DrawFn) -> tuple[Oracle, Decoder]:
    oracle = draw(problems())
    ties = draw(st.sampled_from(TIES))
    l = draw(st.integers(1, 3))
    order = draw(st.sampled_from(("random", "given")))
    top_k = TopK(draw(st.integers(1, oracle.n)), l, draw(st.sampled_from(("rescore", "maxwin"))), ties)
    return oracle, draw(st.sampled_from((MaxWin(ties), Poll(l, ties), top_k, Ddag(order), Adag(order))))


@settings(derandomize=True, deadline=None, max_examples=60)
@given(questions())
def test_random_problems_meet_their_enumeration(question: tuple[Oracle, Decoder]) -> None:
    oracle, decoder = question
    assert agrees(oracle, decoder, enumerate_success(fractions_of(oracle), decoder))


@pytest.mark.parametrize("order", ["given", "random"])
@pytest.mark.parametrize("kind", [Ddag, Adag])
def test_eliminations_of_six_meet_all_orders(order: str, kind: type[Ddag] | type[Adag]) -> None:
    """Six is the first size where the two halves of an adag differ in shape."""
    oracle = Matrix(sixteenths([13, 9, 16, 11, 10], [3, 8, 14, 1], [6, 10, 12], [5, 0], [9]))
    assert agrees(oracle, kind(order), enumerate_success(fractions_of(oracle), kind(order)))


@pytest.mark.parametrize("n", [7, 8, 9, 10, 11, 13])
@pytest.mark.parametrize("kind", [Ddag, Adag])
def test_eliminations_in_given_order_meet_all_games(n: int, kind: type[Ddag] | type[Adag]) -> None:
    rng = np.random.default_rng(n)
    oracle = Matrix(sixteenths(*(rng.integers(0, 17, m).tolist() for m in range(n - 1, 0, -1))))
    assert agrees(oracle, kind("given"), enumerate_success(fractions_of(oracle), kind("given")))


def test_wrong_problems_and_rules_are_rejected() -> None:
    """Negative control: the comparison tells every decoder from its neighbours."""
    oracle, table = PROBLEMS[5], fractions_of(PROBLEMS[5])
    assert not agrees(oracle, MaxWin("random"), enumerate_success(table, MaxWin("lose")))
    assert not agrees(oracle, MaxWin("random"), enumerate_success(fractions_of(PROBLEMS[2]), MaxWin("random")))
    assert not agrees(oracle, Poll(2), enumerate_success(table, Poll(3)))
    assert not agrees(oracle, TopK(2, 2, "rescore"), enumerate_success(table, TopK(2, 2, "maxwin")))
    assert not agrees(oracle, TopK(2, 2, ties="first"), enumerate_success(table, TopK(2, 2, ties="random")))
    assert not agrees(oracle, Ddag("given"), enumerate_success(table, Ddag("random")))
    assert not agrees(oracle, Adag("random"), enumerate_success(table, Ddag("random")))
    assert not agrees(oracle, MaxWin(), enumerate_success(table, MaxWin()) + Fraction(1, 10**12))
