"""Reductions side by side: every row predicted by a model that has not seen it, kept in the store, ranked, drawn."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn")

from sklearn.preprocessing import StandardScaler

from pairsim import ParameterError
from pairsim.cli import options
from pairsim.datasets import Dataset
from pairsim.evaluation import average_ranks, cross_validation, evaluate_reductions, reduction
from pairsim.evaluation.folds import deal_folds
from pairsim.evaluation.ranks import ranks_of
from pairsim.evaluation.reductions import SIX_POINTS
from pairsim.evaluation.results import read_evaluation
from pairsim.learn import PairwiseClassifier, VectorSVC
from pairsim.learn.binary_reduction import BinaryReduction
from pairsim.reductions import REDUCTIONS
from pairsim.store import Store, TaskRecord, task_id

QUICK = ["vector-svm", "perceptron", "vector-perceptron"]


def blobs(name: str, n: int, seed: int, rows: int = 90, apart: float = 1.3) -> Dataset:
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % n
    X = pd.DataFrame(rng.normal(size=(rows, 3)) + apart * rng.normal(size=(n, 3))[y], columns=["a", "b", "c"])
    return Dataset(name, X[:60], y[:60], X[60:].reset_index(drop=True), y[60:])


def test_rows_are_those_of_a_plain_cross_validation():
    dataset = blobs("blobs", 4, 0)
    row = evaluate_reductions([dataset], ["vector-svm:C=0.5"], folds=5, seed=2).rows[0]
    X, y = dataset.whole()
    fold, right = deal_folds(y, 5, 2), 0
    for k in range(5):
        scaler = StandardScaler().fit(X[fold != k])
        model = VectorSVC(C=0.5, random_state=2).fit(scaler.transform(X[fold != k]), y[fold != k])
        right += (model.predict(scaler.transform(X[fold == k])) == y[fold == k]).sum()
    assert row.accuracy == right / len(y)
    assert (row.rows, row.n, row.decoder, row.split) == (90, 4, "", "5 folds, seed 2")
    assert 0.3 < row.accuracy < 1.0


def test_folds_share_out_every_class():
    y = np.repeat([0, 1, 2], [50, 7, 1])
    fold = deal_folds(y, 5, 0)
    assert np.bincount(fold).max() - np.bincount(fold).min() <= 1
    assert (np.bincount(fold[y == 0]) == 10).all()
    assert set(np.bincount(fold[y == 1])) <= {1, 2}
    assert (fold != deal_folds(y, 5, 1)).any()


def test_the_help_has_the_names_of_the_table_in_its_order():
    listed = options.REDUCTION_HELP.partition(", with parameters")[0].replace(" or ", ", ").split(", ")
    assert listed == list(REDUCTIONS)


def test_the_help_names_the_reductions_that_take_an_estimator(pairsim_command):
    told = " ".join(pairsim_command("evaluate", "--help").out.split())
    told = told.split("--estimator is then the binary model of ")[1].split(".")[0]
    named = told.replace("output- code", "output-code").replace("nested- dichotomies", "nested-dichotomies")
    assert named.replace(" and ", ", ").split(", ") == [name for name, kind in REDUCTIONS.items() if kind.on_binary]


@pytest.mark.parametrize("name", REDUCTIONS)
def test_every_reduction_learns(name):
    dataset = blobs("blobs", 3, 1, rows=72, apart=3.0)
    found = evaluate_reductions([dataset], [name], folds=2).rows[0]
    assert found.accuracy > 0.7  # a third is probability


ONE_VS_ONE = ["all-pairs", "all-pairs:decision=margin", "dagsvm", "dagsvm:order=random"]


@pytest.mark.parametrize("estimator", [None, "logistic"])
def test_one_vs_one_models_are_trained_once_per_fold(monkeypatch, tmp_path, estimator):
    """Those of the same settings, whatever predicts with them; rows and stores are as if each had trained its own."""
    dataset, trained = blobs("blobs", 4, 0), []
    train = BinaryReduction._solve if estimator is None else PairwiseClassifier.fit
    owner, name = (BinaryReduction, "_solve") if estimator is None else (PairwiseClassifier, "fit")
    reductions = ["one-vs-all", *ONE_VS_ONE, "all-pairs:C=3" if estimator is None else "output-code"]
    alone = [evaluate_reductions([dataset], [each], estimator=estimator, folds=3).rows[0] for each in reductions]
    monkeypatch.setattr(owner, name, lambda self, *given: trained.append(len(given[0])) or train(self, *given))
    together = evaluate_reductions([dataset], reductions, estimator=estimator, folds=3, store=tmp_path / "r.db")
    few = len(SIX_POINTS[0])  # on which specs are tried
    assert len([size for size in trained if size > few]) == 3 * (
        3 if estimator is None else 1
    )  # one-vs-all, all-pairs of C=1, of C=3; pairs alone
    for row, own in zip(together.rows, alone, strict=True):
        assert (row.reduction, row.accuracy, row.problems, row.problem_rows) == (
            *(own.reduction, own.accuracy, own.problems, own.problem_rows),
        )
        assert row.fit_seconds > 0.0
    assert len({row.accuracy for row in together.rows}) > 2
    trained.clear()
    more = evaluate_reductions([dataset], ONE_VS_ONE[::-1], estimator=estimator, folds=3, store=tmp_path / "r.db")
    assert [row.accuracy for row in more.rows] == [row.accuracy for row in together.rows[1:5][::-1]]
    assert {size for size in trained if size > few} == set()


def test_a_reduction_whose_default_has_changed_is_computed_anew_beside_the_old_one(tmp_path, pairsim_command):
    """What an earlier version stored as sbc-kernel had learned weights; with mu_update=mkl it still has."""
    assert (reduction("sbc-kernel").version, reduction("sbc-kernel:mu_update=mkl,C=3").version) == (2, 1)
    assert {reduction(name).version for name in REDUCTIONS if name != "sbc-kernel"} == {1}
    new, old = tmp_path / "new.db", tmp_path / "old.db"
    command = ["evaluate", "--data", "iris", "--reduction", "one-vs-all", "--reduction", "sbc-kernel", "--folds", "2"]
    command += ["--jobs", "1", "--store"]
    assert pairsim_command(*command, new).code == 0
    with Store.read(new) as store, Store.create_or_open(old) as earlier:
        renamed = {}
        for task in store.tasks():
            text = task.definition.replace(', "version": 2', "")
            renamed[task.id] = TaskRecord(task_id(text), text)
        earlier.add_oracles([store.oracle(digest) for digest in store.oracles()])
        earlier.add_tasks(renamed.values())
        requests = store.requests()
        earlier.put_requests(
            each._replace(task=renamed[each.task].id, reference=renamed[each.reference].id) for each in requests
        )
        earlier.record(block._replace(task=renamed[block.task].id) for block in store.all_blocks())
    shown = pairsim_command("show", old)
    assert "1 row is skipped (sbc-kernel)" in shown.err
    assert "sbc-kernel" not in shown.out
    again = pairsim_command(*command, old)
    assert (again.code, "sbc-kernel: training" in again.err, "one-vs-all: stored" in again.err) == (0, True, False)
    left_out = []
    assert [row.reduction for row in read_evaluation(old, left_out)[0]] == ["one-vs-all", "sbc-kernel"]
    assert left_out == []


def test_what_is_stored_is_not_computed_again(tmp_path, monkeypatch):
    store, sets = tmp_path / "r.db", [blobs("one", 3, 0), blobs("two", 4, 1)]
    first = evaluate_reductions(sets, QUICK[:2], folds=3, store=store)
    monkeypatch.setattr(cross_validation, "run_fold", lambda *given: pytest.fail("computed again"))
    again = evaluate_reductions(sets, QUICK[:2], folds=3, store=store)
    assert repr(again.rows) == repr(first.rows)
    monkeypatch.undo()
    more = evaluate_reductions(sets, QUICK, folds=3, store=store)
    assert len(more.rows) == 6
    assert repr([row for row in more.rows if row.reduction in QUICK[:2]]) == repr(list(first.rows))
    assert {row.reduction for row in read_evaluation(store)[0]} == set(QUICK)


def test_processes_give_the_same(tmp_path):
    dataset = blobs("blobs", 3, 2)
    alone, side_by_side = (evaluate_reductions([dataset], QUICK[:2], folds=4, jobs=jobs).rows for jobs in (1, 2))
    assert [repr(row[:-2]) for row in alone] == [repr(row[:-2]) for row in side_by_side]


def test_ranks_are_those_of_the_errors():
    sets = [blobs(str(k), 3 + k, k) for k in range(3)]
    rows = evaluate_reductions(sets, QUICK, folds=3).rows
    errors = [[1.0 - row.accuracy for row in rows[3 * k : 3 * k + 3]] for k in range(3)]
    found = ranks_of(rows)
    assert found is not None
    assert found.ranks.tolist() == average_ranks(errors, QUICK).ranks.tolist()
    assert ranks_of(rows[:3]) is None


def test_a_class_of_one_row_counts_as_an_error_and_is_no_crash():
    X = pd.DataFrame({"a": np.r_[np.zeros(6), np.ones(6), 5.0] + np.linspace(0, 0.1, 13), "b": np.zeros(13)})
    y = np.r_[np.zeros(6), np.ones(6), 2.0].astype(int)
    found = evaluate_reductions([Dataset("tiny", X, y, X[:0], y[:0])], QUICK, folds=3)
    assert all(row.accuracy <= 12 / 13 for row in found.rows)


def test_the_command_line(tmp_path, pairsim_command):
    table, picture, store = tmp_path / "t.json", tmp_path / "p.png", tmp_path / "s.db"
    wanted = ["--reduction", "vector-svm", "--reduction", "perceptron:average=false", "--folds", "3", "--jobs", "1"]
    done = pairsim_command(
        "evaluate", "--data", "iris", "--data", "wine", *wanted, "--out", table, "--plot", picture, "--store", store
    )
    assert done.code == 0, done.err
    assert "average ranks" in done.out
    assert "Iman-Davenport" in done.out
    content = json.loads(table.read_text())
    assert [row["reduction"] for row in content["rows"]] == ["vector-svm", "perceptron:average=false"] * 2
    assert len(content["comparisons"]) == 2
    assert picture.stat().st_size > 5000
    shown = pairsim_command("show", store)
    assert shown.code == 0, shown.err
    assert "perceptron:average=false" in shown.out
    drawn = pairsim_command("plot", table, "--out", tmp_path / "again.svg")
    assert drawn.code == 0, drawn.err


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--reduction", "two-vs-two"], "one-vs-all"),
        (["--reduction", "sbc-kernel:colour=3"], "colour"),
        (["--reduction", "vector-svm:C=-1"], "C"),
        (["--reduction", "vector-svm", "--folds", "1"], "folds"),
        (["--reduction", "vector-svm", "--folds", "1000"], "folds"),
        (["--reduction", "vector-svm", "--decoder", "adag"], "decoder"),
        (["--reduction", "vector-svm", "--reduction", "vector-svm"], "twice"),
        (["--reduction", "vector-svm", "--jobs", "0"], "jobs"),
    ],
)
def test_bad_options_are_one_line(pairsim_command, arguments, named):
    done = pairsim_command("evaluate", "--data", "iris", *arguments)
    assert done.code == 2
    assert named in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_settings_reach_the_classifier():
    assert reduction("sbc-ecoc:C=3").build(0).get_params()["extension"] == "ecoc"
    with pytest.raises(ParameterError, match="options"):
        reduction("sbc-ecoc:extension=kernel")


def test_folds_on_processes_are_those_on_none():
    alone, together = (
        evaluate_reductions(["iris"], ["vector-svm", "perceptron"], folds=3, jobs=jobs).frame for jobs in (1, 2)
    )
    times = ["fit_seconds", "predict_seconds"]
    assert together.drop(columns=times).equals(alone.drop(columns=times))
    other = evaluate_reductions(["iris"], ["vector-svm", "perceptron"], folds=3, jobs=2, seed=1).frame
    assert not other.drop(columns=times).equals(alone.drop(columns=times))  # the comparison can fail
