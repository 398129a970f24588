"""What fitted support-vector machines say about their own errors: the shares of support vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.multiclass import OneVsOneClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, NuSVC


def last_step(model: Any) -> Any:
    """Return the model at the end of searches and pipelines."""
    while True:
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif isinstance(model, Pipeline):
            model = model[-1]
        else:
            return model


def support_errors(model: Any) -> NDArray[np.float64] | None:
    """Return the share of support vectors among the training points of each pair, None for a model without any.

    The share bounds the error that leaving out one training point at a time would show (Vapnik). An `SVC` does not
    remember how large its classes were: then they count as equally large.
    """
    model = last_step(model)
    if isinstance(model, SVC | NuSVC):
        n = len(model.classes_)
        return np.minimum(1.0, _count_vectors(model, n) * n / (2.0 * float(model.shape_fit_[0])))
    if isinstance(model, OneVsOneClassifier):
        machines = [last_step(estimator) for estimator in model.estimators_]
        if all(isinstance(machine, SVC | NuSVC) for machine in machines):
            return np.array([machine.n_support_.sum() / machine.shape_fit_[0] for machine in machines])
    return None


def _count_vectors(svc: Any, n: int) -> NDArray[np.float64]:
    """Return the support vectors of each pair: how many of either class have a coefficient against the other."""
    dual = svc.dual_coef_
    used = (dual.toarray() if scipy.sparse.issparse(dual) else np.asarray(dual)) != 0.0
    by_class = np.array([part.sum(axis=1) for part in np.split(used, np.cumsum(svc.n_support_)[:-1], axis=1)])
    low, high = np.triu_indices(n, 1)
    # row c of by_class has the other classes in order, c left out
    return np.asarray(by_class[low, high - 1] + by_class[high, low], np.float64)
