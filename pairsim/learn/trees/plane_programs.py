"""A small quadratic program: the shortest vector above cutting planes, by an interior-point method of dense arrays.

A reduced problem of cutting planes has as many dual variables as planes, whatever the number of examples. Each step of
the primal-dual method (Mehrotra 1992) factorises one matrix with a row per primal variable, of which there are as many
as the kernel has dimensions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

_MOST_STEPS = 60
_TIGHT = 1e-11
_SHORT_OF_THE_EDGE = 0.995


class PlaneWeights(NamedTuple):
    """Both sides of a solved program: w, the free variables y, and the weight x of each plane, w = slopes' x."""

    shortest: NDArray[np.float64]
    free: NDArray[np.float64]
    weights: NDArray[np.float64]


def solve_planes(
    slopes: NDArray[np.float64],
    frees: NDArray[np.float64],
    offsets: NDArray[np.float64],
    costs: NDArray[np.float64],
) -> PlaneWeights:
    """Minimise |w|^2 / 2 + costs . y over w and y with slopes w + frees y >= offsets.

    Its dual maximises offsets . x - |slopes' x|^2 / 2 over x >= 0 with frees' x = costs.

    Parameters
    ----------
    slopes : ndarray of shape (p, r)
        What each plane asks of w.
    frees : ndarray of shape (p, q)
        What it asks of y; of full column rank.
    offsets : ndarray of shape (p,)
        Right-hand sides.
    costs : ndarray of shape (q,)
        Of y; such that the minimum is bounded and some positive x is possible.

    Examples
    --------
    >>> import numpy as np
    >>> found = solve_planes(np.array([[1.0], [0.0]]), np.ones((2, 1)), np.array([2.0, 0.0]), np.array([1.0]))
    >>> float(round(found.shortest[0], 6)), float(round(found.free[0], 6))  # w^2 / 2 + y with w + y >= 2, y >= 0
    (1.0, 1.0)
    """
    dimensions = slopes.shape[1]
    together = np.hstack([slopes, frees])
    curvature = np.concatenate([np.ones(dimensions), np.zeros(frees.shape[1])])
    towards = np.concatenate([np.zeros(dimensions), costs])
    size = 1.0 + float(np.abs(offsets).max())
    values, weights, gaps = _start(together, offsets, costs, frees)
    best = (np.inf, values, weights)
    worse = 0
    for _ in range(_MOST_STEPS):
        stationary = together.T @ weights - curvature * values - towards
        feasible = together @ values - offsets - gaps
        complement = float(weights @ gaps) / len(weights)
        error = max(float(np.abs(stationary).max()), float(np.abs(feasible).max()), complement * len(weights)) / size
        worse = 0 if error < best[0] else worse + 1
        if error < best[0]:
            best = (error, values, weights)
        if error < _TIGHT or worse > 4:  # done, or the digits are used up
            break
        ratio = weights / gaps
        matrix = (together.T * ratio) @ together
        matrix.flat[:: len(matrix) + 1] += curvature
        matrix.flat[:: len(matrix) + 1] *= 1.0 + 1e-15
        factor, failed = dpotrf(matrix, lower=1)
        if failed:  # rounding has made the matrix indefinite
            break
        point = _Point(factor, together, ratio, gaps, stationary, feasible)
        first = point.move(-weights * gaps)
        reach = _longest(weights, first[1]), _longest(gaps, first[2])
        ahead = float((weights + reach[0] * first[1]) @ (gaps + reach[1] * first[2])) / len(weights)
        move = point.move((ahead / complement) ** 3 * complement - weights * gaps - first[1] * first[2])
        # One length for both: the quadratic part couples the two residuals.
        length = min(1.0, _SHORT_OF_THE_EDGE * min(_longest(weights, move[1]), _longest(gaps, move[2])))
        values, weights, gaps = values + length * move[0], weights + length * move[1], gaps + length * move[2]
    return PlaneWeights(best[1][:dimensions], best[1][dimensions:], best[2])


class _Point(NamedTuple):
    """The factorised linear system of one interior point, and its residuals."""

    factor: NDArray[np.float64]
    together: NDArray[np.float64]
    ratio: NDArray[np.float64]
    gaps: NDArray[np.float64]
    stationary: NDArray[np.float64]
    feasible: NDArray[np.float64]

    def move(
        self, complement: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return the Newton steps of (w, y), the weights and the gaps towards weights times gaps changed by this."""
        pull = complement / self.gaps - self.ratio * self.feasible
        values, _ = dpotrs(self.factor, self.stationary + self.together.T @ pull, lower=1)
        along = self.together @ values
        return values, pull - self.ratio * along, along + self.feasible


def _start(
    together: NDArray[np.float64], offsets: NDArray[np.float64], costs: NDArray[np.float64], frees: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return a point well inside: least squares, moved until all weights and gaps are positive."""
    values: NDArray[np.float64] = np.zeros(together.shape[1])
    values[-len(costs) :] = np.linalg.lstsq(frees, offsets, rcond=None)[0]
    gaps = together @ values - offsets
    weights = np.asarray(np.linalg.lstsq(frees.T, costs, rcond=None)[0], np.float64)
    weights = weights + max(0.0, -1.5 * float(weights.min())) + 1.0 / len(weights)
    gaps = gaps + max(0.0, -1.5 * float(gaps.min())) + 1.0
    return values, weights, gaps


def _longest(values: NDArray[np.float64], move: NDArray[np.float64]) -> float:
    """Return the longest step up to 1 that keeps `values` from being negative."""
    fastest = float((move / values).min())
    return 1.0 if fastest >= -1.0 else -1.0 / fastest
