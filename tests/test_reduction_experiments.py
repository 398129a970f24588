"""The parts of the experiments on real sets: how a set is read, cut and searched, and how tables are kept."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn")

from sklearn.datasets import load_iris

from experiments import reduction_sets, results_table, sbc_errors, vector_errors
from pairsim.learn import SingleBinary, VectorSVM


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


def test_the_search_goes_both_ways_and_gives_up_after_some_tries():
    tried = []

    def valley(value):
        tried.append(value)
        return abs(np.log2(value) + 2)  # best at 1/4

    assert sbc_errors.greedy(valley, 3) == 0.25
    assert tried == [1.0, 2.0, 4.0, 8.0, 0.5, 0.25, 0.125, 0.0625, 0.03125]
    assert sbc_errors.greedy(lambda value: 0.5, 2) == 1.0  # a plateau: nothing improves


def test_errors_of_a_small_search_are_those_of_a_good_classifier():
    rows, numbers = load_iris(return_X_y=True)
    found = sbc_errors.nested_errors("OVA", rows[::3], numbers[::3], sbc_errors.Search(1, 2, 1))
    assert found[0] <= 12.0
    case = vector_errors.Case("iris", True, "indicator", 0, 0, coarse=True)
    errors = vector_errors.grid_errors(case, rows[::3], numbers[::3], rows[1::2], numbers[1::2])
    assert errors.shape == (len(case.grid),)
    assert errors.min() <= 0.07
    for model in (SingleBinary(kernel="distances"), VectorSVM(kernel="distances")):
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
