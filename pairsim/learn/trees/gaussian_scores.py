"""Weighted sums of Gaussian kernel values of new rows with kept ones, one matrix product per block of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsim.learn.gram import CHUNK
from pairsim.learn.row_products import ROWS, by_equal_parts

Numbers = NDArray[np.float64]


def gaussian_scores(X: Numbers, kept: Numbers, weights: Numbers, gamma: float) -> Numbers:
    """Return the sums over kept rows of weight times exp(-gamma |x - kept|**2); no row depends on those beside it.

    Rows are centred at the mean of the kept ones, so that far from 0 nothing cancels.

    Examples
    --------
    >>> import numpy as np
    >>> from pairsim.learn.trees.gaussian_scores import gaussian_scores
    >>> gaussian_scores(np.array([[1e6 + 1.0]]), np.array([[1e6], [1e6 + 2.0]]), np.array([1.0, 2.0]), 1.0).round(3)
    array([1.104])
    """
    middle = kept.mean(axis=0)
    rows = kept - middle
    right = np.empty((X.shape[1] + 1, len(kept)))
    right[:-1] = 2.0 * gamma * rows.T
    right[-1] = -gamma * np.einsum("ij,ij->i", rows, rows)

    def work(part: Any) -> Numbers:
        left = np.ones((len(part), X.shape[1] + 1))
        np.subtract(part, middle, out=left[:, :-1])
        lengths = gamma * np.einsum("ij,ij->i", left[:, :-1], left[:, :-1])
        values = left @ right
        values -= lengths[:, None]
        np.minimum(values, 0.0, out=values)
        return np.asarray(np.exp(values, out=values) @ weights[:, None])

    return by_equal_parts(work, X, 1, max(1, min(ROWS, CHUNK // len(kept)))).ravel()
