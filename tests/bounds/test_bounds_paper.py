"""The POLL paper's theorems: the printed constants, the corrected ones, and each erratum."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairsim.bounds import chernoff_above, chernoff_below, lemma_1, paper_sample_size, theorem_3
from pairsim.errors import ParameterError


def binomial_tail(n: int, p: float, counts: range) -> float:
    return math.fsum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in counts)


@given(st.integers(1, 60), st.floats(0.05, 0.95), st.floats(0.01, 1.0))
@settings(derandomize=True, deadline=None, max_examples=100)
def test_chernoff_bounds_hold(n: int, p: float, delta: float) -> None:
    mean = n * p
    below = [k for k in range(n + 1) if k <= (1 - delta) * mean]
    above = [k for k in range(n + 1) if k >= (1 + delta) * mean]
    assert binomial_tail(n, p, range(len(below))) <= chernoff_below(mean, delta) * (1 + 1e-12)
    assert binomial_tail(n, p, range(n + 1 - len(above), n + 1)) <= chernoff_above(mean, delta) * (1 + 1e-12)


def test_chernoff_bounds_are_no_stronger_than_they_are() -> None:
    # negative control: a quarter of the mean would be refuted
    assert binomial_tail(40, 0.5, range(11)) > chernoff_below(20.0, 0.5) ** 4
    assert binomial_tail(40, 0.5, range(30, 41)) > chernoff_above(20.0, 0.5) ** 4


def test_chernoff_keeps_its_digits_for_small_delta() -> None:
    for delta in (9.99e-4, 1.001e-3, 1e-5):
        series = -(delta**2) / 2 + delta**3 / 6 - delta**4 / 12 + delta**5 / 20
        assert math.isclose(math.log(chernoff_above(1e6, delta)), 1e6 * series, rel_tol=1e-9)


def test_theorem_2_prints_234_log_n_plus_2() -> None:
    slope, start = lemma_1(1.8, 2.0, printed=True)
    assert round(slope, 2) == 233.72
    assert start == 2.0
    for n in (16, 512, 1024):
        assert paper_sample_size(n, 1.8, printed=True) == math.ceil(233.7196 * math.log2(n) + 2)
        assert paper_sample_size(n, p=0.9, printed=True) == paper_sample_size(n, 1.8, printed=True)


def log_gamma(alpha: float) -> float:
    return (alpha - 1) / 2 * math.log2(math.e) - (alpha + 1) / 2 * math.log2((alpha + 1) / 2)


@given(st.floats(1.001, 2.0), st.floats(0.1, 5.0), st.integers(3, 10**6))
@settings(derandomize=True, deadline=None, max_examples=100)
def test_corrected_lemma_1_proves_both_halves_and_no_more_than_needed(alpha: float, c: float, n: int) -> None:
    games = n - 1
    slope, start = lemma_1(alpha, c)
    samples = slope * math.log2(games) + start
    half = -c * math.log(games) - math.log(2.0)  # ln of n1**-c / 2
    first = -samples / 2 * ((alpha - 1) / (2 * alpha)) ** 2 / 2  # ln of the bound with s_1 = n1/2
    second = samples / 4 * log_gamma(alpha) * math.log(2.0)  # ln of the bound with s_2 = n1/4
    slack = 1e-6 * abs(half)
    assert first <= half + slack
    assert second <= half + slack
    assert max(first, second) >= half - slack  # one of the two is used up


def test_erratum_the_printed_condition_of_the_second_half_is_void() -> None:
    assert all(log_gamma(alpha) < 0 for alpha in (1.01, 1.3, 1.8, 2.0))


@pytest.mark.parametrize(("log_term", "alpha"), [(1, 1.43), (2, 1.22), (4, 1.106), (8, 1.044), (16, 1.011)])
def test_erratum_the_printed_size_is_too_small_for_small_separations(log_term: float, alpha: float) -> None:
    def covered(separation: float) -> bool:
        slope, start = lemma_1(separation, 1.0)
        printed_slope, printed_start = lemma_1(separation, 1.0, printed=True)
        return printed_slope * log_term + printed_start >= slope * log_term + start

    assert covered(1 + (alpha - 1) * 1.05)
    assert not covered(1 + (alpha - 1) * 0.95)


def test_erratum_theorem_3_promises_less_than_one_in_print() -> None:
    assert math.isclose(theorem_3(10**6, 0.9, 1e-9).separation, 1.8, rel_tol=1e-8)
    assert all(theorem_3(100, p, 0.01, printed=True).separation < 1 for p in (0.6, 0.9, 1.0))


@given(st.integers(2, 40), st.floats(0.51, 1.0), st.floats(0.05, 0.95))
@settings(derandomize=True, deadline=None, max_examples=60)
def test_theorem_3_bounds_both_tails(n: int, p: float, epsilon: float) -> None:
    games = n - 1
    low_first = binomial_tail(games, p, range(math.ceil((1 - epsilon) * p * games - 1e-9)))
    least = math.floor((1 + epsilon) * games / 2) + 1  # a rival's fair games alone, class 0 having beaten it or not
    rival = p * binomial_tail(games - 1, 0.5, range(least, games)) + (1 - p) * binomial_tail(
        games - 1, 0.5, range(least - 1, games)
    )
    assert theorem_3(n, p, epsilon).failure >= min(1.0, max(low_first, rival)) * (1 - 1e-9)


def test_theorem_3_failure_falls_exponentially() -> None:
    small, large = theorem_3(5_000, 0.9, 0.2).failure, theorem_3(10_000, 0.9, 0.2).failure
    assert large < 1e-30
    assert small**2.3 < large < small**2  # the union over n rivals costs a factor n, not the exponent


@pytest.mark.parametrize(
    "call",
    [
        lambda: chernoff_below(0.0, 0.5),
        lambda: chernoff_below(1.0, 1.5),
        lambda: chernoff_above(1.0, -1.0),
        lambda: lemma_1(1.0),
        lambda: lemma_1(1.5, math.inf),
        lambda: paper_sample_size(1, 1.8),
        lambda: paper_sample_size(8),
        lambda: paper_sample_size(8, 1.8, p=0.9),
        lambda: paper_sample_size(8, p=0.5),
        lambda: theorem_3(8, 0.9, 1.0),
        lambda: theorem_3(8, "x", 0.5),  # type: ignore[arg-type]
    ],
)
def test_bad_parameters_are_refused_in_one_line(call: object) -> None:
    with pytest.raises(ParameterError, match=r"^The '\w+' parameter of \w+ must be .* instead\.$"):
        call()  # type: ignore[operator]
