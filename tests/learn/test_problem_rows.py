"""problem_rows_: the number of rows that each binary problem was really given, whichever way it was trained."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.svm import SVC

from pairsim.learn import (
    AllPairsClassifier,
    KesslerSVC,
    OneVsAllClassifier,
    OutputCodeClassifier,
    SingleBinaryClassifier,
    kessler,
    single_binary,
)
from pairsim.learn.solvers import column_dual

SIZES = (4, 7, 2, 11, 5)
LABELS = np.random.default_rng(1).permutation(np.repeat(["e", "b", "a", "d", "c"], SIZES))  # not in classes' order
ROWS = np.random.default_rng(0).normal(size=(len(LABELS), 3)) + (LABELS == "a")[:, None]
TERNARY = np.array([[1, 0, 1], [-1, 1, 0], [0, -1, 1], [1, 1, -1], [-1, 0, -1]])


class Recording(LogisticRegression):
    """A classifier that notes the shapes of all that it is trained on."""

    given: ClassVar[list[tuple[tuple[int, ...], int]]] = []

    def fit(self, X, y):
        self.given.append((X.shape, len(y)))
        return super().fit(X, y)


class RecordingSVC(SVC):
    """The same for a matrix of pairs."""

    given: ClassVar[list[tuple[tuple[int, ...], int]]] = []

    def fit(self, X, y):
        self.given.append((X.shape, len(y)))
        return super().fit(X, y)


def check(model, rows_seen):
    assert model.problem_rows_.dtype == np.int64
    assert model.problem_rows_.ndim == 1
    assert model.problem_rows_.tolist() == rows_seen


MODELS = {
    "one-vs-all": OneVsAllClassifier,
    "all-pairs": AllPairsClassifier,
    "all-pairs margin": lambda given: AllPairsClassifier(given, "margin"),
    "bch": lambda given: OutputCodeClassifier(estimator=given),
    "ternary": lambda given: OutputCodeClassifier(TERNARY, estimator=given),
    "sparse": lambda given: OutputCodeClassifier("sparse", estimator=given, random_state=2),
    "all-pairs code": lambda given: OutputCodeClassifier("all-pairs", estimator=given),
}


@pytest.mark.parametrize("name", MODELS)
def test_what_a_given_estimator_was_trained_on(name):
    Recording.given.clear()
    model = MODELS[name](Recording()).fit(ROWS, LABELS)
    assert Recording.given
    check(model, [rows for _, rows in Recording.given])
    assert [shape[0] for shape, _ in Recording.given] == model.problem_rows_.tolist()


@pytest.mark.parametrize("name", MODELS)
def test_a_matrix_of_pairs_is_cut_on_both_sides(name):
    RecordingSVC.given.clear()
    model = MODELS[name](RecordingSVC(kernel="precomputed")).fit(ROWS @ ROWS.T, LABELS)
    check(model, [rows for _, rows in RecordingSVC.given])
    assert [shape for shape, _ in RecordingSVC.given] == [(rows, rows) for rows in model.problem_rows_]


@pytest.mark.parametrize("name", MODELS)
def test_what_the_models_on_one_gram_matrix_were_trained_on(name, monkeypatch):
    """The rows that a model may use are those with bounds that let their variables move."""
    seen = []
    machine = column_dual.ColumnSVM.__init__

    def noted(self, gram, signs, box):
        machine(self, gram, signs, box)
        seen.append(np.count_nonzero(self.upper > self.lower))

    monkeypatch.setattr(column_dual.ColumnSVM, "__init__", noted)
    monkeypatch.setattr(column_dual, "LOOK", 10**9)  # no second model for the rows that are not settled
    check(MODELS[name](None).fit(ROWS, LABELS), seen)


def test_known_sizes():
    sizes = np.unique(LABELS, return_counts=True)[1]
    count, total = len(sizes), len(LABELS)
    check(OneVsAllClassifier().fit(ROWS, LABELS), [total] * count)
    check(
        OneVsAllClassifier().fit(ROWS[LABELS < "c"], LABELS[LABELS < "c"]), [sizes[:2].sum()]
    )  # two classes: one problem
    pairs = [sizes[i] + sizes[j] for i in range(count) for j in range(i + 1, count)]
    check(AllPairsClassifier().fit(ROWS, LABELS), pairs)
    check(AllPairsClassifier(Perceptron()).fit(ROWS, LABELS), pairs)  # trained by our own kernels
    columns = [sum(size for size, entry in zip(sizes, column, strict=True) if entry) for column in TERNARY.T]
    check(OutputCodeClassifier(TERNARY).fit(ROWS, LABELS), columns)
    for extension in ("kernel", "identity", "single", np.arange(2.0 * count).reshape(count, 2)):
        check(SingleBinaryClassifier(extension, rho=0.1).fit(ROWS, LABELS), [total * count])
    check(SingleBinaryClassifier("ecoc", code=TERNARY).fit(ROWS, LABELS), [sum(columns)])
    check(KesslerSVC().fit(ROWS, LABELS), [total * (count - 1)])


@pytest.mark.parametrize("extension", ["kernel", "identity", "ecoc"])
def test_the_copies_of_the_one_problem(extension, monkeypatch):
    seen = []
    solve = single_binary.solve_dual

    def noted(gram, label_gram, signs, *given, **more):
        seen.append(np.count_nonzero(signs))
        return solve(gram, label_gram, signs, *given, **more)

    monkeypatch.setattr(single_binary, "solve_dual", noted)
    options = {"code": TERNARY} if extension == "ecoc" else {}
    check(SingleBinaryClassifier(extension, rho=0.1, **options).fit(ROWS, LABELS), seen)


def test_the_differences_of_kesslers_problem(monkeypatch):
    seen = []
    solve = kessler.solve_kessler
    monkeypatch.setattr(kessler, "solve_kessler", lambda *given, **more: seen.append(solve(*given, **more)) or seen[-1])
    model = KesslerSVC(C=1e-9).fit(ROWS, LABELS)  # all variables are at their limit
    check(model, [int(np.count_nonzero(seen[0].alpha))])
