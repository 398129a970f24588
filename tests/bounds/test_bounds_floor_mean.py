"""The floor of the mean: no decoder that exists asks less, shown against the best sequential ones of a few classes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from best_decoders import Game, dealt_game, uniform_game
from hypothesis import given, settings
from hypothesis import strategies as st

from pairsim import Matrix, Posterior, Uniform, simulate
from pairsim.bounds import least_mean_queries, least_queries, most_success
from pairsim.errors import ParameterError
from pairsim.oracles import Oracle

PENALTIES = (1.2, 1.6, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0, 15.0, 20.0, 40.0, 100.0, 1000.0, 10000.0)
ROUNDING = 1e-12


def ratios(game: Game, oracle: Oracle) -> list[float]:
    """Return the floor over the mean of the best decoders: with the fewest queries + penalty * failures."""
    best = [game.best_mean(penalty) for penalty in PENALTIES]
    return [least_mean_queries(oracle, s * (1 - ROUNDING)) / queries for s, queries in best if queries > 0.0]


@pytest.mark.parametrize("p", [0.3, 0.55, 0.7, 0.8, 0.9, 0.99])
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_the_best_sequential_decoder_does_not_beat_the_floor(n: int, p: float) -> None:
    found = ratios(uniform_game(n, p), Uniform(n, p))
    assert found
    assert max(found) <= 1.0


def test_it_is_nearly_reached_and_ten_percent_more_would_be_wrong() -> None:
    """Negative control: two classes and a nearly certain answer."""
    assert max(ratios(uniform_game(2, 0.99), Uniform(2, 0.99))) > 0.97
    assert max(ratios(uniform_game(5, 0.99), Uniform(5, 0.99))) > 0.6


def test_other_probabilities() -> None:
    rng = np.random.default_rng(3)
    for n, scale in ((2, 3.0), (3, 0.5), (3, 2.0), (4, 0.3), (4, 1.5), (4, 4.0)):
        logits = rng.normal(size=(n, n)) * scale
        probabilities = 1.0 / (1.0 + np.exp(logits.T - logits))
        found = ratios(dealt_game(probabilities), Matrix(probabilities))
        assert max(found) <= 1.0


@settings(deadline=None, derandomize=True, max_examples=40)
@given(st.integers(2, 60), st.floats(0.55, 1.0), st.floats(0.0, 0.99))
def test_it_is_the_sum_of_the_theorem(n: int, p: float, success: float) -> None:
    """Not above (1), computed query by query, and near to it; below the floor of the budget."""
    oracle = Uniform(n, p)
    floor = least_mean_queries(oracle, success)
    budget = least_queries(oracle, success)
    if math.isinf(budget):
        assert floor == math.inf
        return
    steps = max(1, int(budget) // 60)
    gaps = np.maximum(0.0, [success - most_success(oracle, t) for t in range(0, int(budget) + steps, steps)])
    summed = steps * float(np.sum(gaps)) / (1.0 - 1.0 / n)  # at least (1), as the terms fall
    assert floor <= summed * (1 + 1e-5) + 1e-4
    assert floor >= summed * 0.97 - steps * success / (1.0 - 1.0 / n) - 0.1
    assert floor <= budget / (1.0 - 1.0 / n)


@pytest.mark.parametrize(
    ("n", "p", "stop", "near"), [(64, 0.9, 0.99, 0.65), (256, 0.9, 0.99, 0.8), (256, 0.7, 0.99, 0.75)]
)
def test_posterior_is_above_it_and_not_by_much(n: int, p: float, stop: float, near: float) -> None:
    oracle = Uniform(n, p)
    found = simulate(oracle, Posterior(p=p, stop=stop), 4000, confidence=1 - 1e-6)
    floor = least_mean_queries(oracle, found.low)
    assert near * found.queries < floor < found.queries


def test_the_two_floors_are_not_mixed() -> None:
    oracle = Uniform(512, 0.9)
    assert least_mean_queries(oracle, 0.99) == pytest.approx(535.0, abs=0.1)
    assert least_queries(oracle, 0.99) == 2341
    assert least_mean_queries(oracle, 1 / 512) == 0.0
    assert least_mean_queries(Uniform(4, 0.9), 0.82) == math.inf
    assert least_mean_queries(Uniform(4, 0.5), 0.26) == math.inf


@pytest.mark.parametrize("wrong", [1.0, -0.1, math.nan, "x", None])
def test_success_must_be_a_probability_below_one(wrong: object) -> None:
    with pytest.raises(ParameterError, match="The 'success' parameter of least_mean_queries must be a number in"):
        least_mean_queries(Uniform(8, 0.9), wrong)  # type: ignore[arg-type]
