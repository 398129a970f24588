"""Ranks over data sets: scipy's own test, the table of the SBC paper, and laws."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import friedmanchisquare, rankdata

from pairsim import ParameterError
from pairsim.evaluation.pictures import plot_reductions
from pairsim.evaluation.ranks import _least_p_value, alike_groups, average_ranks, plot_ranks, ranks_of
from pairsim.evaluation.rows import Row

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
    found = average_ranks(errors, list("abcd"))
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
    same = average_ranks(np.ones((5, 3)), list("abc"))
    assert (same.friedman, same.p_value) == (0.0, 1.0)
    clear = average_ranks(np.tile([1.0, 2, 3], (5, 1)), list("abc"))
    assert clear.iman_davenport == math.inf
    assert clear.p_value == pytest.approx(6.0**-4)  # four sets have the order of the fifth by luck


def naive_p_value(errors: np.ndarray) -> float:
    """Return the share of all shuffles within the sets whose rank sums are spread as widely as these."""
    rows = [rankdata(row).tolist() for row in errors]

    def spread(ranks: Sequence[Sequence[float]]) -> float:
        return sum(sum(column) ** 2 for column in zip(*ranks, strict=True))

    shuffled = [spread(ranks) for ranks in itertools.product(*(set(itertools.permutations(row)) for row in rows))]
    return sum(each >= spread(rows) - 1e-9 for each in shuffled) / len(shuffled)


@pytest.mark.parametrize("sets", [2, 3, 4])
@pytest.mark.parametrize("row", [[1.0, 2.0], [1.0, 2.0, 3.0], [1.0, 1.0, 2.0], [1.0, 2.0, 2.0, 3.0]])
def test_full_agreement_has_the_p_value_of_all_shuffles(sets: int, row: list[float]) -> None:
    errors = np.tile(row, (sets, 1))
    found = average_ranks(errors, list("abcd")[: len(row)])
    assert found.iman_davenport == math.inf
    assert found.p_value == pytest.approx(naive_p_value(errors))


@settings(max_examples=60, deadline=None)
@given(sets=st.integers(2, 4), methods=st.integers(2, 3), seed=st.integers(0, 10**6))
def test_no_p_value_is_smaller_than_any_shuffle_could_give(sets: int, methods: int, seed: int) -> None:
    errors = np.random.default_rng(seed).integers(0, 3, (sets, methods)).astype(float)
    assert _least_p_value(rankdata(errors, axis=1)) <= naive_p_value(errors) + 1e-12


TEXTS = ("estimator", "decoder", "scaling", "tuning", "chosen")


def row_of(data: str, reduction: str, accuracy: float, seed: int = 0, split: str = "3 folds, seed 0") -> Row:
    numbers = dict.fromkeys(Row._fields, math.nan) | {"n": 3, "rows": 150, "seed": seed, "accuracy": accuracy}
    return Row(**numbers | {"data": data, "reduction": reduction, "split": split} | dict.fromkeys(TEXTS, ""))


def test_seeds_of_one_set_are_no_data_sets() -> None:
    """Six seeds of one set were six sets, and p = 0 was said of two methods."""
    rows = [row_of("iris", name, 0.9 + 0.01 * (name == "b"), seed) for seed in range(6) for name in "ab"]
    assert ranks_of(rows) is None
    assert average_ranks([[0.1, 0.09]] * 6, list("ab")).iman_davenport == math.inf  # what was said
    rows += [row_of("wine", "a", 0.8), row_of("wine", "b", 0.7)]
    found = ranks_of(rows)
    assert found is not None
    assert (found.sets, found.ranks.tolist()) == (2, [1.5, 1.5])


def test_a_set_has_the_mean_of_its_runs() -> None:
    """By most of its seeds a is better, by their mean b is."""
    rows = [row_of("iris", "a", each, seed) for seed, each in enumerate((0.9, 0.9, 0.3))]
    rows += [row_of("iris", "b", 0.8, seed) for seed in range(3)]
    rows += [row_of("wine", "a", 0.8), row_of("wine", "b", 0.7), row_of("wine", "c", 0.1)]
    rows += [row_of("wine", "a", 0.8, split="10 folds, seed 0"), row_of("wine", "b", 0.7, split="10 folds, seed 0")]
    found = ranks_of(rows)
    assert found is not None
    assert (found.methods, found.sets, found.ranks.tolist()) == (("a", "b"), 2, [1.5, 1.5])
    tied = [row_of("s", "a", each, seed) for seed, each in enumerate((0.1, 0.2, 0.3))]
    tied += [row_of("s", "b", each, seed) for seed, each in enumerate((0.3, 0.1, 0.2))]
    found = ranks_of([*tied, row_of("t", "a", 0.5), row_of("t", "b", 0.4)])
    assert found is not None
    assert found.ranks.tolist() == [1.25, 1.75]  # equal means share their ranks, whatever the order of the sum


def test_the_table_says_why_nothing_is_tested(tmp_path: Path, pairsim_command: Callable[..., Any]) -> None:
    pytest.importorskip("sklearn")
    reductions = ("--reduction", "vector-svm", "--reduction", "perceptron", "--folds", "3", "--jobs", "1")
    for seed in (0, 1):
        done = pairsim_command("evaluate", "--data", "iris", *reductions, "--seed", seed, "--store", tmp_path / "r.db")
        assert done.code == 0, done.err
    shown = pairsim_command("show", tmp_path / "r.db")
    assert "no test of the ranks: Friedman's takes two data sets or more" in shown.out
    assert "Iman-Davenport" not in shown.out
    alone = pairsim_command("evaluate", "--data", "iris", *reductions[:2], *reductions[4:])
    assert "test of the ranks" not in alone.out


def test_the_diagram_of_ranks_is_drawn_where_there_is_a_test() -> None:
    rows = [row_of("iris", name, 0.9, seed)._replace(low=0.8, high=1.0) for seed in range(3) for name in "ab"]
    frame = pd.DataFrame(rows)
    assert len(plot_reductions(frame).axes) == 1
    both = pd.concat([frame, frame.assign(data="wine")], ignore_index=True)
    _, diagram = plot_reductions(both).axes
    assert diagram.get_xlabel() == "average rank (2 data sets)"


@pytest.mark.parametrize("errors", [np.ones((1, 3)), np.ones((3, 1)), np.ones((3, 2))])
def test_too_little_is_refused(errors: np.ndarray) -> None:
    with pytest.raises(ParameterError, match="errors"):
        average_ranks(errors, list("abc")[: errors.shape[1]] if errors.shape != (3, 2) else list("abc"))


def test_the_picture_names_every_method() -> None:
    ax = plot_ranks(average_ranks(PRINTED, METHODS))
    shown = " ".join(text.get_text() for text in ax.texts)
    assert all(name in shown for name in METHODS)
    assert "critical difference" in shown
