"""The dual of the SVM of Weston and Watkins, solved until the duality gap is small: on features or a Gram matrix.

The kernels are in `pairsim.learn.compiled.weston_watkins_dual`; here it is decided when to stop.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from pairsim.learn.compiled.weston_watkins_dual import descend_gram_freely, descend_rows_freely
from pairsim.learn.feature_rows import feature_rows, squared_lengths
from pairsim.learn.solvers.crammer_singer_dual import PART, SWEEPS, Floats, MachineDual


def _excesses(scores: Floats, numbers: NDArray[np.int64]) -> Floats:
    """Return 1 + (score of a class) - (score of the row's own), and 0 for the own class."""
    rows = np.arange(len(numbers))
    found = 1.0 + scores - scores[rows, numbers][:, None]
    found[rows, numbers] = 0.0
    return np.asarray(found)


def sum_objective(scores: Floats, numbers: NDArray[np.int64], C: float, square: float) -> float:
    """Return |W|**2 / 2 + C * (sum of all positive excesses), given the scores of all rows and |W|**2."""
    return square / 2.0 + C * float(np.maximum(_excesses(scores, numbers), 0.0).sum())


def sum_gap(scores: Floats, numbers: NDArray[np.int64], C: float, shares: Floats) -> float:
    """Return the duality gap, to which each share adds C * max(0, excess) - share * excess."""
    excesses = _excesses(scores, numbers)
    return float((C * np.maximum(excesses, 0.0) - shares * excesses).sum())


def solve_features_by_sum(
    X: Any, numbers: NDArray[np.int64], count: int, C: float, constant: float, *, tol: float, most: int, seed: int
) -> MachineDual:
    """Solve for the weights of features and of the feature `constant`, with rows left out while they are settled.

    Examples
    --------
    >>> import numpy as np
    >>> X, numbers = np.array([[1.0], [-1.0]]), np.array([0, 1])
    >>> found = solve_features_by_sum(X, numbers, 2, 10.0, 0.0, tol=1e-6, most=100, seed=0)
    >>> found.weights.ravel().tolist(), found.objective
    ([0.5, -0.5], 0.25)
    """
    rows, lengths = feature_rows(X), squared_lengths(X) + constant**2
    dense = not issparse(X)
    table = np.zeros((count, X.shape[1] + 1) if dense else (X.shape[1] + 1, count))
    weights = table if dense else table.T
    shares, queue = np.zeros((len(numbers), count)), np.arange(len(numbers))
    active = np.tile(np.arange(count, dtype=np.int32), (len(numbers), 1))
    sweep, computed, goal, buffers = 0, 0, np.inf, np.empty((3, count))
    while True:
        sweeps, more = descend_rows_freely(
            rows, numbers, constant, C, lengths, table, shares, active, queue,
            np.uint64(seed), sweep, goal, most * shares.size - computed, buffers,
        )  # fmt: skip
        sweep, computed = sweep + sweeps, computed + more
        scores = X @ weights[:, :-1].T + constant * weights[:, -1]
        objective = sum_objective(scores, numbers, C, float((table**2).sum()))
        gap = sum_gap(scores, numbers, C, shares)
        if gap <= tol * objective or computed >= most * shares.size:
            passes = -(-computed // shares.size)
            return MachineDual(weights[:, :-1].copy(), constant * weights[:, -1], objective, gap, passes)
        goal = max(PART * gap, tol * objective / 2.0)


def solve_gram_by_sum(
    gram: Floats, numbers: NDArray[np.int64], count: int, C: float, *, tol: float, most: int, seed: int
) -> MachineDual:
    """Solve the same without an intercept for weights of the rows, given their kernel values with each other."""
    gram = np.ascontiguousarray(gram, np.float64)
    scores, shares = np.zeros((count, len(numbers))), np.zeros((len(numbers), count))
    queue, buffers = np.arange(len(numbers)), np.empty((3, count))
    sweep, steps, worst = 0, 0, 1.0
    while True:
        worst, more = descend_gram_freely(
            gram, numbers, C, scores, shares, queue, np.uint64(seed), sweep, SWEEPS, worst, buffers
        )
        sweep, steps = sweep + SWEEPS, steps + more
        weights = -shares
        weights[np.arange(len(numbers)), numbers] = shares.sum(axis=1)
        objective = sum_objective(scores.T, numbers, C, float((weights * scores.T).sum()))
        gap = sum_gap(scores.T, numbers, C, shares)
        if gap <= tol * abs(objective) or steps >= most * len(numbers) or worst == 0.0:
            return MachineDual(weights, np.zeros(count), objective, gap, max(1, -(-steps // len(numbers))))
