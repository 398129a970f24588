"""Kernel values of data points with support vectors, by matrix products, with a bound on their error."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from pairsim.errors import parameter_error
from pairsim.models.base import count_rows
from pairsim.models.compiled.exponentials import exponentials
from pairsim.models.compiled.margins import square_distances, square_sparse_distances
from pairsim.models.linear import norms, square_norms
from pairsim.models.rounding import EPSILON

Values = NDArray[np.float64]

DENSE_NUMBERS = 1 << 22  # sparse support vectors of up to this many numbers (32 MB) are faster as an array
NEAR = 1e-11  # squared distances are taken from differences where products would leave a larger error in a value


@dataclasses.dataclass(frozen=True)
class Rows:
    """Data points as a kernel function wants them, the largest value each can have, and the error of such a value."""

    matrix: Any
    largest: Values
    error: Values
    exact: bool = False  # whether the values must be computed without cancellation


class KernelFunction(abc.ABC):
    """The kernel of data points with the support vectors first .. last - 1 of a model."""

    size: int
    takes_arrays = False  # whether arrays of doubles are what `rows` computes with

    @abc.abstractmethod
    def rows(self, points: Any) -> Rows:
        """Return data points ready for `block`."""

    @abc.abstractmethod
    def block(self, rows: Rows, which: Any, first: int, last: int) -> Values:
        """Return the values of the rows `which` (a slice or numbers) with the vectors first .. last - 1."""

    @abc.abstractmethod
    def numbers_a_row(self) -> int:
        """Return how many doubles `rows` holds for one data point while it works."""


class DotKernel(KernelFunction):
    """linear, poly or sigmoid: functions of the dot product."""

    def __init__(self, vectors: Any, kind: str, gamma: float = 1.0, coef0: float = 0.0, degree: int = 1) -> None:
        self.vectors, self.kind = plain_vectors(vectors), kind
        self.gamma, self.coef0, self.degree = float(gamma), float(coef0), int(degree)
        self.size, self._features = vectors.shape[0], features_a_row(vectors)
        self._longest = float(norms(vectors).max(initial=0.0))
        self.takes_arrays = not scipy.sparse.issparse(vectors)

    def numbers_a_row(self) -> int:
        """Return the features of the point."""
        return self._features

    def rows(self, points: Any) -> Rows:
        """Bound the argument of the function by |x| |s|, and the value and its error by that."""
        unit = EPSILON * (points.shape[1] + 8)
        if self.kind == "linear":
            largest = self._longest * norms(points)
            return Rows(points, largest, unit * largest)
        argument = abs(self.gamma) * self._longest * norms(points) + abs(self.coef0)
        if self.kind == "sigmoid":
            return Rows(points, np.ones_like(argument), unit * argument + 4.0 * EPSILON)
        with np.errstate(over="ignore"):
            largest = argument**self.degree
            return Rows(points, largest, unit * (self.degree + 1) * largest)

    def block(self, rows: Rows, which: Any, first: int, last: int) -> Values:
        """Multiply, then apply the function in place."""
        values = dot_products(rows.matrix[which], self.vectors[first:last])
        if self.kind == "linear":
            return values
        values *= self.gamma
        values += self.coef0
        if self.kind == "sigmoid":
            return np.tanh(values, out=values)
        return raise_to(values, self.degree)


class RbfKernel(KernelFunction):
    """exp(-gamma |x - s|^2).

    Dense data are centred first, which changes no distance and keeps |x|^2 + |s|^2 - 2 x.s from cancelling when the
    features are far from 0. Where it would cancel all the same, differences are squared and added instead.
    """

    def __init__(self, vectors: Any, gamma: float) -> None:
        self.gamma, self.size, self._features = float(gamma), vectors.shape[0], features_a_row(vectors)
        self._sparse = bool(scipy.sparse.issparse(vectors))
        self.takes_arrays = not self._sparse
        self._centre: Values | None = None if self._sparse else vectors.mean(axis=0)
        self._vectors = vectors if self._sparse else vectors - self._centre
        squares = square_norms(self._vectors)
        self._longest = float(np.sqrt(squares.max(initial=0.0)))
        self._squares = self.gamma * squares
        if self._sparse:
            self._product_vectors = plain_vectors(vectors)
        else:  # two more columns add the squared lengths within the product
            self._product_vectors = np.column_stack([self._vectors, np.ones(self.size), -self._squares])

    def numbers_a_row(self) -> int:
        """Return the features of the point, its centred features, and those with a factor, twice."""
        return 4 * self._features

    def rows(self, points: Any) -> Rows:
        """Bound the error of a value, and choose the way to compute it."""
        matrix = points if self._sparse else points - self._centre
        squares = square_norms(matrix)
        spread = 2.0 * self.gamma * (np.sqrt(squares) + self._longest) ** 2 * EPSILON
        width = points.shape[1]
        exact = float(spread.max(initial=0.0)) * (np.sqrt(width) + 8) > NEAR
        # without cancellation the relative error of the exponent is small, and t exp(-t) < 1
        error = np.full(len(squares), (width + 8) * EPSILON) if exact else spread * (width + 8) + 8 * EPSILON
        if not self._sparse and not exact:
            matrix = np.column_stack([2.0 * self.gamma * matrix, -self.gamma * squares, np.ones(len(squares))])
        return Rows(matrix, np.ones(len(squares)), error, exact)

    def block(self, rows: Rows, which: Any, first: int, last: int) -> Values:
        """Compute -gamma |x - s|^2, then the exponential in place."""
        matrix = rows.matrix[which]
        if rows.exact:
            values = self._from_differences(matrix, first, last)
        elif self._sparse:
            values = dot_products(matrix, self._product_vectors[first:last])
            values *= 2.0 * self.gamma
            values -= self.gamma * square_norms(matrix)[:, None]
            values -= self._squares[first:last]
        else:
            values = matrix @ self._product_vectors[first:last].T
        return exponentials(np.ascontiguousarray(values))

    def _from_differences(self, matrix: Any, first: int, last: int) -> Values:
        vectors = self._vectors[first:last]
        values = np.empty((matrix.shape[0], last - first))
        if self._sparse:
            ours = (matrix.data, matrix.indices, matrix.indptr)
            square_sparse_distances(*ours, vectors.data, vectors.indices, vectors.indptr, values)
        else:
            square_distances(np.ascontiguousarray(matrix), vectors, values)
        values *= -self.gamma
        return values


class GramColumns(KernelFunction):
    """Values that come with the data: X holds the kernel of each point with all training points."""

    def __init__(self, support: NDArray[np.int64]) -> None:
        self.support, self.size = support, len(support)

    def numbers_a_row(self) -> int:
        """Return the number of support vectors."""
        return self.size

    def rows(self, points: Any) -> Rows:
        """Keep the columns of the support vectors; the numbers are what they are."""
        values = np.asarray(points, np.float64)[:, self.support]
        return Rows(values, np.abs(values).max(axis=1, initial=0.0), np.zeros(len(values)))

    def block(self, rows: Rows, which: Any, first: int, last: int) -> Values:
        """Return what X holds."""
        return np.ascontiguousarray(rows.matrix[which, first:last])


class CallableKernel(GramColumns):
    """Values that a user's function computes from data points and training points."""

    def __init__(self, function: Callable[[Any, Any], Any], training: Any, support: NDArray[np.int64]) -> None:
        super().__init__(support)
        self.function, self.training = function, training
        self._count = count_rows(training)

    def numbers_a_row(self) -> int:
        """Return the number of training points."""
        return self._count

    def rows(self, points: Any) -> Rows:
        """Call the function; its rounding is unknown, so a few units in the last place are allowed for."""
        values = self.function(points, self.training)
        values = np.asarray(values.toarray() if scipy.sparse.issparse(values) else values, np.float64)
        if values.shape != (count_rows(points), self._count):
            must_be = f"a function that returns {count_rows(points)} x {self._count} values"
            raise parameter_error("margins", "kernel", must_be, f"shape {values.shape}")
        rows = super().rows(values)
        return dataclasses.replace(rows, error=64.0 * EPSILON * rows.largest)


def dot_products(points: Any, vectors: Any) -> Values:
    """Return points @ vectors.T as an array, for any mixture of dense and sparse."""
    product = points @ vectors.T
    return np.asarray(product.toarray() if scipy.sparse.issparse(product) else product)


def features_a_row(vectors: Any) -> int:
    """Return how many numbers a vector holds: all features, or about as many as are not 0."""
    return int(vectors.nnz // max(1, vectors.shape[0])) + 1 if scipy.sparse.issparse(vectors) else vectors.shape[1]


def plain_vectors(vectors: Any) -> Any:
    """Return support vectors as an array when that is not large, for faster products."""
    if scipy.sparse.issparse(vectors) and vectors.shape[0] * vectors.shape[1] <= DENSE_NUMBERS:
        return vectors.toarray()
    return vectors


def raise_to(values: Values, degree: int) -> Values:
    """Return values ** degree by repeated squaring, as LIBSVM does it."""
    power = np.ones_like(values)
    while degree > 0:
        if degree % 2:
            power *= values
        degree //= 2
        if degree:
            values *= values
    return power
