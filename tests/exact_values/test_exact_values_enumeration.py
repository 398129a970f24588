"""Exact values against the enumeration of small problems."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from exact_values_enumeration import (
    FIVE,
    PROBLEMS,
    TIES,
    agrees,
    enumerate_success,
    fractions_of,
    names,
    sixteenths,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from pairsim import Adag, Ddag, Decoder, Matrix, MaxWin, Oracle, Poll, TopK, Uniform


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


# --- random problems -------------------------------------------------------------------------------------------------


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
