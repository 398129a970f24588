"""A linear support vector machine by interior-point steps: its two bounds, and how far it has come."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairsim.learn.trees.interior_steps import SCRATCH, start_inside, step_inside

Numbers = NDArray[np.float64]

FEATURES = 128  # with more, or with more than rows have a square root of, a step costs more than many of SMO's
ROUND = 2  # steps between two looks at the others
MOST = 200  # steps


class LinearSVM:
    """The variables of one SVM; `columns` has a feature per row, the last of which is 1, and a data point per column.

    `value` is a dual objective, and so a lower bound of the least primal one. `done` says that the primal one of the
    weights exceeds it by `tol` of itself at most, or that no more steps can be taken.

    Examples
    --------
    >>> import numpy as np
    >>> from pairsim.learn.trees.linear_svm import LinearSVM
    >>> svm = LinearSVM(np.array([[1.0, -1.0], [1.0, 1.0]]), np.array([1.0, -1.0]), np.array([9.0, 9.0]), 1e-9)
    >>> while not svm.done:
    ...     svm.advance(np.inf)
    >>> svm.weights.round(6).tolist(), round(svm.value, 6)
    ([1.0, 0.0], 0.5)
    """

    def __init__(self, columns: Numbers, signs: Numbers, boxes: Numbers, tol: float) -> None:
        size, points = columns.shape
        self.columns, self.signs, self.boxes, self.tol = columns, signs, boxes, tol
        self.variables, self.scratch = np.empty((3, points)), np.empty((SCRATCH, points))
        self.margins, self.weights, self.made = np.zeros(points), np.zeros(size), np.empty(size)
        self.matrix, self.change = np.empty((size, size)), np.empty(size)
        start_inside(columns, signs, boxes, self.variables, self.made, self.scratch)
        self.value, self.gap, self.steps, self.done = 0.0, np.inf, 0, False

    def advance(self, ceiling: float) -> None:
        """Take some steps, fewer where the lower bound exceeds `ceiling`."""
        for _ in range(ROUND):
            before = self.weights.copy()
            primal, dual = step_inside(
                self.columns, self.signs, self.boxes, self.variables, self.margins, self.weights, self.made,
                self.matrix, self.change, self.scratch,
            )  # fmt: skip
            self.steps += 1
            if not -np.inf < dual <= primal * (1.0 + self.tol) < np.inf:  # beyond what numbers can tell apart
                self.done, self.weights = True, before
                self.margins = self.signs * (before @ self.columns)
                return
            self.value, self.gap = max(self.value, dual), (primal - dual) / primal
            self.done = self.converged or self.steps >= MOST
            if self.done or self.value > ceiling:
                return

    @property
    def converged(self) -> bool:
        """Whether the least objective was found to the tolerance."""
        return self.gap <= self.tol

    def scores(self) -> Numbers:
        """Return the decision value of every data point."""
        return self.margins * self.signs

    @property
    def square(self) -> float:
        """The squared length of the weights."""
        return float(self.weights[:-1] @ self.weights[:-1])
