"""matrix(P): any chances at all, one a pair."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsim.checks import check_classes
from pairsim.errors import refusal
from pairsim.oracles.base import Oracle, as_numbers, mirror, register_drawn


class MatrixKernel(NamedTuple):
    """Compiled form of `Matrix`; only the chances above the diagonal are read."""

    chances: np.ndarray  # float64[n, n]


def _chance(oracle, i, j):
    return oracle.chances[i, j]


register_drawn(MatrixKernel, _chance)


class Matrix(Oracle):
    """Pair {i, j} answers i with chance P[i, j]; class 0 is the true one.

    Parameters
    ----------
    chances : array_like of shape (n, n)
        P, with P[i, j] + P[j, i] = 1 (to 1e-9) and every entry in [0, 1]. The diagonal is not looked at.
    label : str
        Name in tables.

    Examples
    --------
    >>> from pairsim import MaxWin, Matrix, simulate
    >>> simulate(Matrix([[0.5, 1.0], [0.0, 0.5]]), MaxWin(), trials=100).success
    1.0
    """

    name: ClassVar[str] = "matrix"
    summary: ClassVar[str] = "any chances: pair {i, j} answers i with chance P[i, j], P from a csv or npy file"

    def __init__(self, chances: ArrayLike, label: str = "matrix") -> None:
        given = as_numbers("Matrix", "chances", chances, 2)
        if given.shape[0] != given.shape[1]:
            raise refusal("Matrix", "chances", "square", f"shape {given.shape[0]} x {given.shape[1]}")
        self.n = check_classes("Matrix", given.shape[0])
        off = ~np.eye(self.n, dtype=bool)
        if ((given < 0.0) | (given > 1.0))[off].any():
            i, j = np.argwhere(((given < 0.0) | (given > 1.0)) & off)[0]
            raise refusal("Matrix", "chances", "in [0, 1]", f"{given[i, j]} at [{i}, {j}]")
        amiss = (np.abs(given + given.T - 1.0) > 1e-9) & off
        if amiss.any():
            i, j = np.argwhere(amiss)[0]
            got = f"{given[i, j]} + {given[j, i]} at [{i}, {j}]"
            raise refusal("Matrix", "chances", "such that P[i, j] + P[j, i] = 1", got)
        self.chances = given
        self._label = label
        self._seal()

    @property
    def label(self) -> str:
        return self._label

    def kernel(self) -> MatrixKernel:
        return MatrixKernel(self.chances)

    def matrix(self) -> NDArray[np.float64]:
        return mirror(self.chances)

    def _identity(self) -> tuple[object, ...]:
        return (self.n, np.triu(self.chances, 1).tobytes())

    def __repr__(self) -> str:
        return f"Matrix({self.chances.tolist()})"
