"""The bounds for similarity and matrix oracles: every interval holds the exact value."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from exact_failures import general_failure, score_vectors
from hypothesis import given, settings
from hypothesis import strategies as st

from pairsim import Matrix, MaxWin, Poll, Similarity, Uniform, simulate
from pairsim.bounds import bound
from pairsim.bounds.general import general_max_win_failure, general_poll_failure
from pairsim.bounds.rivals import FAILED, FIRST, MASS, SUMS, score_pmfs, walk_rivals
from pairsim.bounds.uniform_max_win import max_win_failure
from pairsim.bounds.uniform_poll import poll_failure
from pairsim.stats import binomial_interval

TIES = ("lose", "random", "first")
FALSE_ALARM = 1e-9
Probabilities = list[list[Fraction]]


@st.composite
def probability_matrices(draw: st.DrawFn, most: int) -> Probabilities:
    """Draw eighths, 0 and 1 among them, for every pair of 2 .. most classes."""
    n = draw(st.integers(2, most))
    probabilities = [[Fraction(1, 2)] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1, n):
            probabilities[i][j] = Fraction(draw(st.integers(0, 8)), 8)
            probabilities[j][i] = 1 - probabilities[i][j]
    return probabilities


def as_floats(probabilities: Probabilities) -> np.ndarray:
    return np.array(probabilities, dtype=np.float64)


@given(probability_matrices(5), st.sampled_from(TIES))
@settings(derandomize=True, deadline=None, max_examples=60)
def test_max_win_holds_the_exact_value(probabilities: Probabilities, ties: str) -> None:
    low, high = general_max_win_failure(as_floats(probabilities), ties)
    assert low <= general_failure(probabilities, ties) <= high


@given(probability_matrices(4), st.integers(1, 3), st.sampled_from(TIES))
@settings(derandomize=True, deadline=None, max_examples=40)
def test_poll_holds_the_exact_value(probabilities: Probabilities, samples: int, ties: str) -> None:
    low, high = general_poll_failure(as_floats(probabilities), samples, ties)
    assert low <= general_failure(probabilities, ties, samples) <= high


@given(probability_matrices(5))
@settings(derandomize=True, deadline=None, max_examples=30)
def test_score_distributions_are_exact(probabilities: Probabilities) -> None:
    n = len(probabilities)
    laws = score_pmfs(as_floats(probabilities))
    exact = np.zeros((n - 1, n - 1))
    among_rivals = [row[1:] for row in probabilities[1:]]
    for scores, weight in score_vectors(among_rivals).items():
        for rival, score in enumerate(scores):
            exact[rival, score] += float(weight)
    np.testing.assert_allclose(laws, exact, rtol=0, atol=1e-14)


def test_the_walk_counts_pairs_exactly() -> None:
    # the expected number of rivals with at least class 0's score, over all tournaments, is the sum of `FIRST`
    probabilities = [[Fraction(4 + j - i, 8) for j in range(4)] for i in range(4)]
    laws = score_pmfs(as_floats(probabilities))
    total = mass = 0.0
    for score in range(4):
        ahead = np.array([[law[max(0, score - 1 + beaten) :].sum() for law in laws] for beaten in range(2)])
        sums = np.empty((SUMS, 4))
        wins, losses = as_floats(probabilities)[0, 1:].copy(), as_floats(probabilities)[1:, 0].copy()
        walk_rivals(wins, losses, ahead, np.zeros((2, 3)), np.ones((2, 3)), score, score, sums)
        total += sums[FIRST, score]
        mass += sums[MASS, score]
        assert sums[FAILED, score] <= sums[FIRST, score] * (1 + 1e-12)
    vectors = score_vectors(probabilities).items()
    exact = sum(weight * sum(score >= scores[0] for score in scores[1:]) for scores, weight in vectors)
    assert math.isclose(total, exact, rel_tol=1e-13)
    assert math.isclose(mass, 1.0, rel_tol=1e-13)


def test_wrong_bounds_are_caught() -> None:
    # negative control: the lower side, taken for an upper one, and the interval of a slightly better class 0
    probabilities = [[Fraction(1, 2)] * 5 for _ in range(5)]
    exact = general_failure(probabilities, "lose")
    low, high = general_max_win_failure(as_floats(probabilities), "lose")
    assert low <= exact <= high
    assert not exact <= low
    better = as_floats(probabilities)
    better[0, 1:], better[1:, 0] = 0.7, 0.3
    assert not general_max_win_failure(better, "lose")[1] >= exact


@given(st.integers(3, 40), st.integers(32, 64), st.integers(1, 20), st.sampled_from(TIES))
@settings(derandomize=True, deadline=None, max_examples=30)
def test_general_and_uniform_bounds_overlap(n: int, p: int, samples: int, ties: str) -> None:
    probabilities = Uniform(n, p / 64).matrix()
    pairs = (
        (general_max_win_failure(probabilities, ties), max_win_failure(n, p / 64, ties)),
        (general_poll_failure(probabilities, samples, ties), poll_failure(n, p / 64, samples, ties)),
    )
    for general, uniform in pairs:
        assert general[0] <= uniform[1]
        assert uniform[0] <= general[1]
        assert general[1] - general[0] < 0.12


def test_uniform_probabilities_are_recognised_in_any_dress() -> None:
    for oracle in (Matrix(Uniform(12, 0.7).matrix()), Similarity.profile("uniform-rest:0.3", 12)):
        p = float(oracle.matrix()[0, 1])
        for decoder in (MaxWin(), Poll(9)):
            found, plain = bound(oracle, decoder), bound(Uniform(12, p), decoder)
            assert (found.failure_low, found.failure_high) == (plain.failure_low, plain.failure_high)


def test_the_order_of_the_rivals_does_not_matter() -> None:
    probabilities = Similarity.profile("zipf:0.8", 20).matrix()
    order = np.concatenate(([0], 1 + np.random.default_rng(3).permutation(19)))
    for ties in TIES:
        for shuffled, plain in (
            (
                general_max_win_failure(probabilities[np.ix_(order, order)], ties),
                general_max_win_failure(probabilities, ties),
            ),
            (
                general_poll_failure(probabilities[np.ix_(order, order)], 9, ties),
                general_poll_failure(probabilities, 9, ties),
            ),
        ):
            np.testing.assert_allclose(shuffled, plain, rtol=1e-10)


def test_tiny_failures_are_numbers() -> None:
    # class 0 beats 1 and 2 with probability 1 - 2**-60 and 2 never beats 1: it fails only by losing to 1, or twice
    tiny = 2.0**-60
    probabilities = np.array([[0.5, 1.0, 1.0], [tiny, 0.5, 1.0], [tiny, 0.0, 0.5]])
    low, high = general_max_win_failure(probabilities, "first")
    assert low <= tiny <= high
    assert math.isclose(low, high, rel_tol=1e-8)


@pytest.mark.parametrize("profile", ["zipf:1.0", "geometric:0.95"])
def test_simulation_never_crosses_a_bound(profile: str) -> None:
    oracle, trials = Similarity.profile(profile, 30), 20_000
    decoders = [
        make(ties) for ties in TIES for make in (lambda ties: MaxWin(ties=ties), lambda ties: Poll(20, ties=ties))
    ]
    for decoder, estimate in zip(decoders, simulate(oracle, decoders, trials, seed=8), strict=True):
        found = bound(oracle, decoder)
        low, high = binomial_interval(round((1 - estimate.success) * trials), trials, 1 - FALSE_ALARM)
        assert low <= found.failure_high
        assert found.failure_low <= high
        assert found.width < 0.06
        shifted = 0.15 if found.failure_low < 0.5 else -0.15  # negative control: a bound that is off would be crossed
        assert not (low <= found.failure_high + shifted and found.failure_low + shifted <= high)


def test_a_thousand_classes() -> None:
    found = bound(Similarity.profile("zipf:1.0", 1000), MaxWin(ties="lose"))
    assert 0.112 < found.failure_low < found.failure_high < 0.113
