"""How copies of a point are told apart: label kernels of the single-binary reductions."""

from __future__ import annotations

import dataclasses
import math
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pairsim.errors import parameter_error

Numbers = NDArray[np.float64]


def tied_rho(gamma: float) -> float:
    """Return the likeness of two unit vectors under the data's own Gaussian width, exp(-2 gamma) = exp(-1 / s**2)."""
    return math.exp(-2.0 * gamma)


def likeness(rho: float | None, ext_scale: float | None, gamma: float) -> float:
    """Return the kernel of two unit vectors: as it is given, by a width of its own, or by the data's."""
    if rho is not None and ext_scale is not None:
        raise parameter_error("SingleBinaryClassifier", "rho", "None where 'ext_scale' is given", rho)
    if rho is not None:
        return float(rho)
    if ext_scale is None:
        return tied_rho(gamma)
    with np.errstate(over="ignore"):
        return float(np.exp(-((np.float64(1.0) / ext_scale) ** 2)))


def extension_gram(extension: str, count: int, rho: float) -> Numbers:
    """Return the Gaussian kernel between the extensions of `count` copies, rho**(squared distance / 2).

    Extensions are the numbers 1, 2, ... ("single", "ecoc") or unit vectors ("identity").

    Examples
    --------
    >>> from pairsim.learn.solvers.extensions import extension_gram
    >>> extension_gram("identity", 3, 0.25)[0].tolist()
    [1.0, 0.25, 0.25]
    >>> extension_gram("single", 3, 0.25)[0].tolist()
    [1.0, 0.5, 0.0625]
    """
    place = np.arange(count)
    if extension == "identity":
        distance = 2.0 * (place[:, None] != place)
    else:
        distance = (place[:, None] - place).astype(np.float64) ** 2
    return np.asarray(np.power(rho, distance / 2.0))


def matrix_gram(matrix: Numbers, rho: float) -> Numbers:
    """Return the Gaussian kernel between the rows of an extension matrix, rho**(squared distance / 2).

    Examples
    --------
    >>> import numpy as np
    >>> from pairsim.learn.solvers.extensions import matrix_gram
    >>> matrix_gram(np.eye(3), 0.25)[0].tolist()
    [1.0, 0.25, 0.25]
    """
    distance = np.zeros((len(matrix), len(matrix)))
    with np.errstate(over="ignore"):  # what is infinitely far away is not alike at all
        for column in matrix.T:
            distance += (column[:, None] - column) ** 2
    return np.asarray(np.power(rho, distance / 2.0))


class LabelKernels(Protocol):
    """The kernels of copies of which Algorithm 2 learns a linear combination."""

    @property
    def size(self) -> int:
        """How many there are."""

    def weighted(self, mu: Numbers) -> Numbers:
        """Return the sum of mu_k times the k-th kernel."""

    def products(self, table: Numbers) -> Numbers:
        """Return the inner product of a symmetric table with each kernel."""


@dataclasses.dataclass(frozen=True)
class ClassKernels:
    """The paper's: the k-th matrix is all zeros but for a 1 in row and column k. Sums are in closed form."""

    size: int
    rho: float

    def gram(self, k: int) -> Numbers:
        """Return the k-th kernel: sqrt(rho) where exactly one of the two copies is k, else 1."""
        own = np.arange(self.size) == k
        return np.where(own[:, None] != own, math.sqrt(self.rho), 1.0)

    def weighted(self, mu: Numbers) -> Numbers:
        """Return the sum of mu_k times the k-th kernel."""
        gram = mu.sum() - (1.0 - math.sqrt(self.rho)) * (mu[:, None] + mu)
        np.fill_diagonal(gram, mu.sum())
        return np.asarray(gram)

    def products(self, table: Numbers) -> Numbers:
        """Return the inner product of a symmetric table with each kernel."""
        beside = table.sum(axis=1) - table.diagonal()
        return np.asarray(table.sum() - 2.0 * (1.0 - math.sqrt(self.rho)) * beside)


@dataclasses.dataclass(frozen=True)
class MatrixKernels:
    """Kernels of any extension matrices, or any kernels (where rho is None). They are made one at a time."""

    matrices: tuple[Numbers, ...]
    rho: float | None

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.matrices)

    def gram(self, k: int) -> Numbers:
        """Return the k-th kernel."""
        return self.matrices[k] if self.rho is None else matrix_gram(self.matrices[k], self.rho)

    def weighted(self, mu: Numbers) -> Numbers:
        """Return the sum of mu_k times the k-th kernel."""
        total = np.zeros((len(self.matrices[0]), len(self.matrices[0])))
        for k, weight in enumerate(mu):
            total += weight * self.gram(k)
        return total

    def products(self, table: Numbers) -> Numbers:
        """Return the inner product of a symmetric table with each kernel."""
        return np.array([float((self.gram(k) * table).sum()) for k in range(self.size)])
