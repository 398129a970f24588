"""The experiment on perceptrons and machines of Crammer and Singer: its sets, its models, and rows without a goal."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn")

from sklearn.datasets import load_iris

from experiments import linear_errors, results_table
from experiments.reduction_sets import standardised
from pairsim.learn import CrammerSingerSVC

ROWS, NUMBERS = load_iris(return_X_y=True)


def write_set(folder, name, rows, numbers):
    table = pd.DataFrame(rows, columns=[f"x{k}" for k in range(rows.shape[1])])
    table.assign(target=numbers).to_csv(folder / f"{name}.csv.gz", index=False)


def test_parts_of_a_set_are_one(tmp_path, monkeypatch):
    monkeypatch.setenv("PAIRSIM_DATA", str(tmp_path))
    write_set(tmp_path, "segment-train", ROWS[:90], NUMBERS[:90])
    write_set(tmp_path, "segment-test", ROWS[90:], NUMBERS[90:])
    rows, numbers = linear_errors.whole_set("segment")
    assert rows == pytest.approx(ROWS)
    assert (numbers == NUMBERS).all()


@pytest.mark.parametrize("method", linear_errors.METHODS)
def test_errors_are_those_of_good_classifiers(method):
    errors = linear_errors.cross_errors(linear_errors.METHODS[method], ROWS, NUMBERS, 0)
    assert errors.shape == (1 if method.startswith("perceptron") else 3,)
    assert errors.min() <= 8.0
    assert np.round(errors * 1.5) == pytest.approx(errors * 1.5)  # whole rows of 150


def test_the_reference_is_the_least_objective():
    rows = standardised(ROWS, ROWS)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # LinearSVC reads the number of its passes wrongly
        least = linear_errors.least_objective(rows, NUMBERS, 0.5)
    exact = CrammerSingerSVC(C=0.5, tol=1e-9, max_iter=100_000).fit(rows, NUMBERS)
    assert least == pytest.approx(exact.objective_, rel=1e-6)


def test_a_set_is_measured_and_rows_without_a_goal_are_neither_met_nor_missed(tmp_path, monkeypatch):
    monkeypatch.setenv("PAIRSIM_DATA", str(tmp_path))
    monkeypatch.setattr(results_table, "FOLDER", tmp_path)
    monkeypatch.setattr(linear_errors, "SEEDS", 1)
    write_set(tmp_path, "vehicle", ROWS, NUMBERS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        linear_errors.measure_set("vehicle")
        linear_errors.measure_objective()
        linear_errors.measure_set("vehicle")  # again: in place of the older rows
    table = pd.read_csv(tmp_path / "linear_errors.csv").set_index("method")
    assert len(table) == len(linear_errors.METHODS) + 2
    goals = table["goal"].dropna()
    assert goals.to_dict() == {"SGD excess, always": 1.0, "perceptron": 22.0, "perceptron spread": 22.0}
    assert table.loc[goals.index, "met"].tolist() == (table.loc[goals.index, "error"] <= goals).tolist()
    assert table["met"].isna().sum() == len(table) - 3
    assert table.loc["perceptron", "error"] <= 8.0 < table.loc["SGD excess, active", "error"]
