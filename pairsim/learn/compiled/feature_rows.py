"""Data points as kernels see them, dense or compressed sparse rows, and the scores of all classes.

Weights have a row a feature and one more, last, for the intercept: its feature is `constant` (1, or 0 where there is no
intercept). They have a column a class, and columns of zeros up to a multiple of LANES, so that classes are scored side
by side and each sum still runs over the features in order: dense and sparse rows give the same bits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import overload

from pairsim.kernels.jit import BARE_INNER

LANES = 4


class DenseRows(NamedTuple):
    """Rows with all their features."""

    points: np.ndarray  # float64[rows, features]


class SparseRows(NamedTuple):
    """Rows with the features that are not 0: those of row i lie from starts[i] to starts[i + 1]."""

    data: np.ndarray  # float64
    features: np.ndarray  # int32 or int64
    starts: np.ndarray  # the same


def _score_dense(rows, i, constant, weights, scores):
    points, last = rows.points, np.uint64(weights.shape[0] - 1)
    for block in range(np.uint64(weights.shape[1] // LANES)):
        r = np.uint64(block * LANES)
        s, t, u = r + np.uint64(1), r + np.uint64(2), r + np.uint64(3)
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        for f in range(last):
            value = points[i, f]
            a += value * weights[f, r]
            b += value * weights[f, s]
            c += value * weights[f, t]
            d += value * weights[f, u]
        scores[r], scores[s] = a + constant * weights[last, r], b + constant * weights[last, s]
        scores[t], scores[u] = c + constant * weights[last, t], d + constant * weights[last, u]


def _score_sparse(rows, i, constant, weights, scores):
    data, features, last = rows.data, rows.features, np.uint64(weights.shape[0] - 1)
    first, end = np.uint64(rows.starts[i]), np.uint64(rows.starts[i + np.uint64(1)])
    for block in range(np.uint64(weights.shape[1] // LANES)):
        r = np.uint64(block * LANES)
        s, t, u = r + np.uint64(1), r + np.uint64(2), r + np.uint64(3)
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        for place in range(first, end):
            f, value = np.uint64(features[place]), data[place]
            a += value * weights[f, r]
            b += value * weights[f, s]
            c += value * weights[f, t]
            d += value * weights[f, u]
        scores[r], scores[s] = a + constant * weights[last, r], b + constant * weights[last, s]
        scores[t], scores[u] = c + constant * weights[last, t], d + constant * weights[last, u]


def _add_dense(rows, i, constant, weights, r, step):
    points, last = rows.points, np.uint64(weights.shape[0] - 1)
    for f in range(last):
        weights[f, r] += step * points[i, f]
    weights[last, r] += step * constant


def _add_sparse(rows, i, constant, weights, r, step):
    data, features, last = rows.data, rows.features, np.uint64(weights.shape[0] - 1)
    for place in range(np.uint64(rows.starts[i]), np.uint64(rows.starts[i + np.uint64(1)])):
        weights[np.uint64(features[place]), r] += step * data[place]
    weights[last, r] += step * constant


SCORE = {DenseRows: _score_dense, SparseRows: _score_sparse}
ADD = {DenseRows: _add_dense, SparseRows: _add_sparse}


def score_row(rows, i, constant, weights, scores):
    """Set scores[r] to the product of row i and the weights of class r."""
    return SCORE[type(rows)](rows, i, constant, weights, scores)


def add_row(rows, i, constant, weights, r, step):
    """Add step times row i to the weights of class r."""
    return ADD[type(rows)](rows, i, constant, weights, r, step)


@overload(score_row, jit_options=BARE_INNER)
def _score_row(rows, i, constant, weights, scores):
    return SCORE[rows.instance_class]


@overload(add_row, jit_options=BARE_INNER)
def _add_row(rows, i, constant, weights, r, step):
    return ADD[rows.instance_class]
