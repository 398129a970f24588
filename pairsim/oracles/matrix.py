"""matrix(P): any probabilities, one per pair."""

from __future__ import annotations

import functools
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsim.checks import check_classes
from pairsim.errors import parameter_error
from pairsim.number_files import MOST_NUMBERS
from pairsim.oracles.base import Arrays, Oracle, Shapes, as_numbers, define_drawn, mirror
from pairsim.oracles.options import Option, one_text
from pairsim.oracles.probabilities import PairProbabilities
from pairsim.oracles.uniform import Uniform


class MatrixKernel(NamedTuple):
    """Compiled form of `Matrix`; only the probabilities above the diagonal are read."""

    win_probabilities: np.ndarray  # float64[n, n]


def _probability(oracle, i, j):
    return oracle.win_probabilities[i, j]


define_drawn(MatrixKernel, _probability)


class MatrixProbabilities(PairProbabilities):
    """Those of `Matrix`, of which only the part above the diagonal counts."""

    def __init__(self, oracle: Matrix) -> None:
        super().__init__(oracle)
        self._win_probabilities = oracle.win_probabilities

    @functools.cached_property
    def first_row(self) -> NDArray[np.float64]:
        return self._win_probabilities[0, 1:]

    @functools.cached_property
    def rest_is_fair(self) -> bool:
        return all((self._win_probabilities[i, i + 1 :] == 0.5).all() for i in range(1, self.n))


class Matrix(Oracle):
    """Pair {i, j} answers i with probability P[i, j]; class 0 is the true one.

    Parameters
    ----------
    win_probabilities : array_like of shape (n, n)
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
    summary: ClassVar[str] = "i wins against j with probability P[i, j]; P from a csv or npy file"
    options: ClassVar[tuple[Option, ...]] = (Option("matrix", one_text, help="a csv or npy file"),)
    needs_n: ClassVar[bool] = False

    def __init__(self, win_probabilities: ArrayLike, label: str = "matrix") -> None:
        given = as_numbers("Matrix", "win_probabilities", win_probabilities, 2)
        if given.shape[0] != given.shape[1]:
            raise parameter_error("Matrix", "win_probabilities", "square", f"shape {given.shape[0]} x {given.shape[1]}")
        self.n = check_classes("Matrix", given.shape[0])
        for i in range(self.n):  # row by row: no second matrix is made
            _check_row(given, i)
        self.win_probabilities = given
        self._label = label
        self._seal()

    @classmethod
    def make(cls, n: int | None, **values: Any) -> Matrix:
        from pairsim.oracles.files import matrix_from

        return matrix_from(values["matrix"])

    @classmethod
    def example(cls, n: int) -> Matrix:
        return cls(Uniform(n, 0.8).matrix())

    def to_plain(self) -> tuple[dict[str, Any], Arrays]:
        return {"n": self.n}, {"upper": self.win_probabilities[np.triu_indices(self.n, 1)]}

    @classmethod
    def from_plain(cls, params: dict[str, Any], arrays: Arrays) -> Matrix:
        n, upper = int(params["n"]), arrays["upper"]
        if upper.shape != (n * (n - 1) // 2,) or n * n > MOST_NUMBERS:  # before n decides how much memory is taken
            raise ValueError
        win_probabilities = np.full((n, n), 0.5)
        end = 0
        for i in range(n - 1):
            start, end = end, end + n - 1 - i
            win_probabilities[i, i + 1 :] = upper[start:end]
            win_probabilities[i + 1 :, i] = 1.0 - upper[start:end]
        return Matrix(win_probabilities)

    @classmethod
    def arrays_fit(cls, n: int, shapes: Shapes) -> bool:
        return n * n <= MOST_NUMBERS and shapes == {"upper": ((n * (n - 1) // 2,), np.dtype(np.float64))}

    def probabilities(self) -> PairProbabilities:
        return MatrixProbabilities(self)

    @property
    def label(self) -> str:
        return self._label

    def kernel(self) -> MatrixKernel:
        return MatrixKernel(self.win_probabilities)

    def matrix(self) -> NDArray[np.float64]:
        return mirror(self.win_probabilities)

    def _identity(self) -> tuple[object, ...]:
        return (self.n, np.triu(self.win_probabilities, 1).tobytes())

    def __repr__(self) -> str:
        return f"Matrix({self.win_probabilities.tolist()})"


def _check_row(win_probabilities: NDArray[np.float64], i: int) -> None:
    """Reject row i unless it holds probabilities that agree with column i."""
    row, column = win_probabilities[i], win_probabilities[:, i]
    off = np.arange(len(row)) != i
    outside = ((row < 0.0) | (row > 1.0)) & off
    if outside.any():
        j = int(np.argmax(outside))
        raise parameter_error("Matrix", "win_probabilities", "in [0, 1]", f"{row[j]} at [{i}, {j}]")
    amiss = (np.abs(row + column - 1.0) > 1e-9) & off
    if amiss.any():
        j = int(np.argmax(amiss))
        got = f"{row[j]} + {column[j]} at [{i}, {j}]"
        raise parameter_error("Matrix", "win_probabilities", "such that P[i, j] + P[j, i] = 1", got)
