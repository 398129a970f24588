"""The floor of the budget: no decoder beats it, shown against the best adaptive decoder that exists for small n."""

from __future__ import annotations

import functools
import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairsim import Matrix, MaxWin, Uniform, exact
from pairsim.bounds import least_queries, most_success
from pairsim.errors import ParameterError


def best_success(n: int, p: float, queries: int) -> float:
    """Return the success of the best decoder with so many queries: dynamic programming over all answers."""
    pairs = list(itertools.combinations(range(n), 2))

    def likelihood(answers: tuple[int, ...], truth: int) -> float:
        value = 1.0
        for (i, j), answer in zip(pairs, answers, strict=True):
            if answer:
                i_wins = p if truth == i else 1.0 - p if truth == j else 0.5
                value *= i_wins if answer == 1 else 1.0 - i_wins
        return value

    @functools.cache
    def value(answers: tuple[int, ...], left: int) -> float:
        """Return the probability of these answers and of a right prediction after the best further queries."""
        stop = max(likelihood(answers, truth) for truth in range(n)) / n
        if left == 0 or all(answers):
            return stop
        return max(
            sum(value((*answers[:k], answer, *answers[k + 1 :]), left - 1) for answer in (1, 2))
            for k in range(len(pairs))
            if not answers[k]
        )

    return value((0,) * len(pairs), queries)


@pytest.mark.parametrize("p", [0.55, 0.7, 0.9, 0.99])
@pytest.mark.parametrize(("n", "most"), [(2, 1), (3, 3), (4, 6)])
def test_the_best_decoder_does_not_beat_the_floor(n: int, most: int, p: float) -> None:
    oracle = Uniform(n, p)
    for queries in range(most + 1):
        best = best_success(n, p, queries)
        assert best <= most_success(oracle, queries)
        assert least_queries(oracle, min(best, 1.0 - 1e-12)) <= queries


def test_the_best_decoder_is_the_best() -> None:
    """With all pairs asked it is at least max-win, and with one query it keeps the winner."""
    assert best_success(4, 0.8, 6) >= exact(Uniform(4, 0.8), MaxWin()).success
    assert best_success(3, 0.8, 1) == pytest.approx(0.8 * 2 / 3)
    assert best_success(4, 0.8, 0) == 0.25


def test_a_floor_without_the_factor_two_would_be_wrong() -> None:
    """Negative control: were a query about one class only, the best decoder would beat the bound."""
    assert any(
        best_success(n, p, most) > most_success(Uniform(n, p), most // 2)
        for n, most, p in ((2, 1, 0.9), (3, 3, 0.9), (4, 6, 0.99))
    )


@settings(deadline=None, derandomize=True)
@given(st.integers(2, 10**6), st.floats(0.51, 0.999), st.floats(0.0, 0.999999))
def test_the_two_forms_are_each_others_inverse(n: int, p: float, success: float) -> None:
    oracle = Uniform(n, p)
    queries = least_queries(oracle, success)
    assert most_success(oracle, queries) >= success - 1e-9
    if queries > 0:
        assert most_success(oracle, queries - 1) <= success + 1e-9
    assert least_queries(Uniform(n, 1.0 - p), success) == pytest.approx(queries, rel=1e-9, abs=1)


def test_values() -> None:
    assert least_queries(Uniform(512, 0.9), 0.99) == 2297
    assert least_queries(Uniform(64, 0.9), 1.0 / 64) == 0
    assert least_queries(Uniform(9, 0.5), 0.2) == 36  # coins say nothing
    assert most_success(Uniform(9, 0.5), 36) == pytest.approx(1.0 / 9)
    assert most_success(Uniform(9, 0.9), 10**6) == 1.0
    assert least_queries(Uniform(8, 1.0), 0.9) == 0  # one query may say all: the argument gives nothing
    assert math.isclose(most_success(Uniform(16, 0.8), 0), 1.0 / 16)


@pytest.mark.parametrize("wrong", [1.0, -0.1, math.nan, "x", None])
def test_success_must_be_a_probability_below_one(wrong: object) -> None:
    with pytest.raises(ParameterError, match="The 'success' parameter of least_queries must be a number in"):
        least_queries(Uniform(8, 0.9), wrong)  # type: ignore[arg-type]


def test_other_oracles_are_refused() -> None:
    with pytest.raises(ParameterError, match="must be uniform"):
        most_success(Matrix(Uniform(4, 0.9).matrix()), 3)
    with pytest.raises(ParameterError, match="The 'queries' parameter of most_success must be"):
        most_success(Uniform(4, 0.9), -1)
