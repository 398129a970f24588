"""The bounds under uniform-p: every interval holds the exact value, and is as narrow as promised."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from exact_failures import tournament_scores, uniform_failure
from hypothesis import given, settings
from hypothesis import strategies as st

from pairsim import MaxWin, Poll, Uniform, simulate
from pairsim.bounds import bound, certified_sample_size
from pairsim.bounds.uniform_max_win import max_win_failure
from pairsim.bounds.uniform_poll import poll_failure
from pairsim.stats import binomial_interval

TIES = ("lose", "random", "first")
FALSE_ALARM = 1e-9  # a comparison with a simulation; there are fewer than 100, so one in ten million runs rings falsely


def holds(interval: tuple[float, float], exact: Fraction | float) -> bool:
    return interval[0] <= exact <= interval[1]


# --- against exact values --------------------------------------------------------------------------------------------


@given(st.integers(2, 8), st.integers(0, 64), st.sampled_from(TIES))
@settings(derandomize=True, deadline=None, max_examples=60)
def test_max_win_is_exact_for_few_classes(n: int, p: int, ties: str) -> None:
    exact = uniform_failure(n, Fraction(p, 64), ties)
    found = max_win_failure(n, p / 64, ties)
    assert holds(found, exact)
    assert found[1] - found[0] < 1e-5  # eight classes and fewer: all moments are known


@given(st.integers(9, 11), st.integers(20, 64), st.sampled_from(TIES))
@settings(derandomize=True, deadline=None, max_examples=8)
def test_max_win_holds_the_exact_value_beyond_the_known_moments(n: int, p: int, ties: str) -> None:
    found = max_win_failure(n, p / 64, ties)
    assert holds(found, uniform_failure(n, Fraction(p, 64), ties))
    assert found[1] - found[0] < 2e-3


@given(st.integers(2, 6), st.integers(0, 16), st.integers(1, 4), st.sampled_from(TIES))
@settings(derandomize=True, deadline=None, max_examples=30)
def test_poll_is_exact_for_few_classes(n: int, p: int, samples: int, ties: str) -> None:
    found = poll_failure(n, p / 16, samples, ties)
    assert holds(found, uniform_failure(n, Fraction(p, 16), ties, samples))
    assert found[1] - found[0] < 1e-5


@pytest.mark.parametrize(("p", "samples", "ties"), [(0.75, 3, "lose"), (0.9, 4, "random"), (0.6, 2, "first")])
def test_poll_holds_the_exact_value_beyond_the_known_moments(p: float, samples: int, ties: str) -> None:
    found = poll_failure(9, p, samples, ties)
    assert holds(found, uniform_failure(9, p, ties, samples))
    assert found[1] - found[0] < 2e-3


# --- negative controls: three bounds that are not bounds -------------------------------------------------------------


def rival_law(rivals: int) -> list[tuple[tuple[int, ...], float]]:
    total = 2.0 ** math.comb(rivals, 2)
    return [(scores, count / total) for scores, count in tournament_scores(rivals).items()]


def number_ahead(score: int, rivals: int) -> np.ndarray:
    """Return the law of how many rivals reach `score`, class 0 having lost no game to any of them."""
    law = np.zeros(rivals + 1)
    for scores, weight in rival_law(rivals):
        law[sum(s >= score for s in scores)] += weight
    return law


def test_wrong_bounds_are_caught() -> None:
    law = number_ahead(6, 9)
    exact = 1.0 - law[0]
    counts = np.arange(10)
    moments = [float(law @ [math.comb(k, i) for k in counts]) for i in range(4)]
    product = 1.0 - (1.0 - moments[1] / 9) ** 9
    assert product < exact  # a lower bound, by negative association: as an upper bound it would be refuted here
    assert not holds((0.0, product), exact)
    assert not holds((0.0, moments[1] - moments[2]), exact)  # Bonferroni of even order is a lower bound too
    assert not holds((moments[1] - moments[2] + moments[3], 1.0), exact)  # and of odd order an upper one


def test_an_interval_for_another_probability_is_refuted() -> None:
    exact = uniform_failure(8, Fraction(45, 64), "lose")
    assert not holds(max_win_failure(8, 45.01 / 64, "lose"), exact)
    assert not holds(max_win_failure(8, 45 / 64, "random"), exact)


# --- tiny failures ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("samples", [10, 100, 900])
def test_tiny_poll_failures_are_numbers(samples: int) -> None:
    # three classes, p = 1: class 0 shows `samples` for sure, and one rival has one win of two games
    exact = 0.5**samples
    for ties, share in (("lose", 1.0), ("random", 0.5)):
        low, high = poll_failure(3, 1.0, samples, ties)
        assert low <= share * exact <= high
        assert high <= share * exact * (1 + 1e-8)


def first_order(n: int, p: Fraction) -> Fraction:
    """Return the expected number of rivals that score at least as much as class 0."""
    rivals = n - 1
    tails = [Fraction(0)] * (rivals + 2)
    for s in range(rivals - 1, -1, -1):
        tails[s] = tails[s + 1] + Fraction(math.comb(rivals - 1, s), 2 ** (rivals - 1))
    total = Fraction(0)
    for a in range(rivals + 1):
        beat = rivals - a
        ahead = a * tails[a] + beat * tails[max(0, a - 1)]
        total += math.comb(rivals, a) * p**a * (1 - p) ** beat * ahead
    return total


@pytest.mark.parametrize(("n", "p"), [(320, 0.9), (128, 1 - 2.0**-10)])
def test_tiny_max_win_failures_match_fractions(n: int, p: float) -> None:
    union = float(first_order(n, Fraction(p)))
    low, high = max_win_failure(n, p, "lose")
    assert union < 1e-28
    assert low <= union * (1 + 1e-9)
    assert math.isclose(high, union, rel_tol=1e-6)
    assert math.isclose(low, union, rel_tol=1e-6)


def test_what_underflows_is_bounded_by_the_smallest_number_and_certainty_by_zero() -> None:
    assert max_win_failure(1_000_000, 0.9, "lose") == (0.0, 1e-290)
    assert max_win_failure(50, 1.0, "random") == (0.0, 0.0)
    low, high = max_win_failure(50, 0.0, "first")
    assert 1 - 1e-8 < low <= high == 1.0


# --- against simulation ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize(("n", "p"), [(16, 0.7), (40, 0.7), (40, 0.6)])
def test_simulation_never_crosses_a_bound(n: int, p: float, ties: str) -> None:
    trials = 20_000
    decoders = [MaxWin(ties=ties), Poll(12, ties=ties)]
    for decoder, estimate in zip(decoders, simulate(Uniform(n, p), decoders, trials, seed=n), strict=True):
        found = bound(Uniform(n, p), decoder)
        low, high = binomial_interval(round((1 - estimate.success) * trials), trials, 1 - FALSE_ALARM)
        assert low <= found.failure_high
        assert found.failure_low <= high
        shifted = 0.1 if found.failure_low < 0.5 else -0.1  # negative control: a bound that is off would be crossed
        assert not (low <= found.failure_high + shifted and found.failure_low + shifted <= high)


# --- the promises ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ties", TIES)
def test_max_win_is_known_to_two_thousandths_at_p_070(ties: str) -> None:
    for n in (*range(16, 65, 4), 72, 96, 128, 256, 512, 4096):
        low, high = max_win_failure(n, 0.7, ties)
        assert high - low < 2e-3, n


@pytest.mark.parametrize(
    ("n", "p", "samples"),
    [
        (64, 0.9, 46),
        (256, 0.9, 47),
        (512, 0.9, 51),
        (1024, 0.9, 55),
        (256, 0.7, 800),
        (512, 0.7, 407),
        (1024, 0.7, 347),
    ],
)
def test_the_certified_sample_size_cannot_be_made_smaller(n: int, p: float, samples: int) -> None:
    found = certified_sample_size(n, p, ties="lose")
    assert found.l == samples
    assert found.failure_high <= 1 / n
    assert poll_failure(n, p, samples - 1, "lose")[0] > 1 / n  # one opponent less provably fails more often


def test_a_million_classes() -> None:
    low, high = max_win_failure(1_000_000, 0.503, "lose")
    assert 0.134 < low < high < 0.136
    low, high = poll_failure(1_000_000, 0.9, 113, "lose")
    assert 8.3e-7 < low < high < 8.32e-7


@given(st.integers(2, 400), st.floats(0.0, 1.0), st.integers(1, 60))
@settings(derandomize=True, deadline=None, max_examples=60)
def test_intervals_are_narrow_and_tie_rules_are_ordered(n: int, p: float, samples: int) -> None:
    for found in ([max_win_failure(n, p, ties) for ties in TIES], [poll_failure(n, p, samples, ties) for ties in TIES]):
        assert all(0.0 <= low <= high <= 1.0 for low, high in found)
        assert all(high - low < 0.01 for low, high in found)
        (lose_low, lose_high), (random_low, random_high), (first_low, _) = found
        assert random_low <= lose_high
        assert first_low <= random_high
        assert lose_low >= first_low * (1 - 1e-8)
