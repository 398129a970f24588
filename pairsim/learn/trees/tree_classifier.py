"""Base of classifiers with a binary tree over the classes and a support vector machine at each node."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix, issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from pairsim.bounds import TheoryBound, tree_risk_bound
from pairsim.errors import parameter_error
from pairsim.learn.gram import BEYOND, CHUNK, KernelClassifier
from pairsim.learn.parameters import check_params
from pairsim.learn.row_products import ROWS, by_equal_parts
from pairsim.learn.trees.class_rows import ClassRows, Decision, class_rows
from pairsim.learn.trees.class_tree import ClassTree, export_text
from pairsim.learn.trees.gaussian_scores import gaussian_scores
from pairsim.learn.trees.linear_scores import linear_scores

Classes = tuple[int, ...]
Places = NDArray[np.int64]
JUST = 1e-300  # how far a class is behind that is on the right of a node at which a row lies on the plane


class TreeClassifier(KernelClassifier):
    """Base of classifiers that fit a tree of SVMs, from the root down: `_decide` is what they differ in."""

    C: float
    tol: float
    class_weight: Any
    n_jobs: int | None
    random_state: Any
    objectives_: NDArray[np.float64]
    tree_: ClassTree
    intercept_: NDArray[np.float64]
    problem_rows_: Places
    margins_: NDArray[np.float64]

    _tree_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        **KernelClassifier._kernel_constraints,
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Fit the tree: divide the classes in two, train an SVM on the two sides, and go on with each of them."""
        check_params(self)
        X, self.classes_, numbers = self._checked_data(X, y)
        self._check_options()
        self._weights = self._class_weights()
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        with np.errstate(over="ignore", invalid="ignore"):
            self._grow(X, class_rows(self, X, numbers), seed)
        return self

    def _check_options(self) -> None:
        """Reject parameters that do not go together."""

    def _decide(self, rows: ClassRows, classes: Classes, boxes: NDArray[np.float64], seed: int) -> Decision:
        """Divide the classes of a node, and train the SVM that decides; `boxes` has C per row."""
        raise NotImplementedError

    def _grow(self, X: Any, rows: ClassRows, seed: int) -> None:
        """Decide at the nodes, those of one depth side by side."""
        found: dict[Classes, Decision] = {}
        threads = effective_n_jobs(self.n_jobs)
        level: list[Classes] = [tuple(range(len(self.classes_)))]
        while level:
            work = [(rows, classes, self._boxes(rows, classes), seed) for classes in level]
            if threads == 1:
                decided = [self._decide(*node) for node in work]
            else:
                decided = Parallel(n_jobs=self.n_jobs, prefer="threads")(delayed(self._decide)(*node) for node in work)
            found.update(zip(level, decided, strict=True))
            sides = [side for classes in level for side in _split(classes, found[classes].sides)]
            level = [side for side in sides if len(side) > 1]
        self.tree_ = ClassTree.grow(len(self.classes_), lambda classes: _split(classes, found[classes].sides))
        decisions = [found[classes] for classes in self.tree_.classes]
        if not all(decision.converged for decision in decisions):
            warnings.warn("Solver terminated early: raise tol or scale the data.", ConvergenceWarning, stacklevel=4)
        self._keep(X, decisions)
        self.problem_rows_ = np.array([decision.rows for decision in decisions], np.int64)
        self.objectives_ = np.array([decision.objective for decision in decisions])
        self.margins_ = np.array([decision.weights.margin for decision in decisions])
        self.radius_, self.n_rows_ = rows.radius, len(rows.order)
        self._keep_search(decisions)

    def _keep_search(self, decisions: Sequence[Decision]) -> None:
        """Keep what the search tells beside the tree."""

    def _keep(self, X: Any, decisions: Sequence[Decision]) -> None:
        """Keep the weights of features of every node, or the rows and weights of its support vectors."""
        for name in ("coef_", "dual_coef_", "support_", "X_fit_"):
            self.__dict__.pop(name, None)
        weights = [decision.weights for decision in decisions]
        self.intercept_ = np.array([each.bias for each in weights])
        if weights[0].coef is not None:
            self.coef_ = np.array([each.coef for each in weights])
            return
        used = np.zeros(X.shape[0], np.bool_)
        for each in weights:
            used[each.rows] = True
        kept = self._keep_rows(X, used)
        starts = np.cumsum([0] + [len(each.dual) for each in weights if each.dual is not None])
        columns = np.concatenate([np.searchsorted(kept, each.rows) for each in weights if each.rows is not None])
        values = np.concatenate([each.dual for each in weights if each.dual is not None])
        self.dual_coef_ = csr_matrix((values, columns.astype(np.int32), starts), shape=(len(weights), len(kept)))

    def _class_weights(self) -> NDArray[np.float64] | None:
        """Return the factor of C of each class, or None where all are alike or each node has its own."""
        if not isinstance(self.class_weight, dict):
            return None
        factors = np.array([self.class_weight.get(label, 1.0) for label in self.classes_.tolist()], np.float64)
        unknown = set(self.class_weight) - set(self.classes_.tolist())
        if unknown or not ((factors > 0.0) & (factors < np.inf)).all():
            must_be = "None, 'balanced' or a dict of labels and positive numbers"
            raise parameter_error(type(self).__name__, "class_weight", must_be, self.class_weight)
        return factors

    def _cost(self, rows: int) -> float:
        """Return C at a node with so many rows."""
        return float(self.C)

    def _boxes(self, rows: ClassRows, classes: Classes) -> NDArray[np.float64]:
        """Return C for each row of a node."""
        sizes = rows.sizes[list(classes)]
        factors = np.ones(len(sizes)) if self._weights is None else self._weights[list(classes)]
        if self.class_weight == "balanced":
            factors = sizes.sum() / (len(sizes) * sizes)
        return np.repeat(self._cost(int(sizes.sum())) * factors, sizes)

    def _checked_rows(self, X: Any) -> Any:
        accept = False if self._pairwise_input else "csr"
        return self._tidy(validate_data(self, X, accept_sparse=accept, dtype=np.float64, order="C", reset=False))

    def _scores_at(self, X: Any, node: int, rows: Places) -> NDArray[np.float64]:
        """Return what a node's SVM makes of some checked rows; no row depends on the rows around it."""
        bias = float(self.intercept_[node])
        with np.errstate(over="ignore", invalid="ignore"):
            if hasattr(self, "coef_"):
                scores = linear_scores(X, rows, self.coef_[node], bias)
            else:
                part = slice(*self.dual_coef_.indptr[node : node + 2])
                kept, dual = self.X_fit_[self.dual_coef_.indices[part]], self.dual_coef_.data[part, None]
                if not len(dual):
                    return np.full(len(rows), bias)
                some = X if len(rows) == X.shape[0] else X[rows]
                scores = self._kernel_sums(some, kept, dual) + bias
        if np.isnan(scores).any():
            raise ValueError(BEYOND)
        return scores

    def _kernel_sums(self, X: Any, kept: Any, dual: NDArray[np.float64]) -> NDArray[np.float64]:
        if isinstance(self.kernel, str) and self.kernel == "rbf" and isinstance(X, np.ndarray):
            return gaussian_scores(X, kept.toarray() if issparse(kept) else kept, dual[:, 0], self.gamma_)
        size = max(1, min(ROWS, CHUNK // len(dual)))
        return by_equal_parts(lambda part: self._gram(part, kept) @ dual, X, 1, size).ravel()

    def node_scores(self, X: Any) -> NDArray[np.float64]:
        """Return the decision value of every row at every node, at least 0 where the node sends the row to the left."""
        check_is_fitted(self)
        X = self._checked_rows(X)
        every = np.arange(X.shape[0])
        return np.column_stack([self._scores_at(X, node, every) for node in range(self.tree_.n_nodes)])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of the leaf that each row arrives at; a node computes the scores of its own rows only."""
        check_is_fitted(self)
        X = self._checked_rows(X)
        places = self.tree_.route(X.shape[0], lambda node, rows: self._scores_at(X, node, rows) >= 0.0)
        return np.asarray(self.classes_[places])

    def _class_scores(self, X: Any) -> NDArray[np.float64]:
        """Return the smallest decision value on the way to each class, taken as positive in the class's direction."""
        signs, values = self.tree_.signs(), self.node_scores(X)
        scores = np.full((len(values), len(signs)), np.inf)
        for node, value in enumerate(values.T):
            left, right = signs[:, node] > 0, signs[:, node] < 0
            scores[:, left] = np.minimum(scores[:, left], value[:, None])
            scores[:, right] = np.minimum(scores[:, right], np.where(value == 0.0, -JUST, -value)[:, None])
        return scores / 2.0 if len(signs) == 2 else scores

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return per row and class the smallest decision value on the way from the root to the class.

        Decision values count as positive in the direction of the class, so the predicted class, and no other, has a
        score of 0 or above. Of two classes, one number per row, positive for `classes_[1]`.
        """
        return super().decision_function(X)

    def risk_bound(self, *, delta: float = 0.05, reading: str = "scale-free") -> TheoryBound:
        """Return the bound on the tree's risk by its nodes' margins on the training rows, as `tree_risk_bound` does.

        A margin is the distance of the nearest training row from a node's plane. The bound is infinite unless every
        node separates its training rows. The radius is that of the ball around the mean of the training rows, in the
        space of the kernel, that holds them. With probability 1 - `delta` the risk is below the value; in practice it
        is far above 1, and the result says so.

        Parameters
        ----------
        delta : float
            One minus the confidence.
        reading : {"scale-free", "printed"}
            As in `tree_risk_bound`.
        """
        check_is_fitted(self)
        margins = np.maximum(self.margins_, 0.0).tolist()
        return tree_risk_bound(self.n_rows_, margins, self.radius_, delta=delta, reading=reading)

    def export_text(self) -> str:
        """Return the order of discrimination as indented text: which labels each node separates from which."""
        check_is_fitted(self)
        return export_text(self.tree_, self.classes_)


def _split(classes: Classes, sides: Sequence[int]) -> tuple[Classes, Classes]:
    """Return the classes on the left and on the right."""
    left = tuple(c for c, side in zip(classes, sides, strict=True) if side > 0)
    return left, tuple(c for c, side in zip(classes, sides, strict=True) if side < 0)
