"""Estimated errors, one per pair: what a decoder that chooses its pairs chooses by."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsim.errors import parameter_error, shown
from pairsim.number_files import read_numbers

MUST_BE = "None, a symmetric n x n matrix of probabilities, its n(n-1)/2 numbers above the diagonal, or a file of them"


MOST_ERRORS = 1 << 24  # a matrix of 4,096 classes: each number is kept as a Python float


class PairErrors(tuple[float, ...]):
    """The errors of pairs (0,1) (0,2) ... (n-2,n-1), and the file that they are from; compares by the numbers alone."""

    source: str | None

    def __new__(cls, values: Any, source: str | None = None) -> PairErrors:
        """Keep the numbers, which were checked."""
        made = super().__new__(cls, values)
        made.source = source
        return made

    @property
    def n(self) -> int:
        """The number of classes."""
        return (1 + math.isqrt(1 + 8 * len(self))) // 2

    def matrix(self) -> NDArray[np.float64]:
        """Return the symmetric matrix, 0 on the diagonal."""
        square = np.zeros((self.n, self.n))
        square[np.triu_indices(self.n, 1)] = self
        return square + square.T

    def __str__(self) -> str:
        """Return the errors as a spec has them: the file, or the numbers with slashes between."""
        return self.source or "/".join(map(repr, self))

    def __repr__(self) -> str:
        return repr(self.source) if self.source else f"[{', '.join(map(repr, self))}]"


def check_errors(owner: str, errors: Any) -> PairErrors | None:
    """Return errors in their one form, from a matrix, from the numbers above its diagonal, from text or from a file.

    Examples
    --------
    >>> check_errors("Radag", [[0, 0.1, 0.3], [0.1, 0, 0.2], [0.3, 0.2, 0]])
    [0.1, 0.3, 0.2]
    >>> check_errors("Radag", "0.1/0.3/0.2").n
    3
    """
    if errors is None or isinstance(errors, PairErrors):
        return errors
    source = None
    if isinstance(errors, str | os.PathLike):
        source = os.fspath(errors)
        numbers = _from_text(str(source))
        if numbers is None:
            numbers = read_numbers(owner, "errors", Path(source), MOST_ERRORS)
        else:
            source = None
    else:
        try:
            numbers = np.asarray(errors, np.float64)
        except (TypeError, ValueError, OverflowError):
            raise parameter_error(owner, "errors", MUST_BE, shown(errors)) from None
    return PairErrors(_above_the_diagonal(owner, numbers).tolist(), source)


def _from_text(text: str) -> NDArray[np.float64] | None:
    """Return the numbers of "0.1/0.3/0.2", None where it is something else."""
    try:
        return np.array([float(part) for part in text.split("/")])
    except ValueError:
        return None


def _above_the_diagonal(owner: str, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    if numbers.ndim == 2 and numbers.shape[0] == numbers.shape[1] > 1:
        upper = np.triu_indices(len(numbers), 1)
        amiss = ~(np.abs(numbers - numbers.T) <= 1e-9)[upper]  # nan is amiss too
        if amiss.any():
            i, j = (int(places[np.argmax(amiss)]) for places in upper)
            raise parameter_error(
                owner, "errors", MUST_BE, f"{numbers[i, j]} at [{i}, {j}] and {numbers[j, i]} at [{j}, {i}]"
            )
        numbers = numbers[upper]
    pairs = numbers.size
    n = (1 + math.isqrt(1 + 8 * pairs)) // 2
    if numbers.ndim > 2 or max(numbers.shape, default=0) != pairs or pairs == 0 or n * (n - 1) // 2 != pairs:
        raise parameter_error(owner, "errors", MUST_BE, f"numbers of shape {numbers.shape}")
    good = (numbers >= 0.0) & (numbers <= 1.0)
    if not good.all():
        raise parameter_error(owner, "errors", MUST_BE, str(numbers[~good][0]))
    return numbers.ravel()
