"""VectorPerceptronClassifier: the perceptron with a margin and vector labels (Szedmak and Shawe-Taylor)."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from pairsim.learn.feature_rows import check_reach
from pairsim.learn.gram import CHUNK, KernelClassifier, checked_values, tidy
from pairsim.learn.label_vectors import NAMED, label_vectors
from pairsim.learn.parameters import check_params
from pairsim.learn.partial_rows import checked_part
from pairsim.learn.row_products import steady_product
from pairsim.learn.solvers.vector_dual import solve_joint
from pairsim.learn.steady_kernels import steady_values
from pairsim.learn.vector_runs import Counts, KernelRun, LinearRun, Rule, in_form_of

BOUND_TOL, BOUND_SWEEPS = 1e-4, 2000  # of the SVM without errors; the bound holds however well it is solved
PART = 256  # rows that are learned at a time online


class VectorPerceptronClassifier(KernelClassifier):
    """Perceptron with a margin and vector labels: W += step * y_i phi(x_i)' whenever <y_i, W phi(x_i)> < margin.

    It predicts the class with the largest <y_t, W phi>. Training halts when a pass over the rows changes nothing. That
    says that every row has its margin, not that it is classified correctly: with a wide kernel most rows can be wrong
    at that point. It learns online, too: see `partial_fit`.

    Parameters
    ----------
    labels : {"indicator", "simplex"}, array-like of shape (classes, dimension), or dict
        As in `VectorSVC`.
    step, margin : float
        The paper's s and lambda.
    kernel : str or callable
        As in `SingleBinaryClassifier`. With "linear" the weights are one row per class, and no Gram matrix is made.
    gamma, degree, coef0
        As in `SVC`.
    max_iter : int
        Maximum number of passes over the rows in `fit`.
    shuffle : bool
        Whether each pass of `fit` has an order of its own.
    average : bool
        Whether W is the mean over all visits instead of the last.
    random_state : int, RandomState or None
        Seed for the orders.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    n_updates_ : int
        How often W was changed.
    halted_ : bool
        Whether the last pass changed nothing.
    n_iter_ : int
        Passes over the rows; each call of `partial_fit` is one.
    problem_rows_ : ndarray, shape (1,)
        The rows of the one problem that is learned: those of `fit`, and those of every call of `partial_fit` since.
    coef_ : ndarray, shape (classes, features)
        With kernel="linear": the weights of each class's score.
    dual_coef_ : ndarray, shape (support rows, classes)
        With any other kernel: the weight of each row in each class's score; `support_` has the rows' numbers, counted
        through all calls of `partial_fit`.

    References
    ----------
    S. Szedmak and J. Shawe-Taylor, "Multiclass learning at one-class complexity", University of Southampton, 2005,
    figure 1 and theorem 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pairsim.learn import VectorPerceptronClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = VectorPerceptronClassifier("simplex", gamma=2.0, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95), model.halted_, bool(model.n_updates_ <= model.update_bound())
    (True, True, True)
    >>> online = VectorPerceptronClassifier("simplex", gamma=2.0)
    >>> for part in (slice(0, None, 2), slice(1, None, 2)):
    ...     online = online.partial_fit(X[part], y[part], classes=[0, 1, 2])
    >>> bool(online.score(X, y) > 0.95), online.n_iter_, online.problem_rows_.tolist()
    (True, 2, [150])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelClassifier._kernel_constraints,
        "labels": [StrOptions(set(NAMED)), "array-like", Mapping],
        "step": [Interval(Real, 0.0, None, closed="neither")],
        "margin": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "average": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        labels: Any = "indicator",
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
        """Pass over the rows until a pass changes nothing, or `max_iter` times; forget what was learned before."""
        check_params(self)
        X, classes, numbers = self._checked_data(X, y)
        rule, rng = self._rule(classes), check_random_state(self.random_state)
        orders = (
            rng.permutation(len(numbers)) if self.shuffle else np.arange(len(numbers)) for _ in range(self.max_iter)
        )
        run: LinearRun | KernelRun
        if self.kernel == "linear":
            run = LinearRun.start(rule, X.shape[1])
            for order in orders:
                run.learn(X, numbers, order)
                if run.counts.halted:
                    break
        else:
            run = KernelRun.of_epochs(rule, self._values(X, None), numbers, orders)
            run.rows = run.places if self._pairwise_input else X[run.places]
        return self._finish(run, X, classes, (X, numbers), len(numbers))

    @available_if(  # type: ignore[untyped-decorator]
        lambda self: not self._pairwise_input
    )
    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Visit some more rows once, in their order, as an online learner does.

        The first call names all `classes`, also those that are not among its rows; with gamma="scale" its rows set the
        width. Any split of the same rows gives, bit for bit, what `fit` does with `max_iter=1`, `shuffle=False` and the
        same gamma. After `fit` it continues with what was learned there; call `fit` to start anew. With a kernel, the
        rows that caused an update are kept, and a new row costs one kernel value for each of them.

        Kernel matrices ("precomputed", "distances") have no rows to keep, and so no `partial_fit`.
        """
        check_params(self)
        known = getattr(self, "_run", None)
        X, classes, numbers = checked_part(self, X, y, classes, first=known is None)
        rule = self._rule(classes)
        if known is not None and not rule.goes_on(known.rule):
            raise ValueError(
                "kernel, its parameters and labels must be those of the last call; call fit to change them."
            )
        X = tidy(X)
        if known is None:
            self.gamma_ = self._width(X)
        run: LinearRun | KernelRun
        if self.kernel == "linear":
            run = LinearRun.start(rule, X.shape[1]) if known is None else known.copy(rule)
            run.learn(X, numbers, np.arange(len(numbers)))
        else:
            run = self._learn_part(known, rule, X, numbers)
        before = 0 if known is None else int(self.problem_rows_[0])
        return self._finish(run, X, classes, None, before + len(numbers))

    def _learn_part(self, known: KernelRun | None, rule: Rule, X: Any, numbers: NDArray[np.int64]) -> KernelRun:
        """Visit new rows, some at a time, so that the kernel values that they need have room."""
        run = known if known is not None else KernelRun.start(rule, X[:0])
        passes, updates = run.counts.passes + 1, run.counts.updates
        X, first = in_form_of(run.rows, X), 0
        while first < len(numbers):
            size = max(1, min(PART, CHUNK // (len(run.numbers) + PART)))
            part, own = X[first : first + size], numbers[first : first + size]
            run = run.with_part(rule, part, own, self._values(run.rows, part), self._values(part, None))
            first += size
        run.counts = Counts(run.counts.visits, run.counts.updates, passes, run.counts.updates == updates)
        return run

    def _rule(self, classes: NDArray[Any]) -> Rule:
        labels = label_vectors("VectorPerceptronClassifier", self.labels, classes)
        settings = () if self.kernel == "linear" else (self.gamma, self.degree, self.coef0)
        return Rule(labels, float(self.step), float(self.margin), (self.kernel, *settings))

    def _values(self, left: Any, right: Any) -> NDArray[np.float64]:
        """Return kernel values of all pairs (of rows of one table if `right` is None), each by its two rows alone."""
        if not left.shape[0]:
            return np.empty((0, right.shape[0]))
        if self._pairwise_input or callable(self.kernel) or issparse(left):
            values = self._gram_of_rows(left) if right is None else self._gram(left, right)
        else:
            own = {"gamma": self.gamma_, "degree": self.degree, "coef0": self.coef0}
            with np.errstate(over="ignore", invalid="ignore"):  # what comes of it is rejected
                values = steady_values(self.kernel, left, left if right is None else right, **own)
        return checked_values(np.ascontiguousarray(values, np.float64))

    def _finish(self, run: LinearRun | KernelRun, X: Any, classes: NDArray[Any], training: Any, rows: int) -> Self:
        """Set what predicts and what is told of the run."""
        weights = run.weights(self.average)
        if isinstance(run, LinearRun):
            check_reach(X, weights)
            self.coef_ = weights
        else:
            self.dual_coef_ = weights[:, None] * run.rule.labels.products[run.numbers]
            self.support_, self.X_fit_ = run.places, run.rows
        self.classes_, self._run, self._training = classes, run, training
        self.n_updates_, self.n_iter_, self.halted_ = run.counts.updates, run.counts.passes, run.counts.halted
        self.problem_rows_ = np.array([rows], np.int64)
        return self

    def update_bound(self, X: Any = None, y: Any = None) -> float:
        """Return how many updates any order of the rows can cause, or inf where no W gives every row a margin.

        The rows are those of `fit`; after `partial_fit`, which keeps only some, they must be given.

        Theorem 1 in its general form, t <= (r**2 + 2 margin / step) |W*|**2, with r the largest |y_i| |phi(x_i)| and W*
        any matrix with <y_i, W* phi(x_i)> >= 1 for all rows; here nearly the smallest, by the dual of the SVM that
        allows no errors. At step = margin = 1 and r = 1 it is the printed 3 |W*|**2.
        """
        check_is_fitted(self)
        if X is not None:
            X, _, numbers = checked_part(self, X, y, None, first=False)
            X = self._tidy(X)
        elif self._training is None:
            raise ValueError("update_bound needs X and y: partial_fit does not keep the rows.")
        else:
            X, numbers = self._training
        labels = self._run.rule.labels
        longest, total = 0.0, 0.0
        groups = labels.groups  # every group of classes has a W* of its own, to be scaled on its own
        for group in groups:
            rows = np.flatnonzero(np.isin(numbers, group))
            if not len(rows):
                continue
            gram = self._gram_of_rows(X, rows if len(groups) > 1 else None)
            own, part, ones = np.searchsorted(group, numbers[rows]), labels.part(group), np.ones(len(rows))
            found = solve_joint(
                gram, own, part, ones, np.inf * ones, tol=BOUND_TOL, most=BOUND_SWEEPS, rng=np.random.RandomState(0)
            )
            least = float(found.margins.min())
            if least <= 0.0:
                return np.inf
            total += float(found.alpha @ found.margins) / least**2
            longest = max(longest, float((gram.diagonal() * part.products.diagonal()[own]).max()))
        return (longest + 2.0 * self.margin / self.step) * total

    def _class_scores(self, X: Any) -> NDArray[np.float64]:
        if self.kernel != "linear":
            return self._weighted_sums(X, self.dual_coef_)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return steady_product(X, self.coef_.T)
