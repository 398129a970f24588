"""Intervals of conditional estimates: they cover as often as they say, at every confidence that users ask for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from pairsim import MaxWin, Uniform, simulate, stats
from pairsim.bounds import bound
from pairsim.stats import Moments, binomial_interval, bounded_interval, error_of_width

REPEATS = 3000
FALSE_ALARM = 1e-6  # of one comparison of a number of misses with its binomial distribution
POINTS = st.lists(st.floats(0, 1), min_size=2, max_size=30)
CONFIDENCES = st.sampled_from([0.5, 0.9, 0.95, 0.950001, 0.99, 0.999, 1 - 1e-9])


def moments(points: list[float]) -> Moments:
    total = Moments()
    for point in points:
        total = total.plus(Moments(1, point))
    return total


def covers(oracle: Uniform, trials: int, confidence: float) -> bool:
    """Say whether the intervals of many small runs miss the true value no more often than they may."""
    known = bound(oracle, MaxWin())
    assert known.failure_high - known.failure_low < 0.01 * known.failure_low
    low, high = 1.0 - known.failure_high, 1.0 - known.failure_low
    runs = [simulate(oracle, MaxWin(), trials, seed, confidence, threads=1) for seed in range(REPEATS)]
    assert {run.method for run in runs} == {"conditional"}
    missed = sum(run.high < low or run.low > high for run in runs)
    return bool(binom.sf(missed - 1, REPEATS, 1.0 - confidence) > FALSE_ALARM)


@pytest.mark.parametrize("confidence", [0.99, 0.999])
def test_rare_failures_are_covered_as_often_as_is_said(confidence: float) -> None:
    """Failures with a mean of 6e-5, most of it from one trial in 10,000: a sample seldom shows its own spread."""
    assert covers(Uniform(32, 0.95), 1000, confidence)


def test_three_moments_alone_would_not_cover(monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: the limits as they are up to 95% miss too often at 99.9%."""
    monkeypatch.setattr(stats, "PEARSON_CONFIDENCE", 1.0)
    assert not covers(Uniform(32, 0.95), 1000, 0.999)


def test_up_to_95_percent_the_limits_are_those_of_three_moments(monkeypatch: pytest.MonkeyPatch) -> None:
    sample = moments([1e-6] * 990 + [0.003] * 9 + [0.05])
    before = bounded_interval(sample, 0.95)
    monkeypatch.setattr(stats, "PEARSON_CONFIDENCE", 1.0)
    assert bounded_interval(sample, 0.95) == before
    assert bounded_interval(sample, 0.99)[0] > before[0] / 2  # which is too high: hence the other limit
    monkeypatch.undo()
    assert bounded_interval(sample, 0.99)[0] < before[0] / 2


@settings(derandomize=True, deadline=None, max_examples=200)
@given(POINTS, CONFIDENCES, CONFIDENCES)
def test_limits_widen_with_confidence_and_mirror_each_other(points: list[float], one: float, two: float) -> None:
    sample = moments(points)
    narrow, wide = (bounded_interval(sample, confidence) for confidence in sorted((one, two)))
    slack = 1e-12
    assert 0.0 <= wide[0] <= narrow[0] + slack <= sample.mean + 2 * slack
    assert 1.0 >= wide[1] >= narrow[1] - slack >= sample.mean - 2 * slack
    mirrored = bounded_interval(moments([1.0 - point for point in points]), one)
    expected = bounded_interval(sample, one)
    assert mirrored == pytest.approx((1.0 - expected[1], 1.0 - expected[0]), abs=1e-6)


@pytest.mark.parametrize("confidence", [0.99, 0.999])
@pytest.mark.parametrize("ones", [0, 1, 3, 50, 99, 100])
def test_on_counts_a_limit_is_at_least_clopper_and_pearsons(ones: int, confidence: float) -> None:
    low, high = bounded_interval(moments([1.0] * ones + [0.0] * (100 - ones)), confidence)
    exact_low, exact_high = binomial_interval(ones, 100, confidence)
    assert low <= exact_low + 1e-12
    assert high >= exact_high - 1e-12
    assert high - low < 1.15 * (exact_high - exact_low)


@pytest.mark.parametrize("name", ["rare", "even", "steps", "many small"])
def test_no_sample_with_the_same_moments_has_a_farther_limit(name: str) -> None:
    """Gaffke's own limit by drawing the weights: at most `tail` of the weighted means lie below ours."""
    rng = np.random.default_rng(5)
    points = {
        "rare": np.r_[np.full(197, 1e-4), 0.02, 0.3, 0.9],
        "even": rng.random(200),
        "steps": np.repeat([0.0, 0.1, 0.2, 0.6], 50),
        "many small": rng.random(200) ** 8,
    }[name]
    tail, draws = 0.005, 40_000
    low = stats._farthest_limit(200, float(points.mean()), float(((points - points.mean()) ** 2).sum()), tail)
    weights = rng.exponential(size=(draws, 201))
    means = weights[:, :200] @ points / weights.sum(axis=1)
    below = int((means <= low).sum())
    assert binom.sf(below - 1, draws, tail) > FALSE_ALARM
    farther = int((means <= low * 1.5 + 1e-9).sum())
    assert farther > below  # the limit is among the drawn means, not far below all of them


def test_the_standard_error_of_a_failure_that_was_hardly_seen_is_that_of_its_interval() -> None:
    few = simulate(Uniform(32, 0.95), MaxWin(), 1000)
    assert few.failure * few.trials < 1.0
    assert few.standard_error == pytest.approx(error_of_width(few.high - few.low, 0.95))
    assert abs(few.failure - bound(Uniform(32, 0.95), MaxWin()).failure_high) < 2 * few.standard_error
    many = simulate(Uniform(32, 0.8), MaxWin(), 1000)
    assert many.failure * many.trials > 1.0
    assert 0.0 < many.standard_error < error_of_width(many.high - many.low, 0.95) * 1.2
    assert math.isclose(error_of_width(2 * 1.959963984540054, 0.95), 1.0)
