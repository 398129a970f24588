"""PipelinePairs: transforms first, then any of the other models."""

from __future__ import annotations

from typing import Any

from pairsim.models.base import Margins, PairModel, Points


class PipelinePairs(PairModel):
    """A model behind transforms.

    Parameters
    ----------
    transformer : object with `transform`
        What X goes through first.
    model : PairModel
        What takes the result.
    n_features : int, optional
        Columns of X before the transforms.
    """

    def __init__(self, transformer: Any, model: PairModel, n_features: int | None = None) -> None:
        self.transformer, self.model, self.n_features = transformer, model, n_features
        self.classes_ = model.classes_

    def _rows_at_a_time(self) -> int:
        return self.model._rows_at_a_time()

    def _check(self, X: Any) -> Any:
        return self.model._check(self.transformer.transform(X))

    def _margins(self, points: Any) -> Margins:
        return self.model._margins(points)

    def _some_margins(self, points: Any, rows: Any, low: Any, high: Any) -> Margins:
        return self.model._some_margins(points, rows, low, high)

    def _points(self, points: Any) -> Points:
        return self.model._points(points)
