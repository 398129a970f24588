"""Many SVMs on one Gram matrix, one per column of an output code.

Sequential minimal optimisation with second-order working sets: R.-E. Fan, P.-H. Chen and C.-J. Lin, "Working set
selection using second order information for training support vector machines", JMLR 6, 2005.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from pairsim.learn.compiled.column_dual import BIG, minimise_column, take_rows

Numbers = NDArray[np.float64]

LOOK = 1000  # steps between two looks for points that can be left out
FEW = 0.5  # leave points out when at most this share is active: a copy of a quarter of the Gram matrix pays soon
MOST = 10_000_000  # steps of one SVM
MIDDLE = 256  # points whose mean is the middle of a ball: all of many would take a pass over the Gram matrix


@dataclasses.dataclass(frozen=True)
class ColumnSolutions:
    """Where the duals stand: `beta` holds label times dual variable, an SVM per row, a data point per column."""

    beta: Numbers
    bias: Numbers
    steps: NDArray[np.int64]
    violation: float  # the largest
    margins: Numbers  # the smallest distance of a point from each SVM's plane, below 0 on the wrong side
    radius: float  # of a ball that holds the points


class ColumnSVM:
    """The tables of one SVM: its points stand in runs of those of the Gram matrix.

    `box` is one limit of the dual variables, or one per point. `value` is the dual objective of the variables as they
    are, a lower bound of the least primal one; where it exceeds `ceiling`, no more steps are taken.
    """

    def __init__(self, gram: Numbers, signs: Numbers, box: float | Numbers, diagonal: Numbers | None = None) -> None:
        self.gram = gram
        self.diagonal = np.ascontiguousarray(gram.diagonal()) if diagonal is None else diagonal
        self.value, self.ceiling = 0.0, BIG
        inside = np.zeros(len(signs) + 2, np.bool_)
        np.not_equal(signs, 0.0, out=inside[1:-1])
        edges = np.flatnonzero(inside[1:] != inside[:-1])
        self.points = np.count_nonzero(signs)
        self.first, self.last = np.ascontiguousarray(edges[::2]), np.ascontiguousarray(edges[1::2])
        limits = box * signs
        self.lower, self.upper = np.minimum(limits, 0.0), np.maximum(limits, 0.0)
        self.beta = np.zeros(len(signs))
        self.up, self.low, self.gains = np.empty((3, len(signs)))
        self.set_errors(signs)

    def set_errors(self, errors: Numbers) -> None:
        """Set the errors of the variables that can rise and of those that can fall."""
        self.up[:] = -BIG
        self.low[:] = BIG
        np.copyto(self.up, errors, where=self.beta < self.upper)
        np.copyto(self.low, errors, where=self.beta > self.lower)

    def errors(self) -> Numbers:
        """Return label less output of every point, bias left out."""
        return np.asarray(np.where(self.up > -BIG / 2, self.up, self.low))

    def minimise(self, tol: float, most: int) -> tuple[int, float]:
        """Take steps with all points; return how many, and by how much optimality is violated."""
        steps, violation, self.value = minimise_column(
            self.gram, self.diagonal, self.first, self.last, self.beta, self.lower, self.upper,
            self.up, self.low, self.gains, tol, most, self.value, self.ceiling,
        )  # fmt: skip
        return int(steps), float(violation)

    def active(self) -> NDArray[np.int64]:
        """Return the points that could be part of a step that improves."""
        return np.flatnonzero((self.up > self.low.min()) | (self.low < self.up.max()))

    def part(self, points: NDArray[np.int64]) -> ColumnSVM:
        """Return the SVM of some points alone, the other variables as they are."""
        part = ColumnSVM(self.gram[np.ix_(points, points)], self.upper[points] + self.lower[points], 1.0)
        part.beta[:] = self.beta[points]
        part.set_errors(self.errors()[points])
        part.value, part.ceiling = self.value, self.ceiling
        return part

    def take(self, points: NDArray[np.int64], beta: Numbers) -> None:
        """Set the variables of some points."""
        change = beta - self.beta[points]
        moved, errors = np.flatnonzero(change), self.errors()
        take_rows(errors, self.gram, points[moved], change[moved])
        self.beta[points] = beta
        self.set_errors(errors)

    def descend(self, tol: float, most: int) -> tuple[int, float]:
        """Take steps; now and then solve for the active points alone, then look at all again."""
        taken = 0
        while True:
            steps, violation = self.minimise(tol, min(LOOK, most - taken))
            taken += steps
            if violation < tol or taken == most or steps < LOOK:
                return taken, violation
            points = self.active()
            if len(points) <= FEW * self.points:
                part = self.part(points)
                taken += part.descend(tol, most - taken)[0]
                self.take(points, part.beta)
                self.value = part.value

    def bias(self) -> float:
        """Return the mean error of the free variables, or the middle of what optimality allows where none is free."""
        free = (self.up > -BIG / 2) & (self.low < BIG / 2)
        if free.any():
            return float(self.up[free].mean())
        ends = [end for end in (self.up.max(), self.low.min()) if abs(end) < BIG / 2]
        return float(np.mean(ends)) if ends else 0.0

    def margin(self, signs: Numbers) -> float:
        """Return the smallest distance of a point from the plane, below 0 where one is on the wrong side."""
        inside = signs != 0.0
        outputs = (signs - self.errors())[inside]
        square = float(self.beta[inside] @ outputs)
        return float((signs[inside] * (outputs + self.bias())).min()) / np.sqrt(square) if square > 0.0 else 0.0


def solve_columns(gram: NDArray[np.floating], signs: Numbers, boxes: Numbers, tol: float = 1e-3) -> ColumnSolutions:
    """Train a support vector machine per row of `signs`.

    Parameters
    ----------
    gram : ndarray, shape (points, points)
    signs : ndarray, shape (SVMs, points)
        +1 and -1, the label of each point for each SVM; 0 leaves it out. Both must be there. Points that are left
        out should stand side by side: sort the points by class where the code has zeros.
    boxes : ndarray, shape (SVMs,)
        The upper limit of each SVM's dual variables.
    tol : float
        By how much optimality may be violated.

    Examples
    --------
    >>> import numpy as np
    >>> from pairsim.learn.solvers.column_dual import solve_columns
    >>> signs = np.array([[1.0, -1.0, -1.0], [1.0, 0.0, -1.0]])
    >>> found = solve_columns(np.eye(3), signs, boxes=np.array([5.0, 5.0]), tol=1e-6)
    >>> found.beta.round(3).tolist(), found.bias.round(3).tolist()
    ([[1.333, -0.667, -0.667], [1.0, 0.0, -1.0]], [-0.333, 0.0])
    """
    values: Numbers = np.ascontiguousarray(gram, np.float64)
    beta, (bias, margins) = np.empty(signs.shape), np.empty((2, len(signs)))
    steps, worst = np.empty(len(signs), np.int64), 0.0
    for k, box in enumerate(boxes):
        svm = ColumnSVM(values, signs[k], float(box))
        steps[k], violation = svm.descend(tol, MOST)
        worst = max(worst, violation)
        beta[k], bias[k], margins[k] = svm.beta, svm.bias(), svm.margin(signs[k])
    return ColumnSolutions(beta, bias, steps, worst, margins, ball_radius(gram))


def ball_radius(gram: NDArray[np.floating]) -> float:
    """Return the radius of a ball that holds all points: around the mean of some of them, up to 256 in equal steps.

    Examples
    --------
    >>> import numpy as np
    >>> from pairsim.learn.solvers.column_dual import ball_radius
    >>> points = np.array([[0.0], [1.0], [5.0]])
    >>> ball_radius(points @ points.T)
    3.0
    """
    some = np.unique(np.linspace(0, len(gram) - 1, min(len(gram), MIDDLE)).astype(np.int64))
    rows = np.asarray(gram[some], np.float64)
    squares = gram.diagonal() - 2.0 * rows.mean(axis=0) + rows[:, some].mean()
    return float(np.sqrt(max(0.0, float(squares.max()))))
