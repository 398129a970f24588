"""EstimatorPairs: one estimator of any kind a pair; queries are grouped by pair."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsim.models.base import KEPT, LEAST, Margins, PairModel, Places, Points, count_rows, pair_numbers, take_rows


class EstimatorPairs(PairModel):
    """Pairs told apart by models of two classes each, the lower class of the pair being the first of the two.

    Parameters
    ----------
    estimators : sequence of PairModel
        One a pair, in the order of `numpy.triu_indices(n, 1)`, each with two classes.
    classes : numpy.ndarray
        The labels.
    check : callable
        Returns X in the form that the estimators want.
    columns : sequence of arrays, optional
        The columns of X that each estimator sees (kernel matrices: its own training points). Default: all.
    """

    def __init__(
        self,
        estimators: Sequence[PairModel],
        classes: NDArray[Any],
        check: Callable[[Any], Any],
        columns: Sequence[NDArray[np.int64]] | None = None,
        n_features: int | None = None,
    ) -> None:
        self.estimators, self.classes_, self.n_features = tuple(estimators), classes, n_features
        self._columns = columns
        self._check_points = check

    def _check(self, X: Any) -> Any:
        return self._check_points(X)

    def _rows_at_a_time(self) -> int:
        return max(1, KEPT // self.pairs)  # a call of an estimator may cost much, however few its rows

    def _ask(self, k: int, points: Any) -> Margins:
        """Return the margins of pair k."""
        seen = points if self._columns is None else points[:, self._columns[k]]
        return self.estimators[k].margins(seen)[:, 0]

    def _margins(self, points: Any) -> Margins:
        margins = np.empty((count_rows(points), self.pairs))
        for k in range(self.pairs):
            margins[:, k] = self._ask(k, points)
        return margins

    def _points(self, points: Any) -> Points:
        return EstimatorPoints(self, points)


class EstimatorPoints(Points):
    """Data points for `EstimatorPairs`: all queries about one pair are put to its estimator in one call."""

    def __init__(self, model: EstimatorPairs, points: Any) -> None:
        super().__init__(model, count_rows(points))
        self._model, self._points = model, points

    def _margins(self, rows: Places, low: Places, high: Places) -> Margins:
        pairs = pair_numbers(low, high, self._model.n)
        order = np.argsort(pairs, kind="stable")
        different, starts = np.unique(pairs[order], return_index=True)
        out = np.empty(rows.size)
        for k, mine in zip(different, np.split(order, starts[1:]), strict=True):
            out[mine] = self._model._ask(int(k), take_rows(self._points, rows[mine]))
        return out


class OneEstimator(PairModel):
    """Any classifier of the labels 0 and 1: the margin is its score, the sign of the margin its own `predict`.

    The score is `decision_function` with its sign turned, else the difference of the two classes' probabilities.
    A classifier may decide by another threshold than its score; then the margin is cut at 0, so that its sign is the
    vote.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator
        self.classes_ = np.array([0, 1])
        self.n_features = getattr(estimator, "n_features_in_", None)

    def _check(self, X: Any) -> Any:
        return X  # the estimator checks it

    def _rows_at_a_time(self) -> int:
        return KEPT

    def _margins(self, points: Any) -> Margins:
        low_wins = np.asarray(self.estimator.predict(points)) == 0
        try:
            margins = -np.ravel(self.estimator.decision_function(points)).astype(np.float64)
        except (AttributeError, NotImplementedError):
            margins = 1.0 - 2.0 * np.asarray(self.estimator.predict_proba(points), np.float64)[:, 1]
        return np.where(low_wins, np.maximum(margins, LEAST), np.minimum(margins, 0.0))[:, None]

    def _points(self, points: Any) -> Points:
        return OnePoints(self, points)


class OnePoints(Points):
    """Data points for `OneEstimator`."""

    def __init__(self, model: OneEstimator, points: Any) -> None:
        super().__init__(model, count_rows(points))
        self._model, self._points = model, points

    def _margins(self, rows: Places, low: Places, high: Places) -> Margins:
        return np.asarray(self._model._margins(take_rows(self._points, rows))[:, 0])
