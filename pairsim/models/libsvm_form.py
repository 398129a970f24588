"""The content of a LIBSVM model file as a pair model."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from pairsim.errors import parameter_error
from pairsim.models.base import Margins, PairModel, Places, take_rows
from pairsim.models.checking import FreeMatrix
from pairsim.models.compiled.margins import LINEAR, POLY, RBF, SIGMOID, libsvm_kernel, sum_in_order
from pairsim.models.kernel import KernelPairs
from pairsim.models.kernel_functions import DENSE_NUMBERS, DotKernel, GramColumns, KernelFunction, RbfKernel

CODES = {"linear": LINEAR, "polynomial": POLY, "rbf": RBF, "sigmoid": SIGMOID}


class Header(NamedTuple):
    """What stands before the support vectors; `intercept` is rho with its sign turned."""

    kernel: str
    degree: int
    gamma: float
    coef0: float
    labels: list[int]
    intercept: list[float]
    counts: list[int]


class Vectors(NamedTuple):
    """The support vectors: coefficients (n-1, vectors), and features in the layout of a CSR matrix."""

    coefficients: NDArray[np.float64]
    starts: Places
    indices: Places
    values: NDArray[np.float64]


def build_model(header: Header, vectors: Vectors) -> PairModel:
    """Return the model that a file describes."""
    borders = np.concatenate([[0], np.cumsum(header.counts)]).astype(np.int64)
    dual, intercept, classes = vectors.coefficients, np.array(header.intercept), np.array(header.labels)
    if header.kernel == "precomputed":
        support = vectors.values.astype(np.int64) - 1
        gram = GramCheck(int(support.max(initial=0)) + 1)
        return KernelPairs(GramColumns(support), dual, borders, intercept, classes, gram)
    check, matrix = compress(vectors)
    kernel = kernel_function(header, matrix)
    settle = FileSettle(header, matrix, np.ascontiguousarray(dual), borders, intercept)
    return KernelPairs(kernel, dual, borders, intercept, classes, check, settle)


def compress(vectors: Vectors) -> tuple[UsedColumns, Any]:
    """Return the features that occur, as the columns of a matrix with one empty column more.

    An index may be as large as two thousand million in a file of one line; the matrix has only the columns in use.
    """
    used, columns = np.unique(vectors.indices, return_inverse=True)
    shape = (len(vectors.starts) - 1, len(used) + 1)
    matrix = scipy.sparse.csr_array((vectors.values, columns, vectors.starts), shape=shape)
    return UsedColumns(used - 1, shape[0] * shape[1] <= DENSE_NUMBERS), matrix


def kernel_function(header: Header, matrix: Any) -> KernelFunction:
    """Return the kernel function that a header names."""
    vectors = matrix.toarray() if matrix.shape[0] * matrix.shape[1] <= DENSE_NUMBERS else matrix
    if header.kernel == "rbf":
        return RbfKernel(vectors, header.gamma)
    kind = {"polynomial": "poly"}.get(header.kernel, header.kernel)
    return DotKernel(vectors, kind, header.gamma, header.coef0, header.degree)


@dataclasses.dataclass(frozen=True)
class UsedColumns:
    """Brings X to the columns of the support vectors.

    The last column holds the length of what X has in other columns: it adds to distances, and nothing to products.
    """

    columns: Places
    dense: bool

    def __call__(self, X: Any) -> Any:
        """Return X with the columns in use and the length of the rest."""
        points = FreeMatrix("margins")(X)
        there = self.columns[self.columns < points.shape[1]]
        other = np.ones(points.shape[1], np.bool_)
        other[there] = False
        if not scipy.sparse.issparse(points) and self.dense:
            out = np.zeros((points.shape[0], len(self.columns) + 1))
            out[:, : len(there)] = points[:, there]
            if other.any():
                out[:, -1] = np.sqrt((points[:, other] ** 2).sum(axis=1))
            return out
        points = scipy.sparse.csr_array(points)
        rest = np.sqrt(np.asarray(points[:, other].multiply(points[:, other]).sum(axis=1)).reshape(-1, 1))
        none = scipy.sparse.csr_array((points.shape[0], len(self.columns) - len(there)))
        out = scipy.sparse.csr_array(scipy.sparse.hstack([points[:, there], none, rest], format="csr"))
        out.sort_indices()
        return out.toarray() if self.dense else out


@dataclasses.dataclass(frozen=True)
class GramCheck:
    """Takes kernel values with the training points, at least up to the last one that is a support vector."""

    width: int

    def __call__(self, X: Any) -> Any:
        """Return X as an array."""
        points = FreeMatrix("margins")(X)
        if points.shape[1] < self.width:
            must_be = f"kernel values with the training points, at least {self.width} columns"
            raise parameter_error("margins", "X", must_be, f"{points.shape[1]} columns")
        return points.toarray() if scipy.sparse.issparse(points) else points


@dataclasses.dataclass(frozen=True)
class FileSettle:
    """LIBSVM's arithmetic in its own order: features by index, then the vectors of the lower class, of the higher."""

    header: Header
    matrix: Any
    dual: NDArray[np.float64]
    borders: Places
    intercept: NDArray[np.float64]

    def __call__(self, points: Any, rows: Places, pairs: Places) -> Margins:
        """Return the margin of pair pairs[k] on points[rows[k]], for each k."""
        low, high = np.triu_indices(len(self.header.labels), 1)
        out = np.empty(rows.size)
        values, buffer = np.empty(self.matrix.shape[0]), np.empty(self.matrix.shape[1])
        function = (CODES[self.header.kernel], self.header.gamma, self.header.coef0, self.header.degree)
        ours = (self.matrix.data, self.matrix.indices, self.matrix.indptr)
        for row in np.unique(rows):
            x = take_rows(points, [row])
            x = np.ravel(x.toarray() if scipy.sparse.issparse(x) else x).astype(np.float64)
            libsvm_kernel(x, *ours, *function, buffer, values)
            for k in np.flatnonzero(rows == row):
                total = sum_in_order(values, self.dual, self.borders, low[pairs[k]], high[pairs[k]])
                out[k] = total + self.intercept[pairs[k]]
        return out
