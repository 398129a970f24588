"""A support vector machine on a part of a Gram matrix by sequential minimal optimisation, some steps at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairsim.learn.solvers.column_dual import MOST, ColumnSVM

Numbers = NDArray[np.float64]

FIRST = 128  # steps before the first look at the others; then twice as many every time


class GramSVM:
    """The variables of one SVM, for a race against others: `value` is a lower bound of the least primal objective.

    `signs` has a 0 for every row of the Gram matrix that is left out.
    """

    def __init__(self, gram: Numbers, diagonal: Numbers, signs: Numbers, boxes: Numbers, tol: float) -> None:
        self.signs, self.tol = signs, tol
        self.svm = ColumnSVM(gram, signs, boxes, diagonal)
        self.budget, self.steps, self.violation, self.done = FIRST, 0, np.inf, False

    @property
    def value(self) -> float:
        """The dual objective."""
        return float(self.svm.value)

    def advance(self, ceiling: float) -> None:
        """Take some steps, fewer where the lower bound exceeds `ceiling`."""
        self.svm.ceiling = min(ceiling, np.finfo(float).max)
        most = min(self.budget, MOST - self.steps)
        taken, self.violation = self.svm.descend(self.tol, most)
        self.steps += taken
        self.budget *= 2
        self.done = self.converged or (taken < most and self.value <= ceiling) or self.steps >= MOST

    @property
    def converged(self) -> bool:
        """Whether optimality is violated by less than the tolerance."""
        return self.violation < self.tol

    def scores(self) -> Numbers:
        """Return the decision value of every row that is not left out."""
        inside = self.signs != 0.0
        return np.asarray((self.signs - self.svm.errors())[inside] + self.svm.bias())

    @property
    def square(self) -> float:
        """The squared length of the weights."""
        beta = self.svm.beta
        used = np.flatnonzero(beta)
        return float(beta[used] @ (self.signs - self.svm.errors())[used])
