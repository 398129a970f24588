"""The dual of the SVM of Crammer and Singer, solved until the duality gap is small: on features or a Gram matrix.

K. Crammer and Y. Singer, "On the algorithmic implementation of multiclass kernel-based vector machines", JMLR 2, 2001.

The kernels are in `pairsim.learn.compiled.crammer_singer_dual`; here it is decided when to stop.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from pairsim.learn.compiled.crammer_singer_dual import descend_gram, descend_rows
from pairsim.learn.feature_rows import feature_rows, squared_lengths

PART = 0.1  # rows that were left out are looked at again when the others' gap has fallen to this part of the whole
SWEEPS = 10  # over a Gram matrix between two looks at the gap

Floats = NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class MachineDual:
    """Weights of every class (of features, or of rows where there is a Gram matrix), and how good they are.

    `objective` is |W|**2 / 2 + C * (sum of losses), and exceeds the least possible value by at most `gap`. `passes` is
    the work in passes over the data: scores that were computed, or with a Gram matrix rows that were solved for.
    """

    weights: Floats
    intercept: Floats
    objective: float
    gap: float
    passes: int


def machine_objective(scores: Floats, numbers: NDArray[np.int64], C: float, square: float) -> float:
    """Return |W|**2 / 2 + C * (sum of losses), given the scores of all rows and |W|**2."""
    own = np.arange(len(numbers)), numbers
    ahead = scores.copy()
    ahead[own] -= 1.0
    return square / 2.0 + C * float((1.0 + ahead.max(axis=1) - scores[own]).sum())


def duality_gap(scores: Floats, numbers: NDArray[np.int64], shares: Floats) -> float:
    """Return the sum of what each row adds: its shares times what their classes are behind the best one."""
    ahead = scores.copy()
    ahead[np.arange(len(numbers)), numbers] -= 1.0
    return float((shares * (ahead.max(axis=1, keepdims=True) - ahead)).sum())


def first_shares(numbers: NDArray[np.int64], count: int, C: float) -> Floats:
    """Return the shares with which all weights are 0: all of C on a row's own class."""
    return np.where(numbers[:, None] == np.arange(count), C, 0.0)


def solve_features(
    X: Any, numbers: NDArray[np.int64], count: int, C: float, constant: float, *, tol: float, most: int, seed: int
) -> MachineDual:
    """Solve for the weights of features and of the feature `constant`, with rows left out while they are settled.

    Examples
    --------
    >>> import numpy as np
    >>> from pairsim.learn.solvers.crammer_singer_dual import solve_features
    >>> X, numbers = np.array([[1.0], [-1.0]]), np.array([0, 1])
    >>> found = solve_features(X, numbers, 2, 10.0, 0.0, tol=1e-6, most=100, seed=0)
    >>> found.weights.ravel().tolist(), found.objective
    ([0.5, -0.5], 0.25)
    """
    rows, lengths = feature_rows(X), squared_lengths(X) + constant**2
    dense = not issparse(X)
    table = np.zeros((count, X.shape[1] + 1) if dense else (X.shape[1] + 1, count))
    weights = table if dense else table.T
    shares, queue = first_shares(numbers, count, C), np.arange(len(numbers))
    active, sizes = np.empty((len(numbers), count), np.int32), np.empty(len(numbers), np.int32)
    sweep, computed, goal, buffers = 0, 0, np.inf, np.empty((3, count))
    while True:
        active[:], sizes[:] = np.arange(count), count
        sweeps, more = descend_rows(
            rows, numbers, constant, C, lengths, table, shares, active, sizes, queue,
            np.uint64(seed), sweep, goal, most * shares.size - computed, buffers,
        )  # fmt: skip
        sweep, computed = sweep + sweeps, computed + more
        scores = X @ weights[:, :-1].T + constant * weights[:, -1]
        objective = machine_objective(scores, numbers, C, float((table**2).sum()))
        gap = duality_gap(scores, numbers, shares)
        if gap <= tol * objective or computed >= most * shares.size:
            passes = -(-computed // shares.size)
            return MachineDual(weights[:, :-1].copy(), constant * weights[:, -1], objective, gap, passes)
        goal = max(PART * gap, tol * objective / 2.0)


def solve_gram(
    gram: Floats, numbers: NDArray[np.int64], count: int, C: float, *, tol: float, most: int, seed: int
) -> MachineDual:
    """Solve the same without an intercept for weights of the rows, given their kernel values with each other."""
    gram = np.ascontiguousarray(gram, np.float64)
    scores, shares = np.zeros((count, len(numbers))), first_shares(numbers, count, C)
    first, queue, buffers = shares.copy(), np.arange(len(numbers)), np.empty((3, count))
    sweep, steps, worst = 0, 0, 1.0
    while True:
        worst, more = descend_gram(
            gram, numbers, C, scores, shares, queue, np.uint64(seed), sweep, SWEEPS, worst, buffers
        )
        sweep, steps = sweep + SWEEPS, steps + more
        weights = first - shares
        objective = machine_objective(scores.T, numbers, C, float((weights * scores.T).sum()))
        gap = duality_gap(scores.T, numbers, shares)
        if gap <= tol * abs(objective) or steps >= most * len(numbers) or worst == 0.0:
            passes = max(1, -(-steps // len(numbers)))
            return MachineDual(weights, np.zeros(count), objective, gap, passes)
