"""LinearPairs: one hyperplane per pair."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from pairsim.checks import as_array
from pairsim.errors import parameter_error, shown
from pairsim.models.base import Margins, PairModel, Places, Points, count_rows, pair_numbers, rows_for
from pairsim.models.checking import FreeMatrix
from pairsim.models.compiled.margins import dot_questions, dot_sparse_questions
from pairsim.models.rounding import EPSILON, Settle, Slack, settle_all, settle_some
from pairsim.oracles.base import as_numbers


class LinearPairs(PairModel):
    """Pairs told apart by hyperplanes: the margin is X @ coef.T + intercept.

    Parameters
    ----------
    coef : array_like, shape (n(n-1)/2, features)
        Row k belongs to pair k of `numpy.triu_indices(n, 1)` and points to its lower class.
    intercept : array_like, shape (n(n-1)/2,)
    classes : array_like, optional
        The labels. Default: 0 .. n-1.

    Examples
    --------
    >>> from pairsim.models import LinearPairs
    >>> model = LinearPairs(coef=[[1.0], [1.0], [1.0]], intercept=[0.0, -1.0, -2.0], classes=["c", "b", "a"])
    >>> model.answers([[0.5]]).tolist()
    [[True, False, False]]
    """

    _takes_arrays = True

    def __init__(
        self,
        coef: ArrayLike,
        intercept: ArrayLike,
        classes: ArrayLike | None = None,
        *,
        check: Callable[[Any], Any] | None = None,
        settle: Settle | None = None,
        weight: NDArray[np.float64] | None = None,
        epsilon: float = EPSILON,
        terms: int = 0,
    ) -> None:
        self.coef = as_numbers("LinearPairs", "coef", coef, 2)
        self.intercept = as_numbers("LinearPairs", "intercept", intercept, 1)
        n = (1 + int(np.sqrt(1 + 8 * len(self.intercept)))) // 2
        must_be = "labels in one dimension"
        self.classes_ = np.arange(n) if classes is None else as_array("LinearPairs", "classes", classes, must_be)
        if self.classes_.ndim != 1:
            raise parameter_error("LinearPairs", "classes", must_be, shown(classes))
        if not len(self.coef) == len(self.intercept) == self.pairs > 0:
            got = f"{len(self.coef)} rows, {len(self.intercept)} intercepts, {self.n} classes"
            raise parameter_error(
                "LinearPairs", "coef", "a row and an intercept for each pair of at least 2 classes", got
            )
        self.n_features = self.coef.shape[1]
        self._transposed = np.asfortranarray(self.coef.T)
        self._check_points = check or FreeMatrix("margins", self.n_features)
        self._settle = settle
        # |x . w| and every partial sum of it are at most |x| |w|; w itself may be a sum of larger parts (`weight`)
        self._weight = np.linalg.norm(self.coef, axis=1) if weight is None else weight
        self._unit = epsilon * (self.n_features + terms + 8)
        self._base = 4.0 * epsilon * np.abs(self.intercept)

    def _check(self, X: Any) -> Any:
        return self._check_points(X)

    def _rows_at_a_time(self) -> int:
        return rows_for(self.pairs + self.coef.shape[1])

    def _margins(self, points: Any) -> Margins:
        work = as_double(points)
        margins = np.asarray(work @ self._transposed)
        margins += self.intercept
        return settle_all(margins, self._slack(work), self._settle, points)

    def _slack(self, work: Any) -> Slack:
        return Slack(self._unit * norms(work), self._weight, self._base)

    def _points(self, points: Any) -> Points:
        return LinearPoints(self, points)


class LinearPoints(Points):
    """Data points for `LinearPairs`: a dot product a query."""

    def __init__(self, model: LinearPairs, points: Any) -> None:
        super().__init__(model, count_rows(points))
        self._model, self._points, self._work = model, points, as_double(points)
        self._slack = model._slack(self._work)

    def _margins(self, rows: Places, low: Places, high: Places) -> Margins:
        model, work = self._model, self._work
        pairs, out = pair_numbers(low, high, model.n), np.empty(rows.size)
        if scipy.sparse.issparse(work):
            dot_sparse_questions(work.data, work.indices, work.indptr, rows, model.coef, pairs, out)
        else:
            dot_questions(work, rows, model.coef, pairs, out)
        out += model.intercept[pairs]
        slack = self._slack._replace(row=self._slack.row[rows])
        return settle_some(out, slack, model._settle, self._points, rows, pairs)


def as_double(points: Any) -> Any:
    """Return a C-ordered array or a CSR matrix of doubles."""
    if scipy.sparse.issparse(points):
        return points.tocsr().astype(np.float64, copy=False)
    return np.ascontiguousarray(points, np.float64)


def norms(points: Any) -> NDArray[np.float64]:
    """Return the length of each row."""
    return np.sqrt(square_norms(points))


def square_norms(points: Any) -> NDArray[np.float64]:
    """Return the squared length of each row."""
    if scipy.sparse.issparse(points):
        return np.asarray(points.multiply(points).sum(axis=1), np.float64).ravel()
    return np.asarray(np.einsum("ij,ij->i", points, points))
