"""CrammerSingerSVC: the support vector machine with one weight vector per class and one loss per row."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import validate_data

from pairsim.errors import parameter_error
from pairsim.learn.gram import KernelClassifier
from pairsim.learn.parameters import check_params
from pairsim.learn.row_products import steady_product
from pairsim.learn.solvers.crammer_singer_dual import MachineDual, machine_objective, solve_features, solve_gram
from pairsim.learn.solvers.crammer_singer_gradient import follow_gradient
from pairsim.learn.solvers.weston_watkins_dual import solve_features_by_sum, solve_gram_by_sum

PASSES = {"dual": 1000, "sgd": 100}
Solve = Callable[..., MachineDual]
LOSSES: dict[str, tuple[Solve, Solve]] = {
    "crammer-singer": (solve_features, solve_gram),
    "weston-watkins": (solve_features_by_sum, solve_gram_by_sum),
}


def check_objective(objective: float) -> None:
    """Reject a training that left what numbers can hold."""
    if not np.isfinite(objective):
        raise ValueError("The objective became infinite: the features are too large, or C is. Scale them.")


class CrammerSingerSVC(KernelClassifier):
    """Multiclass SVM of Crammer and Singer (2001), or of Weston and Watkins (1999).

    It minimises sum_r |w_r|**2 / 2 + C sum_i max(0, max over r != y_i of 1 + <w_r, x_i> - <w_(y_i), x_i>).
    That is the objective of `LinearSVC(multi_class="crammer_singer")`, here for any kernel. The other form of it, a
    mean loss with the penalty lambda sum_r |w_r|**2 / 2, is the same divided by C and the number of rows m:
    lambda = 1 / (C m).

    The SVM of Weston and Watkins differs in the loss: the sum over r != y_i of max(0, 1 + <w_r, x_i> - <w_(y_i), x_i>),
    where that of Crammer and Singer takes the largest. With two classes they are the same.

    Parameters
    ----------
    solver : {"dual", "sgd"}
        "dual" is exact: it divides C among the classes for one row after the other, and stops by the duality gap. "sgd"
        takes stochastic subgradient steps 1 / (lambda t), and predicts with the mean over the last half of them; it is
        for kernel="linear".
    C : float
        Regularisation parameter: the upper limit of a dual variable, as in LIBLINEAR.
    kernel : str or callable
        As in `SingleBinaryClassifier`. With "linear" no Gram matrix is made.
    gamma, degree, coef0
        As in `SVC`.
    fit_intercept : bool
        Whether the linear kernel has one more feature, 1, the weights of which count as all others do. Other kernels
        have no intercept.
    shrink : {"always", "active"}
        Which steps of "sgd" shrink the weights: all, as the objective asks, or only those with a loss. The latter is
        the algorithm that Keshet's notes print; it converges elsewhere.
    loss : {"crammer-singer", "weston-watkins"}
        Loss of a row: its largest excess over a margin of 1, or the sum of all. The latter is for solver="dual".
    tol : float
        Maximum duality gap, as a fraction of the objective.
    max_iter : int or None
        Maximum passes over the rows, not counting rows and classes that are skipped while settled. Default: 1000. For
        "sgd" the number of passes. Default: 100.
    random_state : int, RandomState or None
        Seed for the order in which rows are visited.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    coef_ : ndarray, shape (classes, features)
        With kernel="linear": the weights of each class's score.
    intercept_ : ndarray, shape (classes,)
        With kernel="linear": the weights of the feature 1.
    dual_coef_ : ndarray, shape (support rows, classes)
        With any other kernel: the weight of each row in each class's score; `support_` has the rows' numbers.
    objective_ : float
        What is minimised, as it is now.
    gap_ : float
        The duality gap: the objective's least value is not lower than `objective_ - gap_`. Not a number with "sgd".
    n_iter_ : int
        Passes over the rows.
    problem_rows_ : ndarray, shape (1,)
        The rows of the one problem that is solved.

    References
    ----------
    K. Crammer, Y. Singer, "On the algorithmic implementation of multiclass kernel-based vector machines", 2001.

    J. Weston, C. Watkins, "Multi-class support vector machines", 1998.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pairsim.learn import CrammerSingerSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CrammerSingerSVC(C=10.0, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95), bool(model.gap_ <= 1e-4 * model.objective_), model.coef_.shape
    (True, True, (3, 4))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelClassifier._kernel_constraints,
        "solver": [StrOptions({"dual", "sgd"})],
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "shrink": [StrOptions({"always", "active"})],
        "loss": [StrOptions(set(LOSSES))],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        solver: str = "dual",
        *,
        C: float = 1.0,
        kernel: Any = "linear",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        fit_intercept: bool = True,
        shrink: str = "always",
        loss: str = "crammer-singer",
        tol: float = 1e-4,
        max_iter: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.solver = solver
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.shrink = shrink
        self.loss = loss
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Train the SVM."""
        check_params(self)
        if self.solver == "sgd" and self.kernel != "linear":
            raise parameter_error("CrammerSingerSVC", "kernel", "'linear' with solver='sgd'", repr(self.kernel))
        if self.solver == "sgd" and self.loss != "crammer-singer":
            raise parameter_error("CrammerSingerSVC", "loss", "'crammer-singer' with solver='sgd'", repr(self.loss))
        X, self.classes_, numbers = self._checked_data(X, y)
        with np.errstate(over="ignore", invalid="ignore"):  # the objective shows it
            if self.solver == "sgd":
                self._descend(X, numbers)
            else:
                self._solve(X, numbers)
        self.problem_rows_ = np.array([len(numbers)], np.int64)
        return self

    @property
    def _most(self) -> int:
        return PASSES[self.solver] if self.max_iter is None else int(self.max_iter)

    def _solve(self, X: Any, numbers: NDArray[np.int64]) -> None:
        """Solve the dual on features or on the Gram matrix."""
        count, penalty = len(self.classes_), float(self.C)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        on_features, on_gram = LOSSES[self.loss]
        options: Any = {"tol": float(self.tol), "most": self._most, "seed": seed}
        if self.kernel == "linear":
            found = on_features(X, numbers, count, penalty, float(self.fit_intercept), **options)
            check_objective(found.objective)
            self.coef_, self.intercept_ = found.weights, found.intercept
        else:
            found = on_gram(self._gram_of_rows(X), numbers, count, penalty, **options)
            check_objective(found.objective)
            rows = self._keep_rows(X, (found.weights != 0.0).any(axis=1))
            self.dual_coef_ = found.weights[rows]
        self.objective_, self.gap_, self.n_iter_ = found.objective, found.gap, found.passes
        if not found.gap <= self.tol * abs(found.objective):
            warnings.warn("Solver terminated early: raise max_iter.", ConvergenceWarning, stacklevel=3)

    def _descend(self, X: Any, numbers: NDArray[np.int64]) -> None:
        """Take as many steps as were asked for."""
        constant, rng = float(self.fit_intercept), check_random_state(self.random_state)
        coef, intercept = follow_gradient(
            X, numbers, len(self.classes_), float(self.C), constant,
            always=self.shrink == "always", epochs=self._most, rng=rng,
        )  # fmt: skip
        square = float((coef**2).sum() + (intercept**2).sum())
        objective = machine_objective(X @ coef.T + intercept, numbers, self.C, square)
        check_objective(objective)
        self.coef_, self.intercept_, self.objective_ = coef, intercept, objective
        self.gap_, self.n_iter_ = np.nan, self._most

    def _class_scores(self, X: Any) -> NDArray[np.float64]:
        if self.kernel != "linear":
            return self._weighted_sums(X, self.dual_coef_)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return steady_product(X, self.coef_.T) + self.intercept_
