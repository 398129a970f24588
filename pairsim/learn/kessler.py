"""KesslerSVC: Kessler's construction, one binary SVM on differences of class-tagged copies (Duda and Hart)."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from pairsim.learn.crammer_singer import check_objective
from pairsim.learn.gram import KernelClassifier
from pairsim.learn.parameters import check_params
from pairsim.learn.solvers.kessler_dual import solve_kessler


class KesslerSVC(KernelClassifier):
    """Kessler's construction: one binary SVM without a bias on differences of class-tagged copies of the data.

    A row x of class y and another class r make one example: a vector with a block per class, x in block y, -x in block
    r and 0 elsewhere, which has to lie on the positive side (its negative, on the negative side, adds nothing). Some
    weights classify all rows correctly if and only if they separate all examples. With the hinge loss it is

        minimise sum_r |w_r|**2 / 2 + C sum_i sum over r != y_i of max(0, 1 - <w_(y_i) - w_r, x_i>),

    the multiclass SVM of Weston and Watkins (1999) but for the margin, 1 instead of their 2. The examples, of
    rows * (classes - 1) times classes * features entries, are never made: the kernel serves.

    Parameters
    ----------
    C : float
        Regularisation parameter: the upper limit of a dual variable, of which every example has one.
    kernel, gamma, degree, coef0
        As in `SingleBinaryClassifier`.
    fit_intercept : bool
        Whether rows have one more feature, 1, the weights of which count as all others do: Duda and Hart's augmented
        vectors.
    tol : float
        Maximum duality gap, as a fraction of the objective. (Where C is so large that rounding makes a
        larger gap, training ends when no row violates optimality by more than 1e-9.)
    max_iter : int
        Maximum passes over the rows, not counting rows that are skipped while settled.
    random_state : int, RandomState or None
        Seed for the order in which rows are visited.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    dual_coef_ : ndarray, shape (support rows, classes)
        The weight of each row in each class's score; `support_` has the rows' numbers.
    intercept_ : ndarray, shape (classes,)
    objective_ : float
        What is minimised, as it is now.
    gap_ : float
        The duality gap: the objective's least value is not lower than `objective_ - gap_`.
    n_iter_ : int
        Passes over the rows.
    problem_rows_ : ndarray of int64, shape (1,)
        The examples of the one binary problem: rows times other classes.

    References
    ----------
    R. O. Duda, P. E. Hart (1973), Pattern Classification and Scene Analysis, section 5.12.1. J. Weston, C. Watkins
    (1999), Support vector machines for multi-class pattern recognition, ESANN.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pairsim.learn import KesslerSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KesslerSVC(C=10.0, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95), bool(model.gap_ <= 1e-3 * model.objective_), model.problem_rows_.tolist()
    (True, True, [300])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0.0, None, closed="neither")],
        **KernelClassifier._kernel_constraints,
        "fit_intercept": ["boolean"],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 10_000,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Train the one SVM."""
        check_params(self)
        X, self.classes_, numbers = self._checked_data(X, y)
        count, rng = len(self.classes_), check_random_state(self.random_state)
        with np.errstate(over="ignore", invalid="ignore"):  # the objective shows it
            found = solve_kessler(
                self._gram_of_rows(X), numbers, count, float(self.C), float(self.fit_intercept),
                tol=float(self.tol), most=int(self.max_iter), rng=rng,
            )  # fmt: skip
        check_objective(found.objective)
        rows = self._keep_rows(X, (found.beta != 0.0).any(axis=1))
        self.dual_coef_, self.intercept_ = found.beta[rows], found.intercept
        self.objective_, self.gap_, self.n_iter_ = found.objective, found.gap, found.passes
        self.problem_rows_ = np.array([len(numbers) * (count - 1)], np.int64)
        if not found.solved:
            warnings.warn("Solver terminated early: raise max_iter.", ConvergenceWarning, stacklevel=2)
        return self

    def _class_scores(self, X: Any) -> NDArray[np.float64]:
        return self._weighted_sums(X, self.dual_coef_) + self.intercept_
