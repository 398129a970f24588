"""The Gaussian kernel of all rows with each other, some rows at a time, so that they stay in the processor's cache."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK = 128  # rows at a time


def gaussian_gram(X: NDArray[np.float64], gamma: float, dtype: str = "float64") -> NDArray[Any]:
    """Return exp(-gamma |x - y|**2) of all rows; rows are centred first, so that far from 0 nothing cancels.

    One product gives the whole exponent: two more columns add the squared lengths. The memory is passed over once,
    where `rbf_kernel` passes six times. Whatever `dtype` is asked for, it is computed in doubles.

    Examples
    --------
    >>> import numpy as np
    >>> from pairsim.learn.gaussian_gram import gaussian_gram
    >>> gaussian_gram(np.array([[1e6], [1e6 + 1.0]]), 0.5).round(4).tolist()
    [[1.0, 0.6065], [0.6065, 1.0]]
    """
    rows, ones = X - X.mean(axis=0), np.ones(len(X))
    lengths = -gamma * np.einsum("ij,ij->i", rows, rows)
    left = np.column_stack([2.0 * gamma * rows, lengths, ones])
    right = np.ascontiguousarray(np.column_stack([rows, ones, lengths]).T)
    gram = np.empty((len(X), len(X)), dtype)
    buffer = np.empty((BLOCK, len(X))) if gram.dtype != np.float64 else None
    for first in range(0, len(X), BLOCK):
        piece = gram[first : first + BLOCK]
        block = piece if buffer is None else buffer[: len(piece)]
        np.matmul(left[first : first + BLOCK], right, out=block)
        np.minimum(block, 0.0, out=block)
        np.exp(block, out=block if buffer is None else piece, casting="same_kind")
    np.fill_diagonal(gram, 1.0)
    return gram
