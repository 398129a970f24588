"""The rows of a training set class by class, and SVMs on those of some classes: on features, or on one Gram matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from pairsim.learn.gram import BEYOND, LARGEST, KernelClassifier
from pairsim.learn.trees.gram_svm import GramSVM
from pairsim.learn.trees.linear_svm import FEATURES, LinearSVM
from pairsim.memory import check_memory

Numbers = NDArray[np.float64]
Places = NDArray[np.int64]
NodeSVM = LinearSVM | GramSVM
GAP = 1e-3  # a duality gap of this part of `tol`, relative, goes with errors of optimality below `tol`


class NodeWeights(NamedTuple):
    """What decides at a node: weights of features, or of training rows (by number), and the bias."""

    coef: Numbers | None
    rows: Places | None
    dual: Numbers | None
    bias: float
    margin: float  # the smallest distance of a training row from the plane; at most 0 where one is on the wrong side


class Decision(NamedTuple):
    """What was found at a node: the side of each class (1 is left), and what decides between them."""

    sides: tuple[int, ...]
    weights: NodeWeights
    rows: int
    objective: float
    converged: bool
    fits: int = 1
    report: Any = None  # of a search that has more to tell


class ClassRows:
    """Training rows, sorted by class; `order` has their numbers, class c has the places starts[c] to starts[c + 1]."""

    def __init__(self, numbers: Places) -> None:
        self.order = np.argsort(numbers, kind="stable")
        self.sizes = np.bincount(numbers)
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)])
        self._nodes: dict[tuple[int, ...], tuple[Places, Places]] = {}
        self.means: Numbers  # inner products of the means of classes
        self.radius: float  # of a ball around the mean of all rows that holds them

    def _node(self, classes: Sequence[int]) -> tuple[Places, Places]:
        """Return the places of the rows of some classes, which are in order, and how many each class has."""
        key = tuple(classes)
        if key not in self._nodes:
            places = np.concatenate([np.arange(self.starts[c], self.starts[c + 1]) for c in key])
            self._nodes[key] = places, self.sizes[list(key)]
        return self._nodes[key]

    def places(self, classes: Sequence[int]) -> Places:
        """Return the places of the rows of some classes, which are in order."""
        return self._node(classes)[0]

    def signs(self, classes: Sequence[int], sides: Sequence[int]) -> Numbers:
        """Return the side of the class of every row of these classes."""
        return np.repeat(np.array(sides, np.float64), self._node(classes)[1])

    def svm(self, classes: Sequence[int], sides: Sequence[int], boxes: Numbers, tol: float) -> NodeSVM:
        """Return the SVM, not yet trained, that puts each of some classes on its side; `boxes` has C per row."""
        raise NotImplementedError

    def weights(self, svm: Any) -> NodeWeights:
        """Return what a trained SVM decides by."""
        raise NotImplementedError

    def gram(self, classes: Sequence[int]) -> Numbers:
        """Return the kernel values of the rows of some classes with each other."""
        raise NotImplementedError

    def product(self, classes: Sequence[int]) -> Callable[[Numbers], Numbers]:
        """Return the function from weights of the rows of some classes to their inner products with weighted sums."""
        return self.gram(classes).dot


class FeatureRows(ClassRows):
    """Rows with few features, for the linear kernel: no Gram matrix is needed."""

    def __init__(self, X: Numbers, numbers: Places) -> None:
        super().__init__(numbers)
        with np.errstate(over="ignore", invalid="ignore"):
            self.middle = X.mean(axis=0)
            rows = X[self.order] - self.middle
            lengths = np.einsum("ij,ij->i", rows, rows)
            if not lengths.sum() < LARGEST:
                raise ValueError(BEYOND)
        self.columns = np.ascontiguousarray(np.column_stack([rows, np.ones(len(X))]).T)
        centres = np.add.reduceat(rows, self.starts[:-1], axis=0) / self.sizes[:, None]
        self.means, self.radius = centres @ centres.T, float(np.sqrt(lengths.max()))
        self._last: tuple[tuple[int, ...], Numbers] = ((), self.columns)

    def columns_of(self, classes: Sequence[int]) -> Numbers:
        """Return the rows of some classes as columns, with a last feature 1."""
        if len(classes) == len(self.sizes):
            return self.columns
        known, columns = self._last  # one assignment, so that threads can share it
        if known != tuple(classes):
            columns = np.ascontiguousarray(self.columns[:, self.places(classes)])
            self._last = tuple(classes), columns
        return columns

    def svm(self, classes: Sequence[int], sides: Sequence[int], boxes: Numbers, tol: float) -> NodeSVM:
        """Return an SVM on the features."""
        return LinearSVM(self.columns_of(classes), self.signs(classes, sides), boxes, GAP * tol)

    def weights(self, svm: LinearSVM) -> NodeWeights:
        """Return weights of the features as they were given."""
        coef = svm.weights[:-1].copy()
        nearest = svm.margins.min() / np.sqrt(svm.square) if svm.square > 0.0 else 0.0
        return NodeWeights(coef, None, None, float(svm.weights[-1] - coef @ self.middle), float(nearest))

    def gram(self, classes: Sequence[int]) -> Numbers:
        """Return the rows' inner products."""
        rows = self.columns_of(classes)[:-1].T + self.middle
        return np.asarray(rows @ rows.T)

    def product(self, classes: Sequence[int]) -> Callable[[Numbers], Numbers]:
        """Return products by way of the features."""
        columns = self.columns_of(classes)[:-1]
        return lambda weights: np.asarray(columns.T @ (columns @ weights))


