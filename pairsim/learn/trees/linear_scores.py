"""Products of rows with one weight vector, each row's number the same whichever rows are beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from pairsim.kernels.jit import bare_jit, inner

ANY_ORDER = {"reassoc", "contract", "nsz"}


def _row_product(row: Any, weights: Any) -> Any:
    total = 0.0
    for f in range(row.size):
        total += row[f] * weights[f]
    return total


row_product = inner(_row_product, _nrt=False, fastmath=ANY_ORDER)


@bare_jit
def _score_dense(points: Any, rows: Any, weights: Any, bias: Any, scores: Any) -> None:
    for k in range(rows.size):
        scores[k] = bias + row_product(points[rows[k]], weights)


@bare_jit
def _score_sparse(data: Any, features: Any, starts: Any, rows: Any, weights: Any, bias: Any, scores: Any) -> None:
    for k in range(rows.size):
        total = 0.0
        for place in range(starts[rows[k]], starts[rows[k] + 1]):
            total += data[place] * weights[features[place]]
        scores[k] = bias + total


def linear_scores(X: Any, rows: NDArray[np.int64], weights: NDArray[np.float64], bias: float) -> NDArray[np.float64]:
    """Return the products of some rows of X, dense or CSR, with the weights, plus the bias.

    Examples
    --------
    >>> import numpy as np
    >>> from pairsim.learn.trees.linear_scores import linear_scores
    >>> linear_scores(np.eye(3), np.array([2, 0]), np.array([1.0, 2.0, 3.0]), 0.5).tolist()
    [3.5, 1.5]
    """
    scores = np.empty(len(rows))
    if issparse(X):
        _score_sparse(X.data, X.indices, X.indptr, rows, weights, bias, scores)
    else:
        _score_dense(X, rows, weights, bias, scores)
    return scores
