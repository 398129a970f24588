"""MulticlassPerceptronClassifier: one weight vector per class, changed by mistakes (Keshet's notes, section 2.1)."""

from __future__ import annotations

import dataclasses
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from pairsim.learn.compiled.class_updates import perceptron_epoch
from pairsim.learn.feature_rows import check_reach, feature_rows, weight_table
from pairsim.learn.parameters import check_params
from pairsim.learn.partial_rows import checked_part
from pairsim.learn.row_products import steady_product
from pairsim.learn.vector_runs import Counts


@dataclasses.dataclass
class Run:
    """What was learned so far: weights, what their mean leaves out, and counts."""

    classes: NDArray[Any]
    weights: NDArray[np.float64]
    late: NDArray[np.float64]
    counts: Counts

    @classmethod
    def start(cls, classes: NDArray[Any], features: int) -> Run:
        """Return a run that has learned nothing."""
        return cls(classes, weight_table(features, len(classes)), weight_table(features, len(classes)), Counts())

    def copy(self) -> Run:
        """Return the same run, to be changed."""
        return Run(self.classes, self.weights.copy(), self.late.copy(), dataclasses.replace(self.counts))


class MulticlassPerceptronClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Multiclass perceptron: a misclassified row is added to its class's weights and taken from the others.

    The prediction is the class with the highest score.

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
        Maximum number of passes over the rows in `fit`; one without a mistake is the last.
    shuffle : bool
        Whether each pass of `fit` has an order of its own.
    random_state : int, RandomState or None
        Seed for the orders.

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
        Passes over the rows; each call of `partial_fit` is one.
    problem_rows_ : ndarray, shape (1,)
        The rows of the one problem that is learned: those of `fit`, and those of every call of `partial_fit` since.

    References
    ----------
    J. Keshet, "Multiclass classification", lecture notes, 2014, section 2.1.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from pairsim.learn import MulticlassPerceptronClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = MulticlassPerceptronClassifier("spread", random_state=0).fit(scale(X), y)
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
        """Pass over the rows until a pass is without a mistake, or `max_iter` times; forget what was learned before."""
        check_params(self)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, order="C", ensure_min_samples=2)
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {len(classes)} class")
        run = Run.start(classes, X.shape[1])
        rng, rows, numbers = check_random_state(self.random_state), feature_rows(X), codes.astype(np.int64)
        while run.counts.passes < self.max_iter and not run.counts.halted:
            self._pass(run, rows, numbers, rng.permutation(len(numbers)) if self.shuffle else np.arange(len(numbers)))
        return self._finish(run, X, len(numbers))

    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Pass once over some rows, in their order, and keep what was learned before.

        The first call names all `classes`, also those that are not among its rows. Any split of the same rows gives,
        bit for bit, what `fit` does with `max_iter=1` and `shuffle=False`. After `fit` it continues with what was
        learned there; call `fit` to start anew. A call that is rejected changes nothing.
        """
        check_params(self)
        known = getattr(self, "_run", None)
        X, labels, numbers = checked_part(self, X, y, classes, first=known is None)
        run = Run.start(labels, X.shape[1]) if known is None else known.copy()
        self._pass(run, feature_rows(X), numbers, np.arange(len(numbers)))
        return self._finish(run, X, len(numbers) + (0 if known is None else int(self.problem_rows_[0])))

    def _pass(self, run: Run, rows: Any, numbers: NDArray[np.int64], order: NDArray[np.int64]) -> None:
        """Visit the rows in order."""
        mistakes = perceptron_epoch(
            rows, numbers, len(run.classes), float(self.fit_intercept), self.rule == "spread", order,
            run.counts.visits, run.weights, run.late, np.empty(run.weights.shape[1]),
        )  # fmt: skip
        run.counts.add(len(order), int(mistakes))

    def _finish(self, run: Run, X: Any, rows: int) -> Self:
        """Set the weights that predict, and what is told of the run."""
        table = run.weights - run.late / run.counts.visits if self.average else run.weights
        check_reach(X, table)
        chosen = table.T[: len(run.classes)]
        self.classes_, self._run = run.classes, run
        self.coef_, self.intercept_ = chosen[:, :-1].copy(), chosen[:, -1].copy()
        self.n_updates_, self.n_iter_, self.halted_ = run.counts.updates, run.counts.passes, run.counts.halted
        self.problem_rows_ = np.array([rows], np.int64)
        return self

    def _class_scores(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self, "coef_")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return steady_product(X, self.coef_.T) + self.intercept_

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return one score per class and row; with two classes one number per row, positive for `classes_[1]`."""
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
