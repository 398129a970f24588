"""VectorSVM: many classes at the price of one machine, by labels that are vectors (Szedmak and Shawe-Taylor)."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from pairsim.learn.gram import KernelClassifier
from pairsim.learn.vector_dual import label_product, solve_blocks, solve_joint


class VectorSVM(KernelClassifier):
    """The support vector machine with vector output (voSVM): <y_i, W phi(x_i)> >= q_i - p_i xi_i, without a bias.

    It has one dual variable a row, whatever the number of classes. With indicator labels the classes do not meet in the
    dual: each is a one-class machine, and only kernel values within classes are computed for training.

    Parameters
    ----------
    labels : {"indicator", "simplex"}
        The classes' unit vectors: orthogonal ones, or the corners of a simplex with products -1 / (classes - 1).
    C : float
        The price of errors: the upper limit of a dual variable (over p). With a Gaussian kernel and indicator labels no
        variable exceeds 1, so every C >= 1 (inf included) is the machine without errors, and every C <= 1 / (rows of
        the largest class) gives all rows the same weight, a Parzen window: search in between.
    kernel, gamma, degree, coef0
        As in `SingleBinary`.
    q, p : {"one", "norm"}
        The margin that is asked for and the weight of the slack: 1, or the length of phi(x_i). With a Gaussian kernel
        both are 1.
    tol : float
        The largest violation of optimality (projected gradient) that may be left.
    max_iter : int
        Most passes over the rows.
    random_state : int, RandomState or None
        Of the order in which rows are visited.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    dual_coef_ : ndarray, shape (support rows, classes)
        The weight of each row in each class's score; `support_` has the rows' numbers.
    alpha_ : ndarray, shape (rows,)
        The dual variables.
    n_iter_ : int
        Passes over the rows; of the slowest class with indicator labels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pairsim.learn import VectorSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> model = VectorSVM(C=0.1, gamma=1.0, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95), model.decision_function(X[:2]).shape
    (True, (2, 3))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelClassifier._kernel_constraints,
        "labels": [StrOptions({"indicator", "simplex"})],
        "C": [Interval(Real, 0.0, None, closed="right")],
        "q": [StrOptions({"one", "norm"})],
        "p": [StrOptions({"one", "norm"})],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        labels: str = "indicator",
        *,
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
        """Train the machine."""
        self._validate_params()
        X, self.classes_, numbers = self._checked_data(X, y)
        other = label_product(self.labels, len(self.classes_))
        options = {"tol": self.tol, "most": self.max_iter, "rng": check_random_state(self.random_state)}
        if self.labels == "indicator":
            found = solve_blocks(lambda rows: self._gram_of_rows(X, rows), numbers, self._limits, **options)
        else:
            gram = self._gram_of_rows(X)
            found = solve_joint(gram, numbers, other, *self._limits(gram.diagonal()), **options)
        if found.violation >= self.tol:
            warnings.warn("Solver terminated early: raise max_iter.", ConvergenceWarning, stacklevel=2)
        self.alpha_, self.n_iter_ = found.alpha, found.sweeps
        rows = self._keep_rows(X, found.alpha > 0.0)
        self.dual_coef_ = np.where(numbers[rows, None] == np.arange(len(self.classes_)), 1.0, other)
        self.dual_coef_ *= found.alpha[rows, None]
        return self

    def _limits(self, diagonal: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return q and C / p of rows with these squared lengths."""
        length = np.sqrt(np.maximum(diagonal, 0.0))
        one = np.ones(len(length))
        slack = np.where(length > 0.0, length, 1.0) if self.p == "norm" else one
        return length if self.q == "norm" else one, self.C / slack

    def _class_scores(self, X: Any) -> NDArray[np.float64]:
        return self._weighted_sums(X, self.dual_coef_)
