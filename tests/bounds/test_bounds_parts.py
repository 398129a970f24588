"""The parts that the certified bounds are built from, each against its definition."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pairsim.bounds.binomial import RELATIVE_SLACK, binomial_window, fill_tails
from pairsim.bounds.cells import cell_rules, fill_moments
from pairsim.bounds.counting import counting_polynomials, family
from pairsim.bounds.joint_scores import ORDER, joint_scores, slot_of
from pairsim.bounds.tie_rules import tie_nodes


@given(st.integers(1, 200), st.integers(0, 64))
@settings(derandomize=True, deadline=None, max_examples=60)
def test_binomial_laws_are_right_in_every_term(n: int, p: int) -> None:
    first, pmf = binomial_window(n, float(p), float(64 - p))
    tails = np.full(n + 2, np.nan)
    fill_tails(n, float(p), float(64 - p), tails)
    probability = Fraction(p, 64)
    above = Fraction(0)
    for k in range(n, -1, -1):
        exact = math.comb(n, k) * probability**k * (1 - probability) ** (n - k)
        above += exact
        found = pmf[k - first] if first <= k < first + pmf.size else 0.0
        assert math.isclose(found, exact, rel_tol=1e-12, abs_tol=1e-295)
        assert math.isclose(tails[k], above, rel_tol=1e-12, abs_tol=1e-295)
    assert tails[n + 1] == 0.0


def test_binomial_laws_keep_their_digits_over_many_games() -> None:
    n = 100_000
    first, pmf = binomial_window(n, 1.0, 1.0)
    for k in (50_000, 50_500, 52_000, 44_500):
        exact = Fraction(math.comb(n, k), 1 << n)
        assert math.isclose(pmf[k - first], exact, rel_tol=RELATIVE_SLACK / 100)
    assert first > 0
    assert abs(pmf.sum() - 1.0) < 1e-10


@pytest.mark.parametrize(("order", "beat"), [(2, 1), (3, 0), (4, 2), (5, 4)])
def test_the_table_of_joint_scores_is_every_small_tournament(order: int, beat: int) -> None:
    g = np.random.default_rng(5).random(order + 1)
    pairs = list(itertools.combinations(range(order), 2))
    total = 0.0
    for outcome in itertools.product((0, 1), repeat=len(pairs)):
        places = [int(i < beat) for i in range(order)]
        for (i, j), low_wins in zip(pairs, outcome, strict=True):
            places[i if low_wins else j] += 1
        total += math.prod(g[places])
    table = joint_scores()
    rows = table.slot == slot_of(order, beat)
    found = float(table.weight[rows] @ g[table.places[rows, :order]].prod(axis=1))
    assert math.isclose(found, total / 2 ** len(pairs), rel_tol=1e-13)


def test_weights_of_joint_scores_are_probabilities() -> None:
    table = joint_scores()
    for order in range(1, ORDER + 1):
        for beat in range(order + 1):
            assert table.weight[table.slot == slot_of(order, beat)].sum() == 1.0


def test_moments_of_indicators_are_exact_tournament_counts() -> None:
    # four rivals, none of which beat class 0: the probability that r given ones all win at least two of their three
    # games
    rivals, order = 4, 4
    rules = cell_rules(rivals)
    ahead = np.array([float(k >= 2) for k in range(order + 1)])  # no opponent is left outside a group of four
    moments = np.empty(order * (order + 3) // 2)
    fill_moments(ahead, rules, moments)
    pairs = list(itertools.combinations(range(rivals), 2))
    hits = np.zeros(order + 1)
    for outcome in itertools.product((0, 1), repeat=len(pairs)):
        scores = [0] * rivals
        for (i, j), low_wins in zip(pairs, outcome, strict=True):
            scores[i if low_wins else j] += 1
        for r in range(1, order + 1):
            hits[r] += all(score >= 2 for score in scores[:r])
    for r in range(1, order + 1):
        assert moments[slot_of(r, 0)] == hits[r] / 2 ** len(pairs)


def values_at(coefficients: NDArray[np.float64], count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return 1 - q at a whole count, one a row, and how far rounding may have moved it."""
    choices = np.array([math.comb(count, i + 1) for i in range(coefficients.shape[1])], dtype=np.float64)
    return coefficients @ choices, 1e-12 * (np.abs(coefficients) @ choices)


@pytest.mark.parametrize("m", [1, 2, 3, 6, 7, 8, 15, 63])
def test_counting_polynomials_stay_on_their_side(m: int) -> None:
    order = min(ORDER, m)
    for count in range(m + 1):
        value, error = values_at(family(m, order, "high"), count)
        assert (value >= min(count, 1) - error).all()
        value, error = values_at(family(m, order, "low"), count)
        assert (value <= min(count, 1) + error).all()


def test_the_check_of_sides_sees_a_polynomial_on_the_wrong_one() -> None:
    value, error = values_at(family(8, 7, "low"), 8)
    assert not (value >= 1.0 - error).all()
    value, error = values_at(family(8, 7, "high"), 8)
    assert not (value <= 1.0 + error).all()


@pytest.mark.parametrize("m", [1, 4, 7])
def test_all_moments_together_are_exact(m: int) -> None:
    for rows in counting_polynomials(m, m):
        for count in range(1, m + 1):
            assert np.abs(values_at(rows, count)[0] - 1.0).min() < 1e-12


@given(st.lists(st.integers(0, 64), min_size=1, max_size=40), st.sampled_from([1.0, 7.0, 300.0]))
@settings(derandomize=True, deadline=None, max_examples=50)
def test_a_fair_draw_lies_between_its_two_quadratures(weights: list[int], tied: float) -> None:
    # Q(x) = sum of weights[t] x**t: what a tie of t rivals is worth under a fair draw is 1 / (1 + t)
    exact = sum(weight / (1 + level) for level, weight in enumerate(weights))
    for coarse in (False, True):
        nodes = tie_nodes("random", tied, coarse=coarse)
        values = [sum(weight * node.x**level for level, weight in enumerate(weights)) for node in nodes]
        below = sum(node.high * value for node, value in zip(nodes, values, strict=True))  # of success: failure high
        above = sum(node.low * value for node, value in zip(nodes, values, strict=True))
        assert below <= exact * (1 + 1e-12)
        assert above >= exact * (1 - 1e-12)
        assert math.isclose(sum(node.high for node in nodes), 1.0)
        assert math.isclose(sum(node.low for node in nodes), 1.0)


def test_the_quadratures_do_not_merely_agree() -> None:
    nodes = tie_nodes("random", coarse=True)
    assert sum(node.high * node.x**6 for node in nodes) < 1 / 7 < sum(node.low * node.x**6 for node in nodes)


def test_more_pieces_are_sharper() -> None:
    def gap(tied: float) -> float:
        return sum((node.low - node.high) * node.x**500 for node in tie_nodes("random", tied))

    assert gap(1.0) > 0.05
    assert 0.0 < gap(500.0) < 1e-4
