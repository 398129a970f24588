"""Trained models: what does not fit raises the library's own error; what is no one-vs-one model is rejected."""

from __future__ import annotations

import builtins

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from trained import data

from pairsim import ParameterError, from_model
from pairsim.models import LinearPairs

BAD = [
    ("nan", lambda X: np.where(np.arange(X.shape[1]) == 1, np.nan, X)),
    ("infinity", lambda X: np.where(np.arange(X.shape[1]) == 1, np.inf, X)),
    ("a column less", lambda X: X[:, 1:]),
    ("one dimension", lambda X: X[0]),
    ("no rows", lambda X: X[:0]),
    ("words", lambda X: [["a"] * X.shape[1]]),
    ("sparse", scipy.sparse.csr_matrix),
]
FITTED = [
    SVC(),
    SVC(kernel="linear"),
    OneVsOneClassifier(LinearSVC()),
    OneVsOneClassifier(GaussianNB()),
    OneVsOneClassifier(SVC()),
    make_pipeline(StandardScaler(), SVC()),
]


@pytest.mark.parametrize("model", FITTED, ids=lambda m: str(m)[:40])
@pytest.mark.parametrize(("what", "spoil"), BAD, ids=lambda part: part if isinstance(part, str) else "")
def test_an_x_that_does_not_fit_raises_the_models_own_error(model, what, spoil):
    X, y = data("iris")
    model.fit(X, y)
    bad = spoil(X)
    ours = from_model(model)
    wanted = raised_by(model.predict, bad)
    assert wanted is not None or what == "sparse"  # which some of them take
    for ask in (ours.margins, ours.answers, ours.record):
        assert raised_by(ask, bad) == wanted


def raised_by(ask, X):
    try:
        ask(X)
    except (ValueError, TypeError) as error:
        return type(error), str(error)
    return None


@pytest.mark.parametrize("model", [*FITTED, GridSearchCV(SVC(), {"C": [1.0]})], ids=lambda m: str(m)[:40])
def test_models_that_are_not_fitted(model):
    from sklearn.base import clone

    with pytest.raises(NotFittedError, match="fitted"):
        from_model(clone(model))


def test_other_things_are_refused_in_one_line():
    X, y = data("iris", True)
    several = [LinearSVC(), LogisticRegression(), Perceptron()]
    refused = [DecisionTreeClassifier().fit(X, y), *(model.fit(X, y) for model in several), {}, None, "model", SVC]
    refused += [OneVsOneClassifier(LinearRegression()).fit(X, y), make_pipeline(GaussianNB()).fit(X, y)]
    for model in refused:
        with pytest.raises(ParameterError, match="'model' parameter of from_model") as error:
            from_model(model)
        assert "\n" not in str(error.value)


def test_labels_that_the_model_does_not_know():
    X, y = data("iris")
    ours = from_model(SVC().fit(X, y))
    for wrong in (y + 1, y.astype(str), [None] * len(y), y[:, None]):
        with pytest.raises(ParameterError, match="'y' parameter of record"):
            ours.record(X, wrong)
    with pytest.raises(ParameterError, match="truth"):
        ours.record(X, y[1:])
    assert ours.record(X, y.astype(float)) == ours.record(X, y)


@pytest.mark.parametrize(
    ("rows", "low", "high", "named"),
    [
        ([0], [1], [1], "low, high"),
        ([0], [2], [1], "low, high"),
        ([0], [0], [3], "low, high"),
        ([0], [-1], [1], "low, high"),
        ([150], [0], [1], "rows"),
        ([-1], [0], [1], "rows"),
        ([0, 1], [0], [1], "rows, low, high"),
        ([0.0], [0], [1], "rows"),
        ([[0]], [0], [1], "rows"),
    ],
)
def test_questions_that_are_none(rows, low, high, named):
    X, y = data("iris")
    for model in (SVC(), OneVsOneClassifier(LinearSVC()), OneVsOneClassifier(GaussianNB())):
        ours = from_model(model.fit(X, y))
        for ask in (lambda *q, m=ours: m.some_margins(X, *q), ours.points(X).margins):
            with pytest.raises(ParameterError, match=f"'{named}' parameter of some_margins"):
                ask(rows, low, high)
            assert ask([], [], []).shape == (0,)


def test_without_scikit_learn(monkeypatch):
    there = builtins.__import__

    def missing(name, *rest, **more):
        if name.split(".")[0] == "sklearn":
            raise ImportError(name)
        return there(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ParameterError, match=r"pairsim\[sklearn\]"):
        from_model(SVC())


def test_hyperplanes_given_by_hand():
    ours = LinearPairs([[1.0, 0.0]], [0.5], ["a", "b"])
    assert ours.margins([[1.0, 9.0]]).tolist() == [[1.5]]
    for X in ([[1.0]], [[np.nan, 0.0]], [1.0, 2.0], "words", [[1j, 0]]):
        with pytest.raises(ParameterError, match="'X' parameter"):
            ours.margins(X)
    for coef, intercept in (([[1.0]], [1.0, 2.0]), ([[1.0]] * 2, [1.0] * 2), (np.empty((0, 2)), [])):
        with pytest.raises(ParameterError, match="LinearPairs"):
            LinearPairs(coef, intercept)
