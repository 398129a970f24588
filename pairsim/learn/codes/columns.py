"""Base of classifiers that train a binary problem for each column of an output code."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.base import clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from pairsim.learn.binary_reduction import BinaryReduction
from pairsim.learn.codes.code_tables import Code

LEAST_PROBABILITY = 1e-15  # probabilities nearer to 0 and 1 count as this


class ColumnClassifier(BinaryReduction):
    """Base of classifiers that have a code: `code_` is to be set before `_fit_columns`."""

    code_: Code
    estimators_: list[Any]
    dual_coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]

    def _checked_data(self, X: Any, y: Any) -> tuple[Any, NDArray[Any], NDArray[np.int64]]:
        if self.estimator is None:
            return super()._checked_data(X, y)
        X, y = validate_data(self, X, y, accept_sparse=["csr", "csc"], ensure_all_finite=False)
        check_classification_targets(y)
        classes, numbers = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {len(classes)} class")
        return X, classes, numbers.astype(np.int64)

    def _fit_columns(self, X: Any, numbers: NDArray[np.int64]) -> None:
        """Train a binary classifier for each column of `code_`."""
        self.problem_rows_ = np.count_nonzero(self.code_[numbers], axis=0).astype(np.int64)
        if self.estimator is not None:
            self._fit_estimators(X, numbers)
            return
        order, found = self._solve(X, numbers, self.code_)
        self.dual_coef_ = np.empty(found.beta.shape[::-1])
        self.dual_coef_[order] = found.beta.T
        self.dual_coef_ = self.dual_coef_[self._keep_rows(X, (self.dual_coef_ != 0.0).any(axis=1))]
        self.intercept_ = found.bias

    def _fit_estimators(self, X: Any, numbers: NDArray[np.int64]) -> None:
        self._check_estimator()
        labels = self.code_[numbers]
        pairwise = self._pairwise_input
        # a matrix of pairs is cut on both sides; the columns that an estimator was trained with are needed again
        self._places = [np.flatnonzero(column) if pairwise else None for column in labels.T]
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(_train)(clone(self.estimator), X, column, pairwise) for column in labels.T
        )

    def column_scores(self, X: Any) -> NDArray[np.float64]:
        """Return what the classifier of each column says of each row, positive for the classes with a 1.

        That is its decision function; where it has none, the probability of those classes less a half.
        """
        return self._columns_say(X, probabilities=False)

    def _columns_say(self, X: Any, probabilities: bool) -> NDArray[np.float64]:
        check_is_fitted(self)
        if self.estimator is None:
            return self._weighted_sums(X, self.dual_coef_) + self.intercept_
        X = validate_data(self, X, accept_sparse=["csr", "csc"], ensure_all_finite=False, reset=False)
        said = (
            _score(model, X if places is None else X[:, places], probabilities)
            for model, places in zip(self.estimators_, self._places, strict=True)
        )
        return np.column_stack(list(said))


def _train(estimator: Any, X: Any, column: NDArray[np.int64], pairwise: bool) -> Any:
    """Train an estimator to tell the rows with a 1 from those with a -1."""
    rows = np.flatnonzero(column)
    if len(rows) < len(column):
        X = X[rows][:, rows] if pairwise else X[rows]
    return estimator.fit(X, (column[rows] == 1).astype(np.int64))


def _score(model: Any, X: Any, probabilities: bool) -> NDArray[np.float64]:
    """Return margins; with `probabilities`, such that the logistic function gives the model's probabilities."""
    if hasattr(model, "predict_proba") and (probabilities or not hasattr(model, "decision_function")):
        probability = np.asarray(model.predict_proba(X), np.float64)[:, 1]
        return np.asarray(
            logit(np.clip(probability, LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY))
            if probabilities
            else probability - 0.5
        )
    return np.asarray(model.decision_function(X), np.float64).ravel()
