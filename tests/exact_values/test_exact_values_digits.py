"""Tiny failures and costs: exact values keep all their digits, and the cost is an expectation."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from exact_values_enumeration import (
    CLOSE,
    PROBLEMS,
    TIES,
    agrees,
    enumerate_cost,
    enumerate_success,
    fractions_of,
    names,
    polls,
    score_vectors,
    share_of_true_class,
    sixteenths,
)
from labels import told_apart

from pairsim import Adag, Ddag, Decoder, Matrix, MaxWin, Oracle, Poll, TopK, Uniform
from pairsim.exact_values import exact

# --- tiny failures: both probabilities keep all their digits
# ---------------------------------------------------------------

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
    assert math.isclose(exact(told_apart(oracle, decoder), decoder).failure, float(1 - success), rel_tol=CLOSE)


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize(
    "oracle",
    [Uniform(6, 1 - 2.0**-20), Matrix(sixteenths([15, 14, 16, 13, 15], [3, 8, 9, 1], [6, 9, 2], [5, 0], [9]))],
    ids=names,
)
def test_six_classes_meet_all_score_vectors(oracle: Oracle, ties: str) -> None:
    vectors = score_vectors(fractions_of(oracle))
    max_win, poll = Fraction(0), Fraction(0)
    for scores, probability in vectors.items():
        max_win += probability * share_of_true_class(dict(enumerate(scores)), ties)
        for part, sampled in polls(scores, 1) if probability else ():
            poll += probability * part * share_of_true_class(dict(enumerate(sampled)), ties)
    assert agrees(oracle, MaxWin(ties), max_win)
    assert agrees(oracle, Poll(1, ties), poll)


def test_a_long_poll_of_a_sure_class_by_hand() -> None:
    """Of three classes one beats both and always samples l; one beats one, and samples l with probability 2^-l."""
    oracle = Uniform(3, 1.0)
    assert exact(oracle, Poll(60, "lose")).failure == pytest.approx(2.0**-60, rel=1e-15)
    assert exact(oracle, Poll(60, "random")).failure == pytest.approx(2.0**-61, rel=1e-15)
    assert exact(oracle, Poll(60, "first")).failure == exact(oracle, Poll(60, "random")).failure
    assert exact(told_apart(oracle, Poll(60, "first")), Poll(60, "first")).failure == 0.0


def test_one_minus_success_would_have_lost_them() -> None:
    """Negative control: the difference from 1 fails the comparison that the failure passes."""
    oracle = Uniform(5, 1 - 2.0**-30)
    success = enumerate_success(fractions_of(oracle), MaxWin())
    assert not math.isclose(1.0 - exact(oracle, MaxWin()).success, float(1 - success), rel_tol=CLOSE)


# --- costs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("oracle", [PROBLEMS[2], PROBLEMS[5]], ids=names)
@pytest.mark.parametrize("final", ["rescore", "maxwin"])
@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("ties", ["lose", "random"])
def test_cost_of_top_k_is_its_expectation(oracle: Oracle, final: str, k: int, ties: str) -> None:
    decoder = TopK(k, 2, final, ties)
    queries, rounds = enumerate_cost(fractions_of(oracle), decoder)
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
