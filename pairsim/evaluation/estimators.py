"""Estimators by name: what is trained on each pair of classes, written as `svc-rbf` or `svc-rbf:C=10,gamma=0.1`."""

from __future__ import annotations

import dataclasses
import importlib
import warnings
from typing import Any, NamedTuple

from pairsim.datasets.preparing import require_sklearn
from pairsim.errors import parameter_error
from pairsim.evaluation.specs import Setting, Settings, read_settings, split_spec, write_spec
from pairsim.reductions import COST, DECAY, RIDGE, WIDTH, Searched

FOUR_POINTS = ([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])


class EstimatorEntry(NamedTuple):
    """A classifier of scikit-learn; one that is not one-vs-one already is trained on each pair of classes.

    `searched` are the parameters that a search is for.
    """

    module: str
    name: str
    settings: dict[str, Setting]
    by_pairs: bool
    summary: str
    searched: tuple[Searched, ...] = ()


REGISTRY = {
    "linear-svc": EstimatorEntry("svm", "LinearSVC", {}, True, "linear SVM, LIBLINEAR", (COST,)),
    "svc-linear": EstimatorEntry("svm", "SVC", {"kernel": "linear"}, False, "linear SVM, LIBSVM", (COST,)),
    "svc-rbf": EstimatorEntry("svm", "SVC", {"kernel": "rbf"}, False, "SVM with a Gaussian kernel", (WIDTH, COST)),
    "svc-poly": EstimatorEntry("svm", "SVC", {"kernel": "poly"}, False, "SVM with a polynomial kernel", (WIDTH, COST)),
    "nu-svc": EstimatorEntry("svm", "NuSVC", {"nu": 0.1}, False, "nu-SVM with a Gaussian kernel", (WIDTH,)),
    "perceptron": EstimatorEntry("linear_model", "Perceptron", {}, True, "perceptron"),
    "logistic": EstimatorEntry(
        "linear_model", "LogisticRegression", {"max_iter": 1000}, True, "logistic regression", (COST,)
    ),
    "ridge": EstimatorEntry("linear_model", "RidgeClassifier", {}, True, "ridge regression on -1 and 1", (RIDGE,)),
    "sgd": EstimatorEntry("linear_model", "SGDClassifier", {}, True, "linear SVM by stochastic gradients", (DECAY,)),
    "tree": EstimatorEntry("tree", "DecisionTreeClassifier", {}, True, "decision tree"),
}


@dataclasses.dataclass(frozen=True)
class Estimator:
    """A named estimator with settings, in the order in which they were given.

    Examples
    --------
    >>> from pairsim.evaluation import estimator
    >>> estimator("svc-rbf:C=10").build(seed=0)
    SVC(C=10, random_state=0)
    >>> estimator("perceptron").build(seed=0)
    OneVsOneClassifier(estimator=Perceptron())
    """

    name: str
    settings: Settings = ()

    @property
    def spec(self) -> str:
        """The estimator as it is written on the command line."""
        return write_spec(self.name, self.settings)

    def build(self, seed: int) -> Any:
        """Return the unfitted model: already one-vs-one, or in a `OneVsOneClassifier`."""
        from sklearn.multiclass import OneVsOneClassifier

        model = self.build_binary(seed)
        return OneVsOneClassifier(model) if REGISTRY[self.name].by_pairs else model

    def build_binary(self, seed: int) -> Any:
        """Return the unfitted model for two classes."""
        kind = REGISTRY[self.name]
        model = _class_of(kind)(**kind.settings | dict(self.settings))
        if "random_state" in model.get_params():
            model.set_params(random_state=seed)
        return model


def keys_of(name: str) -> set[str]:
    """Return the parameters of an estimator that a spec may set: all but the seed's and the name's."""
    return set(_class_of(REGISTRY[name])().get_params()) - {"random_state", "kernel"}


def estimator(spec: str) -> Estimator:
    """Read an estimator from its spec, `name` or `name:key=value,key=value`, with the keys of scikit-learn.

    Examples
    --------
    >>> from pairsim.evaluation import estimator
    >>> estimator("logistic:C=0.5,fit_intercept=false")
    Estimator(name='logistic', settings=(('C', 0.5), ('fit_intercept', False)))
    """
    require_sklearn("estimator")
    name, tail = split_spec("estimator", spec, REGISTRY)
    made = Estimator(name, read_settings(f"estimator {name}", tail, keys_of(name)))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made.build(0).fit(*FOUR_POINTS)  # so that a setting that cannot be is rejected before the work begins
    except (ValueError, TypeError) as error:
        must_be = "parameters that scikit-learn takes"
        raise parameter_error(f"estimator {name}", "options", must_be, f"{spec!r} ({error})") from None
    return made


def _class_of(kind: EstimatorEntry) -> Any:
    return getattr(importlib.import_module(f"sklearn.{kind.module}"), kind.name)
