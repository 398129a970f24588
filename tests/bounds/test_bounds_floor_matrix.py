"""The floor of the budget for any matrix, dealt to the classes at random, against the best adaptive decoders."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from best_decoders import dealt_game
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pairsim import Matrix, Similarity, Uniform
from pairsim.bounds import least_mean_queries, least_queries, most_success
from pairsim.bounds.floor import floor_of
from pairsim.bounds.matrix_floor import MatrixFloor

ROUNDING = 1e-12


def of_strengths(strengths: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1.0 / (1.0 + np.exp(strengths[None, :] - strengths[:, None])))


def of_logits(n: int, logits: list[float]) -> NDArray[np.float64]:
    probabilities = np.full((n, n), 0.5)
    for (i, j), logit in zip(itertools.combinations(range(n), 2), logits, strict=False):
        probabilities[i, j] = 1.0 / (1.0 + math.exp(-logit))
        probabilities[j, i] = 1.0 - probabilities[i, j]
    return probabilities


def naive_floor(probabilities: NDArray[np.float64], queries: int) -> float:
    """Return the theorem's bound on kl(1/n, s) from its n + 1 worlds: the divergences summed world by world."""
    n = len(probabilities)
    order = [0, *sorted(range(1, n), key=lambda i: -sum(probabilities[i, j] for j in range(1, n)))]
    deals = [[order[0 if x == place else x + 1 if x < place else x] for x in range(n)] for place in range(n)]
    costs = []
    for x, y in itertools.combinations(range(n), 2):
        wins = np.array([probabilities[deal[x], deal[y]] for deal in deals])
        a, b = np.log(wins).mean(), np.log(1.0 - wins).mean()
        q = math.exp(a) / (math.exp(a) + math.exp(b))
        costs.append(float(np.mean(q * np.log(q / wins) + (1 - q) * np.log((1 - q) / (1 - wins)))))
    fair = [0.5 * math.log(0.25 / (w * (1 - w))) for w in probabilities[np.triu_indices(n, 1)]]
    return min(sum(sorted(costs)[::-1][:queries]), queries * float(np.mean(fair)))


LOGITS = st.lists(st.floats(-4.0, 4.0), min_size=6, max_size=6)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.sampled_from([2, 3, 4]), LOGITS)
def test_the_best_decoder_does_not_beat_the_floor(n: int, logits: list[float]) -> None:
    probabilities = of_logits(n, logits)
    oracle = Matrix(probabilities)
    for queries, best in enumerate(dealt_game(probabilities).best_successes()):
        assert best <= most_success(oracle, queries) + ROUNDING
        assert least_queries(oracle, min(best, 1.0 - ROUNDING) * (1.0 - ROUNDING)) <= queries


def test_it_holds_for_an_order_of_five_classes_and_for_certain_answers() -> None:
    for probabilities in (of_strengths(np.linspace(2, -2, 5) * 1.5), np.triu(np.ones((4, 4)), 1)):
        oracle = Matrix(probabilities)
        for queries, best in enumerate(dealt_game(probabilities).best_successes()):
            assert best <= most_success(oracle, queries) + ROUNDING


def test_a_floor_that_is_ten_percent_larger_would_be_wrong() -> None:
    """Negative control; where two classes differ by one answer, the floor is reached."""
    for logits in ([0.5], [3.0]):
        probabilities = of_logits(2, logits)
        floor = floor_of("test", Matrix(probabilities))
        assert 1.1 * floor.least(dealt_game(probabilities).best_successes()[1] * (1 - ROUNDING)) > 1
    probabilities = of_strengths(np.array([0.4, 0.0, -0.4]))
    needed = [
        MatrixFloor(probabilities).least(best * (1 - ROUNDING)) for best in dealt_game(probabilities).best_successes()
    ]
    assert any(2.5 * least > queries for queries, least in enumerate(needed) if queries)


@settings(deadline=None, derandomize=True, max_examples=50)
@given(st.sampled_from([3, 4]), LOGITS, st.integers(0, 6))
def test_it_is_the_theorem(n: int, logits: list[float], queries: int) -> None:
    probabilities = of_logits(n, logits)
    queries = min(queries, n * (n - 1) // 2)
    assert MatrixFloor(probabilities)._spent[queries] == pytest.approx(
        naive_floor(probabilities, queries), rel=1e-9, abs=1e-13
    )


def test_under_uniform_p_it_is_the_floor_by_divergence() -> None:
    bias = -0.5 * math.log(0.36)
    assert MatrixFloor(Uniform(40, 0.9).matrix())._spent[100] == pytest.approx(2 * 100 * bias / 40)


def test_it_grows_with_the_classes_where_roles_change_gradually() -> None:
    """Not vacuous: about n queries for an order of n classes, and more when answers say less."""
    needed = [least_queries(Matrix(of_strengths(np.linspace(2, -2, n) * 1.5)), 0.99) for n in (25, 100, 400)]
    assert [round(each / n, 1) for each, n in zip(needed, (25, 100, 400), strict=True)] == [1.1, 1.1, 1.0]
    assert least_queries(Similarity.profile("zipf:0.5", 400), 0.9) > 400
    assert least_queries(Similarity.profile("zipf:0.2", 400), 0.9) > 3 * least_queries(
        Similarity.profile("zipf:0.5", 400), 0.9
    )


@settings(deadline=None, derandomize=True, max_examples=30)
@given(st.integers(2, 30), st.floats(0.0, 1.5), st.floats(0.0, 0.999))
def test_the_two_forms_are_each_others_inverse(n: int, exponent: float, success: float) -> None:
    oracle = Similarity.profile(f"zipf:{exponent}", n)
    queries = least_queries(oracle, success)
    if math.isfinite(queries):
        assert most_success(oracle, int(queries)) >= success - 1e-6
        assert queries == 0 or most_success(oracle, int(queries) - 1) <= success + 1e-6
        assert least_mean_queries(oracle, success) <= queries
