"""Kernel values that are functions of their two rows alone, so that rows learned in parts give those of the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsim.learn.compiled.row_pairs import PRODUCT, SIZES, SQUARES, row_pairs
from pairsim.learn.gram import BEYOND

KINDS = {"rbf": SQUARES, "laplacian": SIZES, "linear": PRODUCT, "poly": PRODUCT, "sigmoid": PRODUCT, "cosine": PRODUCT}


def steady_values(
    kernel: str, left: NDArray[np.float64], right: NDArray[np.float64], *, gamma: float, degree: int, coef0: float
) -> NDArray[np.float64]:
    """Return the values of a kernel of scikit-learn's for all pairs of rows; equal rows have a distance of exactly 0.

    Examples
    --------
    >>> import numpy as np
    >>> from pairsim.learn.steady_kernels import steady_values
    >>> rows = np.array([[0.1, 0.2], [0.1, 0.2], [1.1, 0.2]])
    >>> steady_values("rbf", rows[:1], rows, gamma=1.0, degree=3, coef0=0.0).round(3).tolist()
    [[1.0, 1.0, 0.368]]
    """
    if kernel == "cosine":
        left, right = _unit_rows(left), _unit_rows(right)
    values = np.zeros((len(left), len(right)))
    row_pairs(np.ascontiguousarray(left), np.ascontiguousarray(right.T), KINDS[kernel], values)
    if kernel in ("rbf", "laplacian"):
        if not values.max(initial=0.0) < np.inf:
            raise ValueError(BEYOND)
        values *= -gamma
        np.exp(values, out=values)
    elif kernel in ("poly", "sigmoid"):
        values *= gamma
        values += coef0
        if kernel == "poly":
            values **= degree
        else:
            np.tanh(values, out=values)
    return values


def _unit_rows(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    lengths: Any = np.array([np.sqrt(np.square(row).sum()) for row in rows])
    return rows / np.where(lengths > 0.0, lengths, 1.0)[:, None]
