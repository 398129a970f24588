"""Rows of training: CrammerSingerSVC against LIBLINEAR's solver of the same problem, on one thread.

Both are timed until they have reached the same objective: LIBLINEAR at one of its tolerances, ours at the largest of
its own that ends no higher. Data are satimage's training part; where the folder of data sets is absent, random data of
the same shape, and the row says so.
"""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from experiments.benchmark.timing import Measured, best_seconds
from experiments.reduction_sets import Numbers, Rows, have_data, read_set, standardised
from pairsim.learn import CrammerSingerSVC
from pairsim.learn.solvers.crammer_singer_dual import machine_objective

ROWS, FEATURES, CLASSES = 4435, 36, 6
TOLERANCES = (1e-2, 1e-4)  # of LIBLINEAR, as scikit-learn's users know them; the second is their default
STEPS = 2.0 ** -np.arange(4, 30)  # to try for our own


def satimage() -> tuple[Rows, Numbers, str]:
    """Return scaled rows, class numbers and what to call them."""
    if have_data():
        (X, y), told = read_set("satimage-train")[0], "satimage"
    else:
        X, y = make_classification(ROWS, FEATURES, n_informative=FEATURES // 2, n_classes=CLASSES, random_state=0)
        told = "random data of the shape of satimage"
    return standardised(X, X)[0], np.asarray(y, np.int64), told


def objective_of(model: Any, X: Rows, y: Numbers) -> float:
    """Return the objective of a fitted linear model at C = 1."""
    square = float((model.coef_**2).sum() + (model.intercept_**2).sum())
    return machine_objective(X @ model.coef_.T + model.intercept_, y, 1.0, square)


def linear_rows() -> list[Measured]:
    """Measure CrammerSingerSVC's linear fit against LinearSVC's, each to the same objective."""
    X, y, told = satimage()
    rows = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # LinearSVC reads the number of its passes wrongly
        for tol in TOLERANCES:
            theirs = LinearSVC(multi_class="crammer_singer", tol=tol, max_iter=100_000, random_state=0)
            wanted = objective_of(theirs.fit(X, y), X, y)
            tried = (CrammerSingerSVC(tol=step, max_iter=100_000, random_state=0) for step in STEPS)
            ours = next(model for model in tried if objective_of(model.fit(X, y), X, y) <= wanted)
            mine = best_seconds(functools.partial(ours.fit, X, y), 3)
            other = best_seconds(functools.partial(theirs.fit, X, y), 3)
            rows.append(
                Measured(
                    f"CrammerSingerSVC fit, {told}, to the objective of LinearSVC at tol {tol:g}",
                    other / mine, 1.0, "x", detail=f"{mine:.3g} s against {other:.3g} s",
                )
            )  # fmt: skip
    return rows


GROUPS = {"linear-reductions": linear_rows}
