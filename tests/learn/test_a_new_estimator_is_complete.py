"""One failure that names every place where an estimator is still missing, with the file and what to write there."""

from __future__ import annotations

import pytest

pytest.importorskip("sklearn")

from estimator_completeness import estimators, missing_of_estimator
from sklearn.base import BaseEstimator, ClassifierMixin

from pairsim import learn

ESTIMATORS = estimators()


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_a_new_estimator_is_complete(name):
    missing = missing_of_estimator(ESTIMATORS[name])
    assert not missing, "\n".join(["still missing:", *missing])


def test_every_public_estimator_is_looked_at():
    assert set(ESTIMATORS) >= {name for name in learn.__all__ if hasattr(getattr(learn, name), "fit")}


class HalfDone(ClassifierMixin, BaseEstimator):
    """An estimator of which next to nothing is there."""

    def __init__(self, speed=1.0):
        self.speed = speed

    def fit(self, X, y):
        self.classes_ = sorted(set(y))
        return self

    def predict(self, X):
        import numpy as np

        return np.full(len(X), self.classes_[0])


def test_all_that_is_missing_is_told_at_once():
    """Negative control."""
    told = missing_of_estimator(HalfDone)
    here = "tests/learn/test_a_new_estimator_is_complete.py: "
    wanted = [
        here + "a name that ends as scikit-learn's do",
        here + "a runnable example",
        here + "`speed` under Parameters",
        "pairsim/learn/__init__.py: an import of HalfDone",
        "pairsim/reductions.py: a row in REDUCTIONS",
        "tests/learn: a test file that runs every_check(HalfDone())",
        "README.md: a line about HalfDone",
        "CHANGELOG.md: a line about HalfDone",
        here + "`fit` of HalfDone sets `n_features_in_`",
        here + "`fit` of HalfDone sets `problem_rows_`",
        here + "a HalfDone that learns",
    ]
    assert len(told) == len(wanted), told
    for line, start in zip(told, wanted, strict=True):
        assert line.startswith(start), line


def test_parameters_need_defaults():
    demanding = type("DemandingClassifier", (HalfDone,), {"__init__": lambda self, must: None})
    assert any("a default for every parameter" in line for line in missing_of_estimator(demanding))
