"""One convex step of the constrained large-margin clustering, solved by cutting planes.

At the outputs g of the last step, over w and b with f_i = w . z_i + b,

    |w|^2 / 2 + lambda_1/n sum_i (1 - sign(g_i) f_i)_+ + lambda_2/n sum_{i<j of one class} (h_ij)_+,

where h_ij is -f_i f_j with its concave part made linear at g:

    corrected   h_ij = (f_i^2 + f_j^2)/2 - (g_i + g_j)(f_i + f_j) + (g_i + g_j)^2 / 2,
    printed     h_ij = (f_i^2 + f_j^2)/2 - (g_i f_j + g_j f_i)/2 + g_i g_j / 2.

The first is never below -f_i f_j and equals it at g. The printed matrix is no such split: at f = g it gives
(g_i^2 + g_j^2 - g_i g_j)/2, which is positive where nothing is wrong.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsim.learn.compiled.pair_losses import pair_losses
from pairsim.learn.trees.plane_programs import solve_planes

_HALVINGS = 4
_SMALL = 1e-5  # of the value at the start: what is below counts as this, where the minimum is 0
_KEPT_UNUSED = 10  # steps for which a plane without weight stays


class Clustering(NamedTuple):
    """What the objective is made of: rows in coordinates of the kernel's space, class after class; penalties.

    Class c has the rows bounds[c] to bounds[c + 1].
    """

    rows: NDArray[np.float64]
    bounds: NDArray[np.int64]
    hinge_cost: float
    pair_cost: float
    matrix: str

    def outputs(self, normal: NDArray[np.float64], intercept: float) -> NDArray[np.float64]:
        """Return w . z_i + b for every row."""
        return self.rows @ normal + intercept

    def by_class(self, f: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Return the outputs of each class."""
        return np.split(f, self.bounds[1:-1])


class ConvexStep(NamedTuple):
    """The solution of one convex step, and the way there.

    Attributes
    ----------
    normal, intercept : ndarray, float
        w and b.
    value : float
        The convex objective there.
    lower_bounds : tuple of float
        The value of the reduced problem after each cutting-plane step: never above the minimum, and rising.
    values : tuple of float
        The convex objective at each solution of a reduced problem.
    """

    normal: NDArray[np.float64]
    intercept: float
    value: float
    lower_bounds: tuple[float, ...]
    values: tuple[float, ...]


