"""Ranks over data sets: scipy's own test, the table of the SBC paper, and laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import friedmanchisquare

from pairsim import ParameterError
from pairsim.evaluation.ranks import alike_groups, average_ranks, plot_ranks

METHODS = ("OVA", "AP", "ECOC", "SBC-ECOC", "SBC-SINGLE", "SBC-IDENTITY", "SBC-KERNEL")
PRINTED = np.array(  # errors of the SBC paper's table 2
    [
        [21.33, 24.00, 6.00, 4.00, 66.67, 6.00, 4.00],
        [5.88, 4.71, 1.76, 3.53, 65.29, 2.35, 2.94],
        [5.71, 5.71, 28.57, 5.71, 28.57, 3.80, 3.30],
        [53.33, 52.00, 67.33, 53.33, 67.33, 67.33, 40.00],
        [40.00, 55.00, 80.00, 40.00, 80.00, 40.00, 40.00],
        [28.89, 30.00, 30.00, 28.89, 30.00, 30.00, 32.22],
        [22.42, 22.74, 92.26, 22.42, 92.26, 8.06, 3.39],
        [25.48, 25.00, 20.48, 20.48, 76.55, 20.95, 13.10],
        [1.10, 0.76, 4.36, 3.90, 5.64, 4.36, 0.41],
        [3.33, 4.64, 3.20, 3.42, 3.51, 3.18, 2.96],
    ]
)
tables = st.tuples(st.integers(3, 8), st.integers(3, 6), st.integers(0, 10**6))


def table_of(shape: tuple[int, int, int], levels: int = 1000) -> np.ndarray:
    sets, methods, seed = shape
    return np.random.default_rng(seed).integers(0, levels, (sets, methods)).astype(float)


def test_the_printed_table() -> None:
    found = average_ranks(PRINTED, METHODS, confidence=0.9)
    assert found.ranks.round(2).tolist() == [3.9, 4.55, 4.55, 3.2, 6.4, 3.4, 2.0]
    assert found.control_difference == pytest.approx(2.31, abs=0.01)
    assert found.p_value < 1e-3


def test_without_ties_the_textbook_formula() -> None:
    errors = np.array([[1.0, 2, 3, 4], [2, 1, 3, 4], [1, 3, 2, 4], [1, 2, 4, 3], [1, 2, 3, 4]])
    found = average_ranks(errors, "abcd")
    k, n = 4, 5
    chi = 12 * n / (k * (k + 1)) * ((found.ranks**2).sum() - k * (k + 1) ** 2 / 4)
    assert found.friedman == pytest.approx(chi)
    assert found.iman_davenport == pytest.approx((n - 1) * chi / (n * (k - 1) - chi))
    assert found.critical_difference == pytest.approx(2.569 * math.sqrt(k * (k + 1) / (6 * n)), abs=2e-3)  # Demsar 2006


@settings(max_examples=50, deadline=None)
@given(shape=tables, levels=st.sampled_from([3, 1000]))
def test_scipy_says_the_same(shape: tuple[int, int, int], levels: int) -> None:
    errors = table_of(shape, levels)
    if (errors == errors[:, :1]).all():
        return
    found = average_ranks(errors, [str(k) for k in range(errors.shape[1])])
    assert found.friedman == pytest.approx(friedmanchisquare(*errors.T).statistic)
    assert found.ranks.sum() == pytest.approx(sum(range(1, errors.shape[1] + 1)))


@settings(max_examples=50, deadline=None)
@given(shape=tables)
def test_order_of_sets_and_methods_does_not_matter(shape: tuple[int, int, int]) -> None:
    errors = table_of(shape)
    names = [str(k) for k in range(errors.shape[1])]
    found, turned = average_ranks(errors, names), average_ranks(errors[::-1, ::-1], names[::-1])
    assert turned.ranks[::-1] == pytest.approx(found.ranks)
    assert turned.p_value == pytest.approx(found.p_value)


@settings(max_examples=50, deadline=None)
@given(shape=tables)
def test_groups_hold_those_that_are_not_told_apart(shape: tuple[int, int, int]) -> None:
    found = average_ranks(table_of(shape), [str(k) for k in range(shape[1])])
    ordered = np.sort(found.ranks)
    together = np.zeros((len(ordered), len(ordered)), bool)
    for first, last in alike_groups(found):
        together[first : last + 1, first : last + 1] = True
    near = np.abs(ordered[:, None] - ordered[None, :]) < found.critical_difference
    np.fill_diagonal(near, False)
    np.fill_diagonal(together, False)
    assert (near == together).all()


def test_all_alike_and_all_clear() -> None:
    same = average_ranks(np.ones((5, 3)), "abc")
    assert (same.friedman, same.p_value) == (0.0, 1.0)
    clear = average_ranks(np.tile([1.0, 2, 3], (5, 1)), "abc")
    assert (clear.iman_davenport, clear.p_value) == (math.inf, 0.0)


@pytest.mark.parametrize("errors", [np.ones((1, 3)), np.ones((3, 1)), np.ones((3, 2))])
def test_too_little_is_refused(errors: np.ndarray) -> None:
    with pytest.raises(ParameterError, match="errors"):
        average_ranks(errors, "abc"[: errors.shape[1]] if errors.shape != (3, 2) else "abc")


def test_the_picture_names_every_method() -> None:
    ax = plot_ranks(average_ranks(PRINTED, METHODS))
    shown = " ".join(text.get_text() for text in ax.texts)
    assert all(name in shown for name in METHODS)
    assert "critical difference" in shown
