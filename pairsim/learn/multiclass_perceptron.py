"""MulticlassPerceptron: one weight vector a class, changed by mistakes (Keshet's notes, section 2.1)."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from pairsim.errors import refusal
from pairsim.kernels.class_updates import perceptron_epoch
from pairsim.learn.feature_rows import check_reach, feature_rows, weight_table
from pairsim.learn.steady_rows import steady_product


class MulticlassPerceptron(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Add a row to the weights of its class, and take it from classes that score at least as high; name the highest.

    A row is a mistake when any other class scores as high as its own, so the first row of all is one. No order of the
    rows causes more than 2 (r / gamma)**2 mistakes where some weights of length 1 put every row's class ahead of all
    others by gamma or more, and r is the length of the longest row (the intercept's 1 included).

    Parameters
    ----------
    rule : {"best", "spread"}
        Where the row is taken from: the best of the other classes, or in equal parts all that score at least as high as
        its own. With two classes that is the same.
    average : bool
        Whether the weights are the mean over all visits to a row instead of the last. The mean costs nothing and is
        better on classes that overlap.
    fit_intercept : bool
        Whether every row has one more feature, 1.
    max_iter : int
        Most passes over the rows; one without a mistake is the last.
    shuffle : bool
        Whether each pass has an order of its own.
    random_state : int, RandomState or None
        Of the orders.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    coef_ : ndarray, shape (classes, features)
        The weights of each class's score.
    intercept_ : ndarray, shape (classes,)
        The weights of the feature 1.
    n_updates_ : int
        How many mistakes were made.
    halted_ : bool
        Whether the last pass was without a mistake.
    n_iter_ : int
        Passes over the rows.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from pairsim.learn import MulticlassPerceptron
    >>> X, y = load_wine(return_X_y=True)
    >>> model = MulticlassPerceptron("spread", random_state=0).fit(scale(X), y)
    >>> model.score(scale(X), y), model.halted_, model.coef_.shape
    (1.0, True, (3, 13))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "rule": [StrOptions({"best", "spread"})],
        "average": ["boolean"],
        "fit_intercept": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        rule: str = "best",
        *,
        average: bool = True,
        fit_intercept: bool = True,
        max_iter: int = 30,
        shuffle: bool = True,
        random_state: Any = None,
    ) -> None:
        self.rule = rule
        self.average = average
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Pass over the rows until a pass is without a mistake, or `max_iter` times."""
        self._validate_params()
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, order="C", ensure_min_samples=2)
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {len(classes)} class")
        self._begin(classes, X.shape[1])
        rng, rows, numbers = check_random_state(self.random_state), feature_rows(X), codes.astype(np.int64)
        while self.n_iter_ < self.max_iter and not self.halted_:
            self._pass(rows, numbers, rng.permutation(len(numbers)) if self.shuffle else np.arange(len(numbers)))
        return self._finish(X)

    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Pass once over some rows, in their order, and keep what was learned before.

        The first call names all `classes`, also those that are not among its rows.
        """
        self._validate_params()
        first = not hasattr(self, "classes_")
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, order="C", reset=first)
        check_classification_targets(y)
        if first and classes is None:
            raise refusal("partial_fit", "classes", "the labels of all classes in the first call", None)
        known = np.unique(np.asarray(classes)) if classes is not None else self.classes_
        if first and len(known) < 2:
            raise refusal("partial_fit", "classes", "at least two labels", known)
        if not first and not np.array_equal(known, self.classes_):
            raise refusal("partial_fit", "classes", f"those of the first call, {self.classes_}", known)
        strange = np.setdiff1d(y, known)
        if len(strange):
            raise refusal("partial_fit", "y", f"made of the labels {known}", strange)
        if first:
            self._begin(known, X.shape[1])
        self._pass(feature_rows(X), np.searchsorted(known, y).astype(np.int64), np.arange(X.shape[0]))
        return self._finish(X)

    def _begin(self, classes: NDArray[Any], features: int) -> None:
        self.classes_ = classes
        self._weights, self._late = weight_table(features, len(classes)), weight_table(features, len(classes))
        self._visits, self.n_updates_, self.n_iter_, self.halted_ = 0, 0, 0, False

    def _pass(self, rows: Any, numbers: NDArray[np.int64], order: NDArray[np.int64]) -> None:
        """Visit the rows in order."""
        count, spread = len(self.classes_), self.rule == "spread"
        mistakes = perceptron_epoch(
            rows, numbers, count, float(self.fit_intercept), spread, order, self._visits,
            self._weights, self._late, np.empty(self._weights.shape[1]),
        )  # fmt: skip
        self._visits += len(order)
        self.n_updates_ += int(mistakes)
        self.n_iter_ += 1
        self.halted_ = mistakes == 0

    def _finish(self, X: Any) -> Self:
        """Set the weights that predict."""
        table = self._weights - self._late / self._visits if self.average else self._weights
        check_reach(X, table)
        chosen = table.T[: len(self.classes_)]
        self.coef_, self.intercept_ = chosen[:, :-1].copy(), chosen[:, -1].copy()
        return self

    def _class_scores(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self, "coef_")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return steady_product(X, self.coef_.T) + self.intercept_

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return one score a class and row; with two classes one number a row, positive for `classes_[1]`."""
        scores = self._class_scores(X)
        return np.asarray(scores[:, 1] - scores[:, 0]) if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of each row, the first of those with the highest score."""
        best = self._class_scores(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def __sklearn_tags__(self) -> Any:
        """Say what scikit-learn may expect: sparse rows too."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