def hinge_part(sides: NDArray[np.float64], f: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Return the sum of (1 - sides f)_+ and its gradient in f."""
    short = 1.0 - sides * f
    over = short > 0.0
    return float(short[over].sum()), np.where(over, -sides, 0.0)


def pair_part(problem: Clustering, g: NDArray[np.float64], f: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Return the sum of (h_ij)_+ over the pairs of each class, and its gradient in f."""
    gradient = np.zeros(len(f))
    return pair_losses(f, g, problem.bounds, problem.matrix == "corrected", gradient), gradient


def true_objective(problem: Clustering, normal: NDArray[np.float64], intercept: float) -> float:
    """Return the objective itself: |f_i| for sign(g_i) f_i, and -f_i f_j for h_ij."""
    f = problem.outputs(normal, intercept)
    pairs = 0.0
    for mine in problem.by_class(f):  # -f_i f_j is positive for each positive output with each negative one
        pairs -= float(mine[mine > 0.0].sum() * mine[mine < 0.0].sum())
    hinges = float(np.maximum(0.0, 1.0 - np.abs(f)).sum())
    return 0.5 * float(normal @ normal) + problem.hinge_cost * hinges + problem.pair_cost * pairs


class _Cut(NamedTuple):
    """The convex objective at a point, and the tangents of its two parts there."""

    normal: NDArray[np.float64]
    intercept: float
    value: float
    slopes: NDArray[np.float64]
    biases: NDArray[np.float64]
    offsets: NDArray[np.float64]

    def along(self, normal: NDArray[np.float64], intercept: float) -> float:
        """Return the derivative of the objective in this direction."""
        return float((self.normal + self.slopes.sum(0)) @ normal + self.biases.sum() * intercept)


class _Looker(NamedTuple):
    """Evaluates the convex objective that belongs to the old outputs g."""

    problem: Clustering
    g: NDArray[np.float64]

    def at(self, normal: NDArray[np.float64], intercept: float) -> _Cut:
        """Return value and tangents at one point."""
        problem = self.problem
        f = problem.outputs(normal, intercept)
        hinges, pairs = hinge_part(np.where(self.g >= 0.0, 1.0, -1.0), f), pair_part(problem, self.g, f)
        costs = np.array([problem.hinge_cost, problem.pair_cost])
        losses, gradients = costs * (hinges[0], pairs[0]), costs[:, None] * np.stack([hinges[1], pairs[1]])
        slopes, biases = gradients @ problem.rows, gradients.sum(1)
        offsets = losses - slopes @ normal - biases * intercept
        value = 0.5 * float(normal @ normal) + float(losses.sum())
        return _Cut(normal, intercept, value, slopes, biases, offsets)

    def between(self, first: _Cut, last: _Cut) -> _Cut:
        """Return a point between two where the objective is about least: the reduced problem's own steps overshoot."""
        normal, intercept = last.normal - first.normal, last.intercept - first.intercept
        low, high, found = 0.0, 1.0, last
        if last.along(normal, intercept) > 0.0:
            for _ in range(_HALVINGS):
                middle = 0.5 * (low + high)
                found = self.at(first.normal + middle * normal, first.intercept + middle * intercept)
                rising = found.along(normal, intercept) > 0.0
                low, high = (low, middle) if rising else (middle, high)
        return found


@dataclasses.dataclass
class _Planes:
    """Linear lower bounds slope . w + bias b + offset of the hinge part, of the pair part and of nothing (b's box)."""

    slopes: NDArray[np.float64]
    biases: NDArray[np.float64]
    offsets: NDArray[np.float64]
    parts: NDArray[np.int64]
    unused: NDArray[np.int64]

    @classmethod
    def at_first(cls, dimensions: int, box: float) -> _Planes:
        """Return both parts' zero, and |b| <= box."""
        return cls(
            np.zeros((4, dimensions)),
            np.array([0.0, 0.0, 1.0, -1.0]),
            np.array([0.0, 0.0, -box, -box]),
            np.array([0, 1, 2, 2]),
            np.zeros(4, dtype=np.int64),
        )

    def add(self, cut: _Cut) -> None:
        """Put in the tangents of both parts at one point."""
        self.slopes = np.vstack([self.slopes, cut.slopes])
        self.biases, self.offsets = np.append(self.biases, cut.biases), np.append(self.offsets, cut.offsets)
        self.parts, self.unused = np.append(self.parts, (0, 1)), np.append(self.unused, (0, 0))

    def solve(self) -> tuple[NDArray[np.float64], float, float]:
        """Return w, b and the value of the reduced problem; planes long without weight go."""
        frees = np.stack([self.parts == 0, self.parts == 1, -self.biases], axis=1).astype(float)
        found = solve_planes(self.slopes, frees, self.offsets, np.array([1.0, 1.0, 0.0]))
        weights, normal = found.weights, -(self.slopes.T @ found.weights)
        value = float(weights @ self.offsets) - 0.5 * float(normal @ normal)
        self.unused = np.where(weights > 1e-9, 0, self.unused + 1)
        kept = self.unused <= _KEPT_UNUSED
        kept[:4] = True
        self.slopes, self.biases, self.offsets = self.slopes[kept], self.biases[kept], self.offsets[kept]
        self.parts, self.unused = self.parts[kept], self.unused[kept]
        return -found.shortest, float(found.free[2]), value


def convex_step(
    problem: Clustering,
    normal: NDArray[np.float64],
    intercept: float,
    *,
    tolerance: float = 1e-5,
    progress: float = 0.0,
    most: int = 500,
) -> ConvexStep:
    """Minimise the convex objective that belongs to (normal, intercept), to a share `tolerance` of its value.

    Cutting planes of the two sums, one pair of planes a step (Joachims, "Training linear SVMs in linear time", 2006);
    the reduced problem is solved through its dual, which has one variable per plane.
    """
    g = problem.outputs(normal, intercept)
    look = _Looker(problem, g)
    best = look.at(normal, intercept)
    planes = _Planes.at_first(len(normal), _box(problem, g, best.value))
    planes.add(best)
    first = best.value
    bounds: list[float] = []
    values: list[float] = []
    while True:
        normal, intercept, bound = planes.solve()
        bounds.append(bound)
        there = look.at(normal, intercept)
        values.append(there.value)
        planes.add(there)
        between = look.between(best, there)
        planes.add(between)
        best = min(best, there, between, key=lambda cut: cut.value)
        enough = max(tolerance * max(best.value, _SMALL * first), progress * (first - best.value))
        if best.value - bound <= enough or len(bounds) >= most:
            return ConvexStep(best.normal, best.intercept, best.value, tuple(bounds), tuple(values))


def _box(problem: Clustering, g: NDArray[np.float64], value: float) -> float:
    """Return a size that some best b does not exceed, so that no reduced problem runs off to infinity.

    No better point has |w|^2 > 2 value, nor a pair loss above value / pair cost, which keeps outputs of one class near
    the old ones; without such a pair no hinge gains from outputs beyond 1.
    """
    farthest = np.sqrt(2.0 * value * (problem.rows**2).sum(1).max())
    if problem.pair_cost > 0.0:
        reach = 2.0 * np.abs(g).max()
        reach += np.sqrt(reach**2 + 2.0 * value / problem.pair_cost)
    else:
        reach = 1.0
    return float(max(1.0, reach) + farthest)
