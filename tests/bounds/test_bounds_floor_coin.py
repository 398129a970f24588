"""The value of the best sequential test, against a naive twin and against real tests."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairsim.bounds.fair_coin import Thresholds, value_of_testing


def naive_value(p: float, toss: float, mu: float, longest: int) -> float:
    """Return V by the recursion of its definition, over all sequences of tosses, without any interval."""

    @functools.cache
    def value(heads: int, tails: int) -> float:
        ratio = (2.0 * p) ** heads * (2.0 * (1.0 - p)) ** tails
        found = max(ratio - mu, 0.0)
        if heads + tails < longest:
            found = max(found, 0.5 * (value(heads + 1, tails) + value(heads, tails + 1)) - toss)
        return found

    return value(0, 0)


def value(p: float, at: Thresholds, last: int, exact: bool) -> float:
    up, down = math.log(2.0 * p), -math.log(2.0 * (1.0 - p))
    toss = at.kappa * 0.5 * (down - up)
    return float(value_of_testing(up, down, at.low, at.high, at.kappa, at.mu, toss, last, exact))


CASES = {
    "p": st.floats(0.52, 0.99),
    "low": st.floats(-12.0, 0.5).map(math.exp),
    "ratio": st.floats(0.01, 12.0).map(math.exp),
    "last": st.integers(0, 40),
}


@settings(deadline=None, derandomize=True)
@given(**CASES)
def test_it_is_the_value_by_definition(p: float, low: float, ratio: float, last: int) -> None:
    at = Thresholds(low, low * ratio)
    toss = -at.kappa * 0.5 * math.log(4.0 * p * (1.0 - p))
    assert value(p, at, last, True) == pytest.approx(naive_value(p, toss, at.mu, last), rel=1e-10, abs=1e-12)


@settings(deadline=None, derandomize=True)
@given(**CASES)
def test_starting_with_the_relaxation_bounds_any_longer_test(p: float, low: float, ratio: float, last: int) -> None:
    at = Thresholds(low, low * ratio)
    bounds = [value(p, at, start, False) for start in (0, last, last + 5)]
    assert all(upper >= value(p, at, longest, True) - 1e-12 for upper in bounds for longest in (last, last + 60))
    assert bounds[0] >= bounds[1] - 1e-12 >= bounds[2] - 2e-12  # and later starts only better it


def test_no_test_is_worth_more() -> None:
    """Random tests of up to six tosses, by enumeration; one of them is worth nearly as much."""
    p, at, longest = 0.8, Thresholds(0.3, 4.0), 6
    toss = -at.kappa * 0.5 * math.log(4.0 * p * (1.0 - p))
    best, rng = value(p, at, longest, True), np.random.default_rng(1)
    worths = []
    for _ in range(300):
        low, high = np.exp(rng.uniform(-2, 0)), np.exp(rng.uniform(0, 2.5))

        def worth(ratio: float, left: int, low: float = low, high: float = high) -> float:
            if left == 0 or not low < ratio < high:
                return ratio - at.mu if ratio > rng.uniform(0.8, 1.2) * at.mu else 0.0
            return 0.5 * (worth(2 * p * ratio, left - 1) + worth(2 * (1 - p) * ratio, left - 1)) - toss

        worths.append(worth(1.0, longest))
    assert best - 0.02 < max(worths) <= best + 1e-12