class GramRows(ClassRows):
    """Rows that share one Gram matrix; where features are given besides, the weights of features are worked out."""

    def __init__(self, gram: Numbers, numbers: Places, features: Any = None) -> None:
        super().__init__(numbers)
        self.matrix, self.diagonal = gram, np.ascontiguousarray(gram.diagonal())
        self.features = features
        sums = np.add.reduceat(gram, self.starts[:-1], axis=1)  # of each row's kernel values with those of each class
        self.means = np.add.reduceat(sums, self.starts[:-1], axis=0) / self.sizes[:, None] / self.sizes
        rows = sums.sum(axis=1) / len(gram)
        self.radius = float(np.sqrt(max(0.0, float((self.diagonal - 2.0 * rows).max() + rows.mean()))))

    def svm(self, classes: Sequence[int], sides: Sequence[int], boxes: Numbers, tol: float) -> NodeSVM:
        """Return an SVM on the Gram matrix."""
        if len(classes) == len(self.sizes):
            return GramSVM(self.matrix, self.diagonal, self.signs(classes, sides), boxes, tol)
        signs, limits, places = np.zeros(len(self.order)), np.zeros(len(self.order)), self.places(classes)
        signs[places], limits[places] = self.signs(classes, sides), boxes
        return GramSVM(self.matrix, self.diagonal, signs, limits, tol)

    def weights(self, svm: GramSVM) -> NodeWeights:
        """Return weights of training rows, or of features where they are known."""
        beta, bias, square = svm.svm.beta, svm.svm.bias(), svm.square
        inside = svm.signs[svm.signs != 0.0]
        nearest = float((inside * svm.scores()).min()) / np.sqrt(square) if square > 0.0 else 0.0
        used = np.flatnonzero(beta)
        if self.features is None:
            return NodeWeights(None, self.order[used], beta[used], bias, float(nearest))
        coef = np.asarray(self.features[self.order[used]].T @ beta[used]).ravel()
        return NodeWeights(coef, None, None, bias, float(nearest))

    def gram(self, classes: Sequence[int]) -> Numbers:
        """Return a part of the Gram matrix."""
        places = self.places(classes)
        return np.ascontiguousarray(self.matrix[np.ix_(places, places)])


def class_rows(model: KernelClassifier, X: Any, numbers: Places) -> ClassRows:
    """Return the checked rows of a classifier, as its kernel asks for."""
    linear = isinstance(model.kernel, str) and model.kernel == "linear"
    rows, columns = X.shape
    if linear and not issparse(X) and columns <= FEATURES and columns**2 <= 2 * rows:
        return FeatureRows(X, numbers)
    check_memory(type(model).__name__, "kernel", model.kernel, 10 * rows**2, f"a Gram matrix of {rows} rows")
    order = np.argsort(numbers, kind="stable")
    return GramRows(np.ascontiguousarray(model._gram_of_rows(X, order)), numbers, X if linear else None)
