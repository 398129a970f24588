"""The dual of Kessler's construction, solved until the duality gap is small."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from pairsim.learn.compiled.kessler_dual import ascend_rows

Numbers = NDArray[np.float64]

SWEEPS = 5  # between two looks at the gap
SETTLED = 1e-9  # a violation that is none, of margins of 1: with a huge C even its rounding makes a gap


@dataclasses.dataclass(frozen=True)
class KesslerDual:
    """Where the dual stands: `alpha` has a variable per row and other class, `beta` a row's weight in each class.

    `objective` is |W|**2 / 2 + C * (sum of losses), and exceeds the least possible value by at most `gap`. `solved` is
    whether that is little enough, or no row violates optimality.
    """

    alpha: Numbers
    beta: Numbers
    intercept: Numbers
    objective: float
    gap: float
    passes: int
    solved: bool


def row_weights(alpha: Numbers, numbers: NDArray[np.int64]) -> Numbers:
    """Return each row's weight in each class: the sum of its variables in its own, less the variable in another."""
    beta = -alpha
    beta[np.arange(len(numbers)), numbers] = alpha.sum(axis=1)
    return beta


def solve_kessler(
    gram: Numbers,
    numbers: NDArray[np.int64],
    count: int,
    C: float,
    constant: float,
    *,
    tol: float,
    most: int,
    rng: np.random.RandomState,
) -> KesslerDual:
    """Solve for the rows' weights, given their kernel values with each other and the square of a constant feature.

    Examples
    --------
    Two points on the two axes: w_0 - w_1 is (1, -1), the products of which with the points are 1 and -1.

    >>> import numpy as np
    >>> from pairsim.learn.solvers.kessler_dual import solve_kessler
    >>> rng = np.random.RandomState(0)
    >>> found = solve_kessler(np.eye(2), np.array([0, 1]), 2, 10.0, 0.0, tol=1e-9, most=100, rng=rng)
    >>> found.beta.round(6).tolist(), round(found.objective, 6)
    ([[0.5, -0.5], [-0.5, 0.5]], 0.5)
    """
    gram = np.ascontiguousarray(gram, np.float64)
    scores, alpha = np.zeros((count, len(numbers))), np.zeros((len(numbers), count))
    visited, worst, wanted = 0, 0.0, np.empty(count)  # the first sweep visits all rows, whatever they violate
    while True:
        for _ in range(SWEEPS):
            order = rng.permutation(len(numbers))
            worst, more = ascend_rows(gram, constant, numbers, C, scores, alpha, order, worst, wanted)
            visited += more
        beta = row_weights(alpha, numbers)
        objective, gap = _worth(scores, beta, alpha, numbers, C)
        solved = gap <= tol * abs(objective) or worst <= SETTLED
        if solved or visited >= most * len(numbers) or not np.isfinite(gap):
            passes = max(1, -(-visited // len(numbers)))
            return KesslerDual(alpha, beta, constant * beta.sum(axis=0), objective, gap, passes, solved)


def _worth(scores: Numbers, beta: Numbers, alpha: Numbers, numbers: NDArray[np.int64], C: float) -> tuple[float, float]:
    """Return the objective and the duality gap."""
    square = float((beta * scores.T).sum())
    own = scores[numbers, np.arange(len(numbers))]
    losses = np.maximum(1.0 - own + scores, 0.0)
    losses[numbers, np.arange(len(numbers))] = 0.0
    loss = C * float(losses.sum())
    return square / 2.0 + loss, square + loss - float(alpha.sum())
