"""The parts of the experiments on real sets: how a set is read, cut and searched, and how tables are kept."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn")

from sklearn.datasets import load_iris

from experiments import reduction_sets, results_table, sbc_defaults, sbc_errors, vector_errors
from pairsim.learn import SingleBinaryClassifier, VectorSVC


def test_a_set_is_read_with_its_parts_in_agreement(tmp_path, monkeypatch):
    monkeypatch.setenv("PAIRSIM_DATA", str(tmp_path))
    train = pd.DataFrame({"size": [1.0, 2.0], "age": [4.0, None], "colour": ["red", None], "target": ["b", "c"]})
    test = pd.DataFrame({"size": [3.0], "age": [8.0], "colour": ["blue"], "target": ["a"]})
    train.to_csv(tmp_path / "toy-train.csv.gz", index=False)
    test.to_csv(tmp_path / "toy-test.csv.gz", index=False)
    (rows, numbers), (new, truth) = reduction_sets.read_set("toy-train", "toy-test")
    assert numbers.tolist() == [1, 2]
    assert truth.tolist() == [0]
    assert rows.shape[1] == new.shape[1]
    assert rows[:, 0].tolist() == [1.0, 2.0]
    assert rows[:, 1].tolist() == [4.0, 6.0]  # what is missing is the median
    assert len(np.unique(np.vstack([rows, new])[:, 2:], axis=0)) == 3  # red, nothing and blue all differ


def test_without_a_folder_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PAIRSIM_DATA", str(tmp_path / "absent"))
    assert not reduction_sets.have_data()
    with pytest.raises(SystemExit, match="PAIRSIM_DATA"):
        reduction_sets.read_set("iris")


@pytest.mark.parametrize("discard", [False, True])
def test_folds_cover_the_rows_once(discard):
    cuts = list(reduction_sets.folds(27, 10, 3, discard=discard))
    tested = np.concatenate([test for _, test in cuts])
    assert len(np.unique(tested)) == len(tested) == (20 if discard else 27)
    assert all(len(np.intersect1d(train, test)) == 0 for train, test in cuts)
    assert all(len(train) + len(test) == len(tested) for train, test in cuts)


def test_scaling_looks_at_the_training_part_only():
    train, test = reduction_sets.standardised(np.array([[0.0, 5.0], [2.0, 5.0]]), np.array([[4.0, 6.0]]))
    assert train.tolist() == [[-1.0, 0.0], [1.0, 0.0]]
    assert test.tolist() == [[3.0, 1.0]]


def test_errors_of_a_small_search_are_those_of_a_good_classifier():
    rows, numbers = load_iris(return_X_y=True)
    found = sbc_errors.nested_errors("OVA", rows[::3], numbers[::3], sbc_errors.Search(1, 2, 1))
    assert found[0] <= 12.0
    case = vector_errors.Case("iris", True, "indicator", 0, 0, coarse=True)
    errors = vector_errors.grid_errors(case, rows[::3], numbers[::3], rows[1::2], numbers[1::2])
    assert errors.shape == (len(case.grid),)
    assert errors.min() <= 0.07
    for model in (SingleBinaryClassifier(kernel="distances"), VectorSVC(kernel="distances")):
        near = reduction_sets.squared_distances(rows, rows)
        assert reduction_sets.error(model.fit(near, numbers), near, numbers) <= 0.1


def test_a_row_takes_the_place_of_an_older_one(tmp_path, monkeypatch):
    monkeypatch.setattr(results_table, "FOLDER", tmp_path)
    for error in (9.0, 3.14159):
        results_table.record("t", results_table.ErrorRow("iris", "OVA", error, 0.0, 6.0, 21.33, "told", 1.0))
    results_table.record("t", results_table.ErrorRow("iris", "AP", 7.0, 0.0, 6.0, 24.0, "told", 1.0))
    table = pd.read_csv(tmp_path / "t.csv")
    assert table["method"].tolist() == ["AP", "OVA"]
    assert table["error"].tolist() == [7.0, 3.14]
    assert table["met"].tolist() == [False, True]


def test_a_half_split_cuts_every_class_in_half():
    numbers = np.random.default_rng(0).permutation(np.repeat([0, 1, 2, 3], [30, 7, 1, 12]))
    train, test = sbc_defaults.halves(numbers, 1)
    assert sorted(np.concatenate([train, test])) == list(range(50))
    assert np.abs(np.bincount(numbers[train], minlength=4) - np.bincount(numbers[test], minlength=4)).max() <= 1
    assert set(sbc_defaults.halves(numbers, 2)[0]) != set(train)


def test_what_was_measured_is_not_measured_again(tmp_path, monkeypatch):
    monkeypatch.setattr(results_table, "FOLDER", tmp_path)
    monkeypatch.setattr(sbc_defaults, "SPLITS", 1)
    two = {each: sbc_defaults.CANDIDATES[each] for each in ("equal weights", "default", "one-vs-all")}
    monkeypatch.setattr(sbc_defaults, "CANDIDATES", two)
    sbc_defaults.measure("drawn: 2 classes", again=False)
    table = pd.read_csv(tmp_path / "sbc_defaults.csv").set_index("method")
    assert len(table) == 6
    assert (table.loc["default", "error"].to_numpy() == table.loc["equal weights", "error"].to_numpy()).all()
    assert (table.loc["default", "goal"] == table.loc["default", "error"] + 1.0).all()
    assert table.loc["one-vs-all", "goal"].isna().all()
    monkeypatch.setattr(sbc_defaults, "split_errors", lambda *given: pytest.fail("measured again"))
    sbc_defaults.measure("drawn: 2 classes", again=False)


def test_the_default_meets_its_goal_on_every_set_of_the_table():
    """And the updates that have names do not: that is why they are not the default."""
    table = pd.read_csv(results_table.FOLDER / "sbc_defaults.csv").set_index("method")
    assert table["set"].nunique() >= 20
    assert (table.loc["default", "error"] <= table.loc["default", "goal"]).all()
    for other in ("paper", "mkl", "class frequencies", "mkl, floor 0.75"):
        assert (table.loc[other, "error"] > table.loc[other, "goal"]).sum() >= 10
