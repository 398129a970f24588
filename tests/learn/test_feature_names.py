"""Names of features: no warning where they are right, one where they are lacking, an error where they are others."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import Perceptron
from sklearn.multiclass import OneVsOneClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from pairsim import learn
from pairsim.learn import PairwiseClassifier

Y = np.repeat([0, 1, 2], 12)
A = np.random.default_rng(0).normal(size=(36, 3)) + 3.0 * Y[:, None]
X = pd.DataFrame(A, columns=list("abc"))
ESTIMATORS = [name for name in learn.__all__ if hasattr(getattr(learn, name), "fit")]
METHODS = ("predict", "predict_proba", "decision_function", "score", "calibrate")


def told(model: Any, method: str, points: Any) -> list[str]:
    """Return what is said about names while a method works."""
    arguments = (points, Y) if method in ("score", "calibrate") else (points,)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        getattr(model, method)(*arguments)
    return [str(each.message) for each in caught if "feature names" in str(each.message)]


def check_names(model: Any) -> None:
    for method in METHODS:
        if hasattr(model, method):
            assert told(model, method, X) == [], method
            assert len(told(model, method, A)) == 1, method
            with pytest.raises(ValueError, match=r"feature names should match"):
                told(model, method, X.rename(columns={"a": "z"}))
            with pytest.raises(ValueError, match=r"feature names should match"):
                told(model, method, X[["b", "a", "c"]])


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_knows_its_names(name: str) -> None:
    check_names(getattr(learn, name)().fit(X, Y))


@pytest.mark.parametrize("decoder", ["adag", "champion:ties=first", "wu-lin-weng", "radag", "max-win:ties=margin"])
@pytest.mark.parametrize("estimator", [LinearSVC(), SVC(), Perceptron()], ids=lambda each: type(each).__name__)
def test_every_decoder_keeps_them(estimator: Any, decoder: str) -> None:
    check_names(PairwiseClassifier(estimator, decoder, random_state=0).fit(X, Y))


@pytest.mark.parametrize(
    "model",
    [SVC(), OneVsOneClassifier(LinearSVC()), make_pipeline(StandardScaler(), SVC()), OneVsOneClassifier(Perceptron())],
    ids=lambda each: type(each).__name__,
)
@pytest.mark.parametrize("decoder", ["adag", "wu-lin-weng", "radag"])
def test_a_wrapped_model_keeps_them(model: Any, decoder: str) -> None:
    check_names(PairwiseClassifier.from_fitted(clone(model).fit(X, Y), decoder, random_state=0))
    wrapped = PairwiseClassifier.from_fitted(clone(model).fit(X, Y), decoder, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert (wrapped.predict(X) == wrapped.predict(A)).all()
        bare = PairwiseClassifier.from_fitted(clone(model).fit(A, Y), decoder, random_state=0)
    assert (bare.predict(A) == wrapped.predict(X)).all()
    assert told(bare, "predict", A) == told(bare, "decision_function", A) == []


def test_a_wrapped_pipeline_may_take_columns_by_their_names() -> None:
    table = X.assign(colour=np.where(Y == 1, "red", "blue"))
    model = make_pipeline(make_column_transformer((StandardScaler(), ["a", "c"])), SVC()).fit(table, Y)
    wrapped = PairwiseClassifier.from_fitted(model, "max-win:ties=first", random_state=0)
    assert (wrapped.predict(table) == model.predict(table)).all()
    assert told(wrapped, "predict", table) == []
