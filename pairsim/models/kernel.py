"""KernelPairs: support vectors shared by all pairs, as LIBSVM keeps them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsim.models.base import KEPT, Margins, PairModel, Places, Points, count_rows, pair_numbers, rows_for, take_rows
from pairsim.models.compiled.margins import scatter_class, sum_questions
from pairsim.models.kernel_functions import KernelFunction
from pairsim.models.rounding import EPSILON, Settle, Slack, settle_all, settle_some


class KernelPairs(PairModel):
    """Pairs told apart by sums of kernel values, in LIBSVM's layout.

    The support vectors stand class by class. Those of class c have n - 1 coefficients each, one for each other class
    in order; the margin of pair (i, j) adds up the vectors of i with their coefficients against j, those of j with
    their coefficients against i, and the pair's intercept.

    Parameters
    ----------
    kernel : KernelFunction
        Gives the kernel values of data points with the support vectors.
    dual : numpy.ndarray, shape (n-1, vectors)
    borders : numpy.ndarray of int, shape (n+1,)
        Class c has the vectors borders[c] .. borders[c+1] - 1.
    intercept : numpy.ndarray, shape (n(n-1)/2,)
    classes : numpy.ndarray
        The labels.
    check : callable
        Returns X in the form that the kernel function wants.
    settle : Settle, optional
        The library's own arithmetic, for votes that rounding could change.
    """

    def __init__(
        self,
        kernel: KernelFunction,
        dual: NDArray[np.float64],
        borders: Places,
        intercept: NDArray[np.float64],
        classes: NDArray[Any],
        check: Callable[[Any], Any],
        settle: Settle | None = None,
        n_features: int | None = None,
    ) -> None:
        self.classes_, self.n_features = classes, n_features
        self.kernel = kernel
        self._takes_arrays = kernel.takes_arrays
        self.dual = np.ascontiguousarray(dual, np.float64)
        self.borders = np.ascontiguousarray(borders, np.int64)
        self.intercept = np.ascontiguousarray(intercept, np.float64)
        self._check_points, self._settle = check, settle
        self._weight = pair_sums(np.abs(self.dual), self.borders)
        self._base = 4.0 * EPSILON * np.abs(self.intercept)

    def _check(self, X: Any) -> Any:
        return self._check_points(X)

    def _rows_at_a_time(self) -> int:
        return rows_for(max(self.pairs, int(np.diff(self.borders).max()), self.kernel.numbers_a_row()))

    def _margins(self, points: Any) -> Margins:
        rows = self.kernel.rows(points)
        margins = np.tile(self.intercept, (count_rows(points), 1))
        for c in range(self.n):
            first, last = self.borders[c], self.borders[c + 1]
            if last > first:
                values = self.kernel.block(rows, slice(None), first, last)
                scatter_class(values @ self.dual[:, first:last].T, c, self.n, margins)
        return settle_all(margins, self._slack(rows.largest, rows.error), self._settle, points)

    def _slack(self, largest: NDArray[np.float64], error: NDArray[np.float64]) -> Slack:
        terms = (self.kernel.size + 8) * EPSILON
        with np.errstate(over="ignore", invalid="ignore"):
            return Slack(2.0 * (error + terms * largest), self._weight, self._base)

    def _points(self, points: Any) -> Points:
        return KernelPoints(self, points)

    def _some_margins(self, points: Any, rows: Places, low: Places, high: Places) -> Margins:
        """Answer for a number of different rows at a time, so that no more kernel values are kept than that."""
        different, slots = np.unique(rows, return_inverse=True)
        step = max(1, KEPT // max(1, self.kernel.size + self.kernel.numbers_a_row()))
        out = np.empty(rows.size)
        for first in range(0, different.size, step):
            mine = np.flatnonzero((slots >= first) & (slots < first + step))
            piece = self._points(take_rows(points, different[first : first + step]))
            out[mine] = piece._margins(slots[mine] - first, low[mine], high[mine])
        return out


class KernelPoints(Points):
    """Data points for `KernelPairs`: kernel values are computed, class by class, when first asked for, and kept."""

    def __init__(self, model: KernelPairs, points: Any) -> None:
        super().__init__(model, count_rows(points))
        self._model, self._points = model, points
        self._rows = model.kernel.rows(points)
        self._slack = model._slack(self._rows.largest, self._rows.error)
        # one block a class; the memory of those that nobody asks about is never touched
        self._values = np.empty(self.count * model.kernel.size)
        self._known = np.zeros((model.n, self.count), np.bool_)

    def _margins(self, rows: Places, low: Places, high: Places) -> Margins:
        model = self._model
        self._compute(rows, low, high)
        pairs, out = pair_numbers(low, high, model.n), np.empty(rows.size)
        sum_questions(self._values, self.count, rows, model.dual, model.borders, low, high, out)
        out += model.intercept[pairs]
        slack = self._slack._replace(row=self._slack.row[rows])
        return settle_some(out, slack, model._settle, self._points, rows, pairs)

    def _compute(self, rows: Places, low: Places, high: Places) -> None:
        """Compute the missing kernel values with the support vectors of the classes asked about."""
        needed = np.zeros_like(self._known)
        needed[low, rows] = True
        needed[high, rows] = True
        needed &= ~self._known
        borders = self._model.borders
        for c in np.flatnonzero(needed.any(axis=1)):
            which = np.flatnonzero(needed[c])
            first, last = borders[c], borders[c + 1]
            if last > first:
                block = self._values[self.count * first : self.count * last].reshape(self.count, last - first)
                block[which] = self._model.kernel.block(self._rows, which, first, last)
        self._known |= needed


def pair_sums(dual: NDArray[np.float64], borders: Places) -> NDArray[np.float64]:
    """Return, for each pair, the sum of the coefficients that belong to it."""
    n = len(borders) - 1
    out = np.zeros((1, n * (n - 1) // 2))
    for c in range(n):
        scatter_class(dual[:, borders[c] : borders[c + 1]].sum(axis=1)[None, :], c, n, out)
    return np.asarray(out[0])
