"""Number and size of the binary problems in the rows of an evaluation are those of the arrays that were trained on."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn")

from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from pairsim import learn
from pairsim.datasets import Dataset
from pairsim.evaluation import cross_validation, evaluate_reductions
from pairsim.evaluation.results import read_evaluation
from pairsim.learn import binary_reduction, kessler, single_binary
from pairsim.learn.codes.columns import ColumnClassifier
from pairsim.learn.pair_reduction import PairReduction
from pairsim.learn.trees.class_rows import GramRows
from pairsim.learn.trees.gram_svm import GramSVM
from pairsim.learn.trees.tree_classifier import TreeClassifier
from pairsim.reductions import REDUCTIONS

FOLDS, CLASSES, ROWS = 3, 4, 70
Seen = list[int]


def dataset() -> Dataset:
    """Return classes of different sizes, so that every training part has its own."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(range(CLASSES), (30, 20, 12, 8)))
    X = pd.DataFrame(rng.normal(size=(ROWS, 3)) + 1.5 * rng.normal(size=(CLASSES, 3))[y], columns=["a", "b", "c"])
    return Dataset("blobs", X, y, X[:0], y[:0])


def noting(monkeypatch: Any, owner: Any, name: str, sizes: Callable[..., Seen]) -> Seen:
    """Note what a function is called with, on its way."""
    seen: Seen = []
    function = getattr(owner, name)

    def noted(*given, **more):
        seen.extend(sizes(*given))
        return function(*given, **more)

    monkeypatch.setattr(owner, name, noted)
    return seen


def columns(monkeypatch):
    """SVMs on one Gram matrix: a row of signs each, 0 for the rows that are left out."""
    return noting(
        monkeypatch, binary_reduction, "solve_columns", lambda gram, signs, *_: np.count_nonzero(signs, axis=1).tolist()
    )


def copies(monkeypatch):
    return noting(monkeypatch, single_binary, "solve_dual", lambda gram, marks, signs, *_: [np.count_nonzero(signs)])


def differences(monkeypatch):
    """One difference per row and wrong class."""
    return noting(monkeypatch, kessler, "solve_kessler", lambda gram, y, count, *_: [len(gram) * (count - 1)])


def plain(kind):
    """One problem for all classes, of the rows as they come."""
    return lambda monkeypatch: noting(monkeypatch, kind, "fit", lambda self, X, y: [len(X)])


def nodes(monkeypatch):
    """The SVM that decides at each node; a search trains candidates besides, which are no part of the tree."""
    return noting(monkeypatch, GramRows, "weights", lambda self, svm: [np.count_nonzero(svm.signs)])


def every_svm(monkeypatch):
    return noting(monkeypatch, GramSVM, "__init__", lambda self, gram, diagonal, signs, *_: [np.count_nonzero(signs)])


def binary_models(monkeypatch):
    return noting(monkeypatch, LogisticRegression, "fit", lambda self, X, y: [len(X)])


RECORDERS = {  # of those that do not train as others of their base class do
    **dict.fromkeys(("sbc-single", "sbc-identity", "sbc-ecoc", "sbc-kernel"), copies),
    "kessler": differences,
    "hierarchical": every_svm,
    "nested-dichotomies": binary_models,
}


def recorder_of(name):
    """Return what notes the sizes of a reduction's problems: by name, or by what its class is built on."""
    kind = getattr(learn, REDUCTIONS[name].name)
    bases = {PairReduction: columns, ColumnClassifier: columns, TreeClassifier: nodes}
    known = (recorder for base, recorder in bases.items() if issubclass(kind, base))
    return RECORDERS.get(name) or next(known, plain(kind))


CASES = {name: (name, None, recorder_of(name)) for name in REDUCTIONS} | {
    # calibration trains each model on parts of its rows as well
    "nested-dichotomies": ("nested-dichotomies:calibration=none", None, binary_models),
    **{
        f"{name} of logistic": (name, "logistic", binary_models)
        for name in ("one-vs-all", "all-pairs", "dagsvm", "output-code")
    },
    "ternary": ("output-code:code=all-pairs", None, columns),
    "dense": ("sbc-ecoc:code=dense", None, copies),
}


@pytest.mark.parametrize("case", CASES)
def test_sizes_are_those_of_the_arrays_that_were_trained_on(monkeypatch, tmp_path, case):
    spec, estimator, recorder = CASES[case]
    evaluate_reductions([dataset()], [spec], estimator=estimator, folds=2)  # has compiled and checked what there is
    per_fold = []
    run = cross_validation.run_fold

    def separately(*given):
        seen.clear()
        fold = run(*given)
        per_fold.append((list(seen), fold))
        return fold

    seen = recorder(monkeypatch)
    monkeypatch.setattr(cross_validation, "run_fold", separately)
    store = tmp_path / "r.db"
    (row,) = evaluate_reductions([dataset()], [spec], estimator=estimator, folds=FOLDS, store=store).rows
    assert len(per_fold) == FOLDS
    for sizes, fold in per_fold:
        assert fold.problems == len(sizes)
        assert fold.problem_rows == pytest.approx(np.mean(sizes))
    assert row.problems == pytest.approx(np.mean([fold.problems for _, fold in per_fold]))
    assert row.problem_rows == pytest.approx(np.mean([fold.problem_rows for _, fold in per_fold]))
    assert repr(read_evaluation(store)[0]) == repr([row])


def test_sizes_are_of_the_training_parts_and_not_of_all_rows():
    (row,) = evaluate_reductions([dataset()], ["one-vs-all"], folds=5).rows
    assert (row.problems, row.problem_rows) == (4.0, 56.0)
    assert row.rows == 70


def test_the_code_that_is_counted_is_the_one_that_is_trained():
    """34 columns and not 31: SingleBinaryClassifier's default code of ten classes is no BCH code."""
    X, y = load_digits(return_X_y=True, as_frame=True)
    some = Dataset("digits", X[:200], y[:200].to_numpy(), X[:0], y[:0].to_numpy())
    found = evaluate_reductions([some], ["output-code", "sbc-ecoc"], folds=2).frame
    assert found["problems"].tolist() == [31.0, 1.0]
    assert found["problem_rows"].tolist() == [100.0, 3400.0]


def test_classifiers_that_do_not_say_have_empty_sizes(monkeypatch):
    monkeypatch.setattr("pairsim.evaluation.fold_training.sizes_of", lambda model: (math.nan, math.nan))
    (row,) = evaluate_reductions([dataset()], ["one-vs-all"], folds=2).rows
    assert math.isnan(row.problems)
    assert math.isnan(row.problem_rows)
