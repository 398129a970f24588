"""The dual of one support vector machine on replicated points: warm starts, and points left out for a while."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from pairsim.learn.compiled.kronecker import BIG, minimise

LOOK = 2000  # steps between two looks for points that can be left out
FEW = 0.6  # leave points out when at most this share is active: a copy of 0.36 of the Gram matrix pays soon
BLOCK = 512  # columns of a narrow Gram matrix that are made doubles at a time


@dataclasses.dataclass(frozen=True)
class DualSolution:
    """Where the dual stands: all tables have one row per replica and one column per data point.

    `beta` holds label times dual variable, `projected` is beta times the data's Gram matrix, `errors` are labels less
    scores (without a bias), `bias` is one number a replica.
    """

    beta: NDArray[np.float64]
    projected: NDArray[np.float64]
    errors: NDArray[np.float64]
    bias: NDArray[np.float64]
    objective: float
    steps: int
    violation: float


class _Problem:
    """Tables of the kernel for some of the points."""

    def __init__(
        self,
        gram: NDArray[np.floating],
        labels_gram: NDArray[np.float64],
        beta: NDArray[np.float64],
        errors: NDArray[np.float64],
        bounds: tuple[NDArray[np.float64], NDArray[np.float64]],
    ) -> None:
        self.gram, self.labels_gram, self.beta = gram, labels_gram, beta
        self.diagonal = gram.diagonal().astype(np.float64)
        self.lower, self.upper = bounds
        self.up, self.low = np.empty((2, *beta.shape))
        self.set_errors(errors)

    def set_errors(self, errors: NDArray[np.float64]) -> None:
        self.up[:] = np.where(self.beta < self.upper, errors, -BIG)
        self.low[:] = np.where(self.beta > self.lower, errors, BIG)

    def errors(self) -> NDArray[np.float64]:
        return np.asarray(np.where(self.up > -BIG / 2, self.up, self.low))

    def minimise(self, own_bias: bool, tol: float, most: int) -> tuple[int, float]:
        rows, points = self.beta.shape
        steps, violation = minimise(
            self.gram, self.diagonal, self.labels_gram, self.beta, self.lower, self.upper, self.up, self.low,
            own_bias, tol, most, np.empty(rows), np.empty(rows), np.empty(points),
        )  # fmt: skip
        return int(steps), float(violation)

    def active(self, own_bias: bool) -> NDArray[np.int64]:
        """Return the points of which some replica could be part of a step that improves."""
        axis = 1 if own_bias else None
        top, bottom = self.up.max(axis=axis, keepdims=True), self.low.min(axis=axis, keepdims=True)
        return np.flatnonzero(((self.up > bottom) | (self.low < top)).any(axis=0))

    def take(self, points: NDArray[np.int64]) -> _Problem:
        bounds = self.lower[:, points], self.upper[:, points]
        gram = self.gram[np.ix_(points, points)]
        return _Problem(gram, self.labels_gram, self.beta[:, points], self.errors()[:, points], bounds)


def _descend(problem: _Problem, own_bias: bool, tol: float, most: int, shrinking: bool) -> tuple[int, float]:
    """Take steps; now and then solve for the active points alone, then look at all again."""
    taken = 0
    while True:
        steps, violation = problem.minimise(own_bias, tol, min(LOOK, most - taken) if shrinking else most)
        taken += steps
        if violation < tol or taken == most or not shrinking or steps < LOOK:
            return taken, violation
        points = problem.active(own_bias)
        if len(points) <= FEW * problem.beta.shape[1]:
            part = problem.take(points)
            steps, _ = _descend(part, own_bias, tol, most - taken, shrinking)
            taken += steps
            change = np.zeros_like(problem.beta)
            change[:, points] = part.beta - problem.beta[:, points]
            problem.beta[:, points] = part.beta
            problem.set_errors(problem.errors() - problem.labels_gram @ times_gram(change, problem.gram))


def times_gram(table: NDArray[np.float64], gram: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return table @ gram in doubles; a narrow Gram matrix is widened some columns at a time."""
    if gram.dtype == np.float64:
        return table @ gram
    product = np.empty((table.shape[0], gram.shape[1]))
    for first in range(0, gram.shape[1], BLOCK):
        product[:, first : first + BLOCK] = table @ gram[:, first : first + BLOCK].astype(np.float64)
    return product


def solve_dual(
    gram: NDArray[np.floating],
    labels_gram: NDArray[np.float64],
    signs: NDArray[np.float64],
    box: float,
    *,
    own_bias: bool = False,
    tol: float = 1e-3,
    most: int = 10**9,
    start: NDArray[np.float64] | None = None,
    shrinking: bool = True,
) -> DualSolution:
    """Maximise sum |beta| - <beta, labels_gram beta gram> / 2 over 0 <= signs * beta <= box with sum(beta) = 0.

    Parameters
    ----------
    gram : ndarray, shape (points, points)
        Of the data, doubles or single precision.
    labels_gram : ndarray, shape (replicas, replicas)
    signs : ndarray, shape (replicas, points)
        +1 and -1, the binary label of each replicated point; 0 leaves it out.
    own_bias : bool
        Whether each replica has a bias of its own, so that each row of beta sums to 0.
    start : ndarray, optional
        A feasible beta to start from, which is not changed.

    Examples
    --------
    Two points of different classes at a distance, one replica: an ordinary support vector machine.

    >>> import numpy as np
    >>> from pairsim.learn.solvers.kronecker import solve_dual
    >>> found = solve_dual(np.eye(2), np.eye(1), np.array([[1.0, -1.0]]), 5.0)
    >>> found.beta.tolist(), found.objective
    ([[1.0, -1.0]], 1.0)
    """
    gram = np.ascontiguousarray(gram)
    labels_gram = np.ascontiguousarray(labels_gram, np.float64)
    signs = np.ascontiguousarray(signs, np.float64)
    bounds = np.minimum(0.0, box * signs), np.maximum(0.0, box * signs)
    beta = np.zeros(signs.shape) if start is None else np.clip(start, *bounds)
    errors = signs.copy() if start is None else signs - labels_gram @ times_gram(beta, gram)
    problem = _Problem(gram, labels_gram, beta, errors, bounds)
    steps, violation = _descend(problem, own_bias, tol, most, shrinking)
    # once more from the beginning: the errors of many steps do not add up in what is returned
    projected = times_gram(beta, gram)
    scores = labels_gram @ projected
    errors = signs - scores
    problem.set_errors(errors)
    objective = float((beta * signs).sum() - 0.5 * (beta * scores).sum())
    return DualSolution(beta, projected, errors, _bias(problem, own_bias), objective, steps, violation)


def _bias(problem: _Problem, own_bias: bool) -> NDArray[np.float64]:
    """Return the mean error of the free variables, or the middle of what optimality allows where none is free."""
    rows = len(problem.beta)
    groups = [slice(q, q + 1) for q in range(rows)] if own_bias else [slice(0, rows)]
    bias = np.empty(rows)
    for group in groups:
        up, low = problem.up[group], problem.low[group]
        free = (up > -BIG / 2) & (low < BIG / 2)
        if free.any():
            bias[group] = up[free].mean()
        else:
            ends = [end for end in (up.max(), low.min()) if abs(end) < BIG / 2]
            bias[group] = np.mean(ends) if ends else 0.0
    return bias
