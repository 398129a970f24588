"""OneVsAllClassifier: each class against the rest, all SVMs on one Gram matrix."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsim.learn.codes.code_tables import one_vs_all_code
from pairsim.learn.codes.columns import ColumnClassifier
from pairsim.learn.parameters import check_params


class OneVsAllClassifier(ColumnClassifier):
    """One-vs-all reduction: one binary classifier per class against the rest; the highest margin is predicted.

    Parameters
    ----------
    estimator : classifier, optional
        Binary model for each problem. Default: SVMs that share one Gram matrix of 8 * rows**2 bytes, with the
        parameters below, which are ignored where an estimator is given.
    C : float
        Regularisation parameter: the upper limit of a dual variable, as in LIBSVM.
    C_scaling : {"plain", "mean"}
        "mean" divides C by the number of rows.
    kernel, gamma, degree, coef0
        As in `SingleBinaryClassifier`.
    tol : float
        Tolerance on the violation of optimality.
    n_jobs : int, optional
        Number of estimators trained at a time. Default: 1.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    estimators_ : list
        The trained estimators, where one was given.
    dual_coef_ : ndarray, shape (support rows, SVMs)
        Label times dual variable; `support_` has the rows' numbers.
    intercept_ : ndarray, shape (SVMs,)
    n_iter_ : ndarray, shape (SVMs,)
        Steps of the solver.
    problem_rows_ : ndarray of int64, shape (SVMs,)
        The rows that each binary problem was trained on: all.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pairsim.learn import OneVsAllClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OneVsAllClassifier(C=10).fit(X, y)
    >>> bool(model.score(X, y) > 0.95), model.decision_function(X[:2]).shape
    (True, (2, 3))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {**ColumnClassifier._binary_constraints}

    def __init__(
        self,
        estimator: Any = None,
        *,
        C: float = 1.0,
        C_scaling: str = "plain",
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        tol: float = 1e-3,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.C = C
        self.C_scaling = C_scaling
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Train a binary classifier for each class; of two classes, one."""
        check_params(self)
        X, self.classes_, numbers = self._checked_data(X, y)
        self.code_ = one_vs_all_code(len(self.classes_))
        self._fit_columns(X, numbers)
        return self

    def _class_scores(self, X: Any) -> NDArray[np.float64]:
        scores = self.column_scores(X)
        return scores if scores.shape[1] > 1 else np.hstack([0.5 * scores, -0.5 * scores])
