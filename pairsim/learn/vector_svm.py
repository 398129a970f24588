"""VectorSVC: many classes at the cost of one binary SVM, by labels that are vectors (Szedmak and Shawe-Taylor)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from pairsim.learn.gram import KernelClassifier
from pairsim.learn.label_vectors import NAMED, check_bias, label_vectors, named_product
from pairsim.learn.parameters import check_params
from pairsim.learn.solvers.vector_dual import solve_groups

LENGTHS = {"one", "norm", "label", "both"}  # what q and p can be


class VectorSVC(KernelClassifier):
    """Vector-output support vector machine (voSVM): <y_i, W phi(x_i) + b> >= q_i - p_i xi_i.

    It has one dual variable per row, whatever the number of classes. With indicator labels the classes do not meet in
    the dual: each is a one-class SVM, and only kernel values within classes are computed for training. The same holds
    for groups of classes whose vectors are orthogonal to those of all other groups.

    Parameters
    ----------
    labels : {"indicator", "simplex"}, array-like of shape (classes, dimension), or dict
        The classes' vectors: orthogonal unit vectors, the corners of a simplex (unit vectors with products
        -1 / (classes - 1)), or your own, row t for `classes_[t]`; a dict has a vector for each label, and may have more
        than the data. Only their inner products matter (the label kernel), so that any rotation of the named vectors
        gives the same model as the name. Vectors must be finite, differ, and not be 0; none may be a mixture (a convex
        combination) of the others, because its class could never be predicted. Longer vectors make a class's margin
        easier to reach and its score larger.
    fit_intercept : bool
        Whether there is a bias b, as in equation (4). It adds the constraint sum_i a_i y_i = 0 to the dual, with
        simplex labels the same sum of dual variables for every class. Some positive weights of the classes' vectors
        must add up to 0 for that: true for the simplex, never for indicator vectors, where only a = 0 is left.
        With a narrow kernel the bias decides far from the training rows: compare the error with and without it.
    C : float
        The penalty on errors: the upper limit of a dual variable is C / p. With a Gaussian kernel and indicator labels
        no variable exceeds 1, so every C >= 1 (inf included) allows no errors, and every C <= 1 / (rows of the largest
        class) gives all rows the same weight, a Parzen window: search in between.
    kernel, gamma, degree, coef0
        As in `SingleBinaryClassifier`.
    q, p : {"one", "norm", "label", "both"}
        The required margin and the weight of the slack: 1, the length of phi(x_i), that of y_i, or their product. With
        a Gaussian kernel and named labels all are 1.
    tol : float
        The largest violation of optimality (projected gradient) that may be left. With a bias, sum_i a_i y_i may be a
        tenth of that times sum_i a_i |y_i| long.
    max_iter : int
        Maximum number of passes over the rows.
    random_state : int, RandomState or None
        Seed for the order in which rows are visited.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    dual_coef_ : ndarray, shape (support rows, classes)
        The weight of each row in each class's score; `support_` has the rows' numbers.
    intercept_ : ndarray, shape (classes,)
        What the bias adds to each class's score, <y_t, b>; 0 without one.
    alpha_ : ndarray, shape (rows,)
        The dual variables.
    n_iter_ : int
        Passes over the rows; of the slowest group of classes where there are several.
    problem_rows_ : ndarray, shape (1,)
        The rows of the one problem that is solved.

    References
    ----------
    S. Szedmak and J. Shawe-Taylor, "Multiclass learning at one-class complexity", University of Southampton, 2005. For
    the bias: D. P. Bertsekas, "Nonlinear Programming", 2nd edition, Athena Scientific, 1999 (method of multipliers).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pairsim.learn import VectorSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = VectorSVC(C=0.1, gamma=1.0, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95), model.decision_function(X[:2]).shape
    (True, (2, 3))
    >>> far = VectorSVC([[1, 0], [-1, 1], [-1, -1]], fit_intercept=True, gamma=1.0, random_state=0).fit(X, y)
    >>> bool(far.score(X, y) > 0.95), bool(abs(far.intercept_).max() > 0.1)
    (True, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelClassifier._kernel_constraints,
        "labels": [StrOptions(set(NAMED)), "array-like", Mapping],
        "fit_intercept": ["boolean"],
        "C": [Interval(Real, 0.0, None, closed="right")],
        "q": [StrOptions(LENGTHS)],
        "p": [StrOptions(LENGTHS)],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        labels: Any = "indicator",
        *,
        fit_intercept: bool = False,
        C: float = 1.0,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        q: str = "one",
        p: str = "one",
        tol: float = 1e-3,
        max_iter: int = 1000,
        random_state: Any = None,
    ) -> None:
        self.labels = labels
        self.fit_intercept = fit_intercept
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.q = q
        self.p = p
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Train the model."""
        check_params(self)
        X, classes, numbers = self._checked_data(X, y)
        labels = label_vectors("VectorSVC", self.labels, classes)
        if self.fit_intercept and labels.other != named_product("simplex", len(classes)):
            check_bias("VectorSVC", labels.vectors)
        lengths = np.sqrt(labels.products.diagonal())
        found = solve_groups(
            lambda rows: self._gram_of_rows(X, rows), numbers, labels,
            lambda diagonal, own: self._limits(np.sqrt(np.maximum(diagonal, 0.0)), lengths[own]),
            tol=self.tol, most=self.max_iter, rng=check_random_state(self.random_state), bias=bool(self.fit_intercept),
        )  # fmt: skip
        if not found.settled:
            warnings.warn("Solver terminated early: raise max_iter.", ConvergenceWarning, stacklevel=2)
        self.classes_, self.alpha_, self.n_iter_ = classes, found.alpha, found.sweeps
        self.problem_rows_ = np.array([len(numbers)], np.int64)
        rows = self._keep_rows(X, found.alpha > 0.0)
        self.dual_coef_ = found.alpha[rows, None] * labels.products[numbers[rows]]
        self.intercept_ = found.intercept
        return self

    def _limits(
        self, row_lengths: NDArray[np.float64], label_lengths: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return q and C / p of rows with features and labels of these lengths."""
        one = np.ones(len(row_lengths))
        lengths = {"one": one, "norm": row_lengths, "label": label_lengths, "both": row_lengths * label_lengths}
        slack = lengths[self.p]
        return lengths[self.q], self.C / np.where(slack > 0.0, slack, 1.0)

    def _class_scores(self, X: Any) -> NDArray[np.float64]:
        return self._weighted_sums(X, self.dual_coef_) + self.intercept_
