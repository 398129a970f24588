"""The floor of the budget under uniform-p, against the best adaptive decoders of up to five classes."""

from __future__ import annotations

import functools
import itertools
import math

import pytest
from best_decoders import Game, uniform_game
from hypothesis import given, settings
from hypothesis import strategies as st

from pairsim import Matrix, MaxWin, Posterior, Ranked, Uniform, exact, simulate
from pairsim.bounds import least_queries, most_success
from pairsim.bounds.floor import floor_of
from pairsim.bounds.floor_base import divergence
from pairsim.errors import ParameterError

P = [0.3, 0.55, 0.7, 0.9, 0.99, 1.0]
ROUNDING = 1e-12


@functools.cache
def game(n: int, p: float) -> Game:
    return uniform_game(n, p)


@pytest.mark.parametrize("p", P)
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_the_best_decoder_does_not_beat_the_floor(n: int, p: float) -> None:
    oracle = Uniform(n, p)
    for queries, best in enumerate(game(n, p).best_successes()):
        assert best <= most_success(oracle, queries) + ROUNDING
        assert least_queries(oracle, min(best, 1.0 - ROUNDING) * (1.0 - ROUNDING)) <= queries


@pytest.mark.parametrize("p", [0.55, 0.7, 0.9, 0.99])
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_a_floor_that_is_ten_percent_larger_would_be_wrong(n: int, p: float) -> None:
    """Negative control: the floor is reached by the best decoder at some budget, so nothing can be added to it."""
    floor = floor_of("test", Uniform(n, p))
    needed = [floor.least(best * (1.0 - ROUNDING)) for best in game(n, p).best_successes()]
    assert any(1.1 * least > queries for queries, least in enumerate(needed) if queries)
    assert max(least / queries for queries, least in enumerate(needed) if queries) > 0.999


def test_it_is_above_the_floor_by_divergence() -> None:
    """By more where a step of the likelihood ratio is large; never below it."""
    for n, p, success in itertools.product((256, 2048), (0.7, 0.9), (0.6, 0.9, 0.98)):
        bias = -0.5 * math.log(4.0 * p * (1.0 - p))
        by_divergence = n * divergence(1.0 / n, success) / (2.0 * bias)
        assert by_divergence * (1.0 - 1e-6) < floor_of("test", Uniform(n, p)).least(success) < 1.25 * by_divergence
    assert least_queries(Uniform(512, 0.9), 0.6) > 1.19 * 512 * divergence(1.0 / 512, 0.6) / 1.0217


def test_certain_answers_need_a_knock_out() -> None:
    """p = 1: T queries knock out T classes, and no decoder does better; p near 1 comes near it."""
    assert least_queries(Uniform(512, 1.0), 0.999) == math.ceil(512 * 0.999 - 1)
    assert most_success(Uniform(512, 1.0), 255) == 0.5
    assert floor_of("test", Uniform(512, 1.0 - 1e-9)).least(0.5) == pytest.approx(255, rel=1e-4)


def test_the_best_decoder_is_the_best() -> None:
    """With all pairs asked it is at least max-win, and with one query it keeps the winner."""
    assert game(4, 0.7).best_successes()[6] >= exact(Uniform(4, 0.7), MaxWin()).success
    assert game(3, 0.9).best_successes()[1] == pytest.approx(0.9 * 2 / 3)
    assert game(4, 0.9).best_successes()[0] == 0.25


def test_a_good_decoder_comes_near_the_floor() -> None:
    """Posterior with a budget: at most 1.15 of what is needed for its lower confidence limit, and never below it."""
    oracle, budget = Uniform(256, 0.7), 3500
    found = simulate(oracle, Posterior(p=0.7, stop=0.9999, budget=budget), 2000, confidence=1 - 1e-6)
    assert least_queries(oracle, found.low) <= budget <= 1.15 * least_queries(oracle, found.success)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.integers(2, 10**6), st.floats(0.51, 0.999), st.floats(0.0, 0.999999))
def test_the_two_forms_are_each_others_inverse(n: int, p: float, success: float) -> None:
    oracle = Uniform(n, p)
    queries = least_queries(oracle, success)
    if math.isinf(queries):
        assert most_success(oracle, n * n) <= success + 1e-9 or n > 10_000
        return
    assert most_success(oracle, int(queries)) >= success - 1e-6
    if queries > 0:
        assert most_success(oracle, int(queries) - 1) <= success + 1e-5
    assert least_queries(Uniform(n, 1.0 - p), success) == pytest.approx(queries, rel=1e-5, abs=1)


@settings(deadline=None, derandomize=True, max_examples=40)
@given(st.integers(2, 5000), st.floats(0.5, 1.0), st.floats(0.0, 0.99), st.floats(0.0, 0.99))
def test_more_success_needs_more_queries_and_convexly(n: int, p: float, first: float, second: float) -> None:
    floor = floor_of("test", Uniform(n, p))
    low, middle, high = (floor.least(each) for each in (min(first, second), (first + second) / 2, max(first, second)))
    assert low <= middle * (1 + 1e-5) + 1e-9
    assert middle <= high * (1 + 1e-5) + 1e-9
    assert middle <= (low + high) / 2 * (1 + 1e-4) + 1e-6  # what the mean's floor is built on


def test_values() -> None:
    assert least_queries(Uniform(512, 0.9), 0.99) == 2341
    assert least_queries(Uniform(64, 0.9), 1.0 / 64) == 0
    assert least_queries(Uniform(9, 0.5), 0.2) == math.inf  # coins say nothing
    assert least_queries(Uniform(4, 0.9), 0.811) == math.inf  # all pairs give 0.81
    assert most_success(Uniform(4, 0.9), 6) == pytest.approx(0.81, rel=1e-9)
    assert most_success(Uniform(9, 0.5), 36) == pytest.approx(1.0 / 9)
    assert most_success(Uniform(512, 0.9), 10**6) == pytest.approx(1.0)
    assert math.isclose(most_success(Uniform(16, 0.8), 0), 1.0 / 16)


@pytest.mark.parametrize("wrong", [1.0, -0.1, math.nan, "x", None])
def test_success_must_be_a_probability_below_one(wrong: object) -> None:
    with pytest.raises(ParameterError, match="The 'success' parameter of least_queries must be a number in"):
        least_queries(Uniform(8, 0.9), wrong)  # type: ignore[arg-type]


def test_what_has_no_floor_is_refused() -> None:
    with pytest.raises(ParameterError, match="must be one with independent pairs"):
        most_success(Ranked(4, 0.9), 3)
    with pytest.raises(ParameterError, match="The 'queries' parameter of most_success must be"):
        most_success(Uniform(4, 0.9), -1)
    assert most_success(Matrix(Uniform(9, 0.9).matrix()), 20) == most_success(Uniform(9, 0.9), 20)
