"""Checked data as the kernels of linear learners take them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from pairsim.learn.compiled.feature_rows import LANES, DenseRows, SparseRows


def feature_rows(X: Any) -> DenseRows | SparseRows:
    """Return an array or a CSR matrix as rows, the features of each in order and once."""
    if not issparse(X):
        return DenseRows(np.ascontiguousarray(X, np.float64))
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return SparseRows(X.data, X.indices, X.indptr)


def squared_lengths(X: Any) -> NDArray[np.float64]:
    """Return the squared length of every row."""
    if issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), np.float64).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X))


def weight_table(features: int, classes: int) -> NDArray[np.float64]:
    """Return zeros for a weight a feature and class, one more row for the intercept, and whole lanes of columns."""
    return np.zeros((features + 1, -(-classes // LANES) * LANES))


def check_reach(X: Any, weights: NDArray[np.float64]) -> None:
    """Reject weights whose products with the rows are beyond what numbers can hold: they were learned by such."""
    values = X.data if issparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        largest = max(values.max(initial=1.0), -values.min(initial=0.0))
        reach = np.abs(weights).max() * largest * (X.shape[1] + 1)
    if not np.isfinite(reach):
        raise ValueError("The weights became infinite: the features are too large. Scale them.")
