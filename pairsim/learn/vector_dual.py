"""The dual of the vector-output SVM: one variable a row, whatever the number of classes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsim.learn.vector_steps import ascend


@dataclasses.dataclass(frozen=True)
class VectorDual:
    """Dual variables, the rows' margins <y_i, W phi_i>, passes over the rows, and the largest violation left."""

    alpha: NDArray[np.float64]
    margins: NDArray[np.float64]
    sweeps: int
    violation: float


def label_product(labels: str, count: int) -> float:
    """Return the inner product of the unit labels of two different classes."""
    return 0.0 if labels == "indicator" else -1.0 / (count - 1)


def solve_joint(
    gram: NDArray[np.float64],
    classes: NDArray[np.int64],
    other: float,
    targets: NDArray[np.float64],
    upper: NDArray[np.float64],
    *,
    tol: float,
    most: int,
    rng: np.random.RandomState,
) -> VectorDual:
    """Maximise q'a - a'Ha / 2 over 0 <= a <= upper, H = gram times the labels' products, in random order.

    Examples
    --------
    >>> import numpy as np
    >>> from pairsim.learn.vector_dual import solve_joint
    >>> rng, ones = np.random.RandomState(0), np.ones(2)
    >>> solve_joint(np.eye(2), np.array([0, 1]), -1.0, ones, 5 * ones, tol=1e-3, most=9, rng=rng).alpha.tolist()
    [1.0, 1.0]
    """
    gram = np.ascontiguousarray(gram, np.float64)
    alpha, margins = np.zeros((2, len(classes)))
    sweeps, violation = 0, np.inf
    while violation >= tol and sweeps < most:
        violation = ascend(gram, classes, other, targets, upper, alpha, margins, rng.permutation(len(classes)))
        sweeps += 1
    return VectorDual(alpha, margins, sweeps, float(violation))


def solve_blocks(
    block_gram: Callable[[NDArray[np.int64]], NDArray[np.float64]],
    classes: NDArray[np.int64],
    limits: Callable[[NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.float64]]],
    **options: Any,
) -> VectorDual:
    """Solve the same for indicator labels, where classes do not meet: only kernel values within a class are needed.

    `block_gram` gives those of some rows; `limits` turns their diagonal into targets and upper bounds.
    """
    alpha, margins = np.zeros((2, len(classes)))
    sweeps, violation = 0, 0.0
    for each in range(int(classes.max()) + 1):
        rows = np.flatnonzero(classes == each)
        gram = block_gram(rows)
        part = solve_joint(gram, classes[rows], 0.0, *limits(gram.diagonal()), **options)
        alpha[rows], margins[rows] = part.alpha, part.margins
        sweeps, violation = max(sweeps, part.sweeps), max(violation, part.violation)
    return VectorDual(alpha, margins, sweeps, violation)
