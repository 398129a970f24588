"""VectorPerceptron: the perceptron with a margin and vector labels (Szedmak and Shawe-Taylor), and its bound."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from pairsim.learn.feature_rows import check_reach
from pairsim.learn.gram import KernelClassifier
from pairsim.learn.steady_rows import steady_product
from pairsim.learn.vector_dual import label_product, solve_joint
from pairsim.learn.vector_steps import kernel_epoch, linear_epoch, sparse_epoch

BOUND_TOL, BOUND_SWEEPS = 1e-4, 2000  # of the machine without errors; the bound holds however well it is solved


class VectorPerceptron(KernelClassifier):
    """Add step * y_i phi(x_i)' to W whenever <y_i, W phi(x_i)> < margin; name the class with the largest <y_t, W phi>.

    It halts when a pass over the rows changes nothing. That says that every row has its margin, not that it is named
    rightly: with a wide kernel most rows can be wrong at that point.

    Parameters
    ----------
    labels : {"indicator", "simplex"}
        As in `VectorSVM`.
    step, margin : float
        The paper's s and lambda.
    kernel : str or callable
        As in `SingleBinary`. With "linear" the weights are kept as one row a class, and no Gram matrix is made.
    gamma, degree, coef0
        As in `SVC`.
    max_iter : int
        Most passes over the rows.
    shuffle : bool
        Whether each pass has an order of its own.
    average : bool
        Whether W is the mean over all visits instead of the last.
    random_state : int, RandomState or None
        Of the orders.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    n_updates_ : int
        How often W was changed.
    halted_ : bool
        Whether the last pass changed nothing.
    n_iter_ : int
        Passes over the rows.
    coef_ : ndarray, shape (classes, features)
        With kernel="linear": the weights of each class's score.
    dual_coef_ : ndarray, shape (support rows, classes)
        With any other kernel: the weight of each row in each class's score.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pairsim.learn import VectorPerceptron
    >>> X, y = load_iris(return_X_y=True)
    >>> model = VectorPerceptron("simplex", gamma=2.0, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95), model.halted_, bool(model.n_updates_ <= model.update_bound())
    (True, True, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelClassifier._kernel_constraints,
        "labels": [StrOptions({"indicator", "simplex"})],
        "step": [Interval(Real, 0.0, None, closed="neither")],
        "margin": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "average": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        labels: str = "indicator",
        *,
        step: float = 1.0,
        margin: float = 1.0,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        max_iter: int = 100,
        shuffle: bool = True,
        average: bool = False,
        random_state: Any = None,
    ) -> None:
        self.labels = labels
        self.step = step
        self.margin = margin
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.average = average
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Pass over the rows until a pass changes nothing, or `max_iter` times."""
        self._validate_params()
        X, self.classes_, numbers = self._checked_data(X, y)
        self._training = (X, numbers)  # for the bound
        count = len(self.classes_)
        other = label_product(self.labels, count)
        products = np.where(np.eye(count, dtype=bool), 1.0, other)
        if self.kernel == "linear":
            coef = products @ self._run_linear(X, numbers, other)
            check_reach(X, coef)
            self.coef_ = coef
        else:
            weights = self._run_kernel(X, numbers, other)
            rows = self._keep_rows(X, weights > 0.0)
            self.dual_coef_ = weights[rows, None] * products[numbers[rows]]
        return self

    def _run_kernel(self, X: Any, numbers: NDArray[np.int64], other: float) -> NDArray[np.float64]:
        gram = np.ascontiguousarray(self._gram_of_rows(X), np.float64)
        weights, late, margins = np.zeros((3, len(numbers)))

        def epoch(order: NDArray[np.int64], seen: int) -> int:
            given = gram, numbers, other, float(self.step), float(self.margin), order, seen
            return int(kernel_epoch(*given, weights, late, margins))

        visits = self._run(epoch, len(numbers))
        return weights - late / visits if self.average else weights

    def _run_linear(self, X: Any, numbers: NDArray[np.int64], other: float) -> NDArray[np.float64]:
        """Return the sum of the added rows of each class."""
        sums, late = np.zeros((2, len(self.classes_) + 1, X.shape[1]))

        def epoch(order: NDArray[np.int64], seen: int) -> int:
            given = numbers, other, float(self.step), float(self.margin), order, seen, sums, late
            if issparse(X):
                return int(sparse_epoch(X.data, X.indices, X.indptr, *given))
            return int(linear_epoch(X, *given))

        visits = self._run(epoch, len(numbers))
        return np.asarray((sums - late / visits if self.average else sums)[:-1])

    def _run(self, epoch: Any, rows: int) -> int:
        """Run epochs; return the number of visits."""
        rng = check_random_state(self.random_state)
        self.n_updates_, self.n_iter_, self.halted_ = 0, 0, False
        while self.n_iter_ < self.max_iter and not self.halted_:
            order = rng.permutation(rows) if self.shuffle else np.arange(rows)
            updates = epoch(order, self.n_iter_ * rows)
            self.n_updates_ += updates
            self.n_iter_ += 1
            self.halted_ = updates == 0
        return self.n_iter_ * rows

    def update_bound(self) -> float:
        """Return how many updates any order of the training rows can cause, or inf where no W gives every row a margin.

        Theorem 1 in its general form, t <= (r**2 + 2 margin / step) |W*|**2, with r the largest |phi(x_i)| and W* any
        matrix with <y_i, W* phi(x_i)> >= 1 for all rows; here nearly the smallest, by the dual of the machine that
        allows no errors. At step = margin = 1 and r = 1 it is the printed 3 |W*|**2.
        """
        check_is_fitted(self)
        X, numbers = self._training
        other = label_product(self.labels, len(self.classes_))
        longest, total = 0.0, 0.0
        # indicator labels: every class has a W* of its own, to be scaled on its own
        groups = [np.flatnonzero(numbers == each) for each in range(len(self.classes_))] if other == 0.0 else [None]
        for rows in groups:
            gram = self._gram_of_rows(X, rows)
            own = numbers if rows is None else numbers[rows]
            ones = np.ones(len(own))
            found = solve_joint(
                gram, own, other, ones, np.inf * ones, tol=BOUND_TOL, most=BOUND_SWEEPS, rng=np.random.RandomState(0)
            )
            least = float(found.margins.min())
            if least <= 0.0:
                return np.inf
            total += float(found.alpha @ found.margins) / least**2
            longest = max(longest, float(gram.diagonal().max()))
        return (longest + 2.0 * self.margin / self.step) * total

    def _class_scores(self, X: Any) -> NDArray[np.float64]:
        if self.kernel != "linear":
            return self._weighted_sums(X, self.dual_coef_)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return steady_product(X, self.coef_.T)
