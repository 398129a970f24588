"""Choosing settings within a training part, by a cross-validation of its own.

Settings are compared by the number of rows that the models of the inner folds predict wrongly. A model is trained no
longer than it takes to see what a setting is worth (`Kind.rough`), and one that cannot be trained counts as wrong on
every row.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsim.evaluation.reductions import Reduction
from pairsim.evaluation.specs import Settings
from pairsim.evaluation.tuning import GREEDY, Tuning, every_place, greedy_place

MOST_DISTANCES = 1 << 25  # up to so many squared distances are computed once for all settings: 256 MB


class InnerErrors:
    """The errors of settings over the inner folds of a training part, each computed once.

    Parameters
    ----------
    reduction : Reduction
        What is trained.
    X, y : array or sparse matrix, array
        The rows of the training part, and their labels.
    fold : array, shape (rows,)
        The inner fold of each row.
    seed : int
        Seed for the training.
    """

    def __init__(self, reduction: Reduction, X: Any, y: NDArray[Any], fold: NDArray[np.int64], seed: int) -> None:
        self.reduction, self.X, self.y, self.fold, self.seed = reduction, X, y, fold, seed
        self._errors: dict[Settings, int] = {}
        self._distances: NDArray[np.float64] | None = None

    def __call__(self, settings: Settings) -> int:
        """Return the number of rows that are predicted wrongly with these settings."""
        if settings not in self._errors:
            self._errors[settings] = self._count(settings)
        return self._errors[settings]

    def _count(self, settings: Settings) -> int:
        folds = [self.fold == number for number in range(int(self.fold.max()) + 1)]
        if any(len(np.unique(self.y[~test])) < 2 for test in folds):
            return len(self.y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of settings that nobody would choose
            try:
                return sum(self._wrong(settings, test) for test in folds)
            except (ValueError, FloatingPointError):
                return len(self.y)

    def _wrong(self, settings: Settings, test: NDArray[np.bool_]) -> int:
        model = self.reduction.chosen(settings).build_roughly(self.seed)
        train, held = np.flatnonzero(~test), np.flatnonzero(test)
        if self._by_distances(model):
            distances = self._known_distances()
            model.set_params(kernel="distances").fit(distances[np.ix_(train, train)], self.y[train])
            labels = model.predict(distances[np.ix_(held, train)])
        else:
            model.fit(self.X[train], self.y[train])
            labels = model.predict(self.X[held])
        return int((labels != self.y[held]).sum())

    def _by_distances(self, model: Any) -> bool:
        """Say whether squared distances serve every width: a Gaussian kernel of our own, on rows that are few."""
        given = model.get_params(deep=False)
        return (
            isinstance(self.X, np.ndarray)
            and len(self.X) ** 2 <= MOST_DISTANCES
            and given.get("kernel") == "rbf"
            and isinstance(given.get("gamma"), int | float)
            and given.get("estimator") is None
            and "distances" in _kernels(model)
        )

    def _known_distances(self) -> NDArray[np.float64]:
        if self._distances is None:
            from sklearn.metrics.pairwise import euclidean_distances

            self._distances = np.asarray(euclidean_distances(self.X, squared=True), np.float64)
        return self._distances


def _kernels(model: Any) -> set[str]:
    """Return the kernels that a classifier knows by name."""
    constraints = getattr(model, "_parameter_constraints", {}).get("kernel", ())
    return {name for each in constraints for name in getattr(each, "options", ())}


def choose(tuning: Tuning, errors: InnerErrors) -> tuple[int, ...]:
    """Return the places of the settings that a search within the training part chooses, one an axis.

    "greedy" takes the axes one after the other, the others where they are by then; of equal settings of a grid the
    first one is chosen, the last axis varying fastest.
    """
    if tuning.search != GREEDY:
        return min(every_place(tuning), key=lambda each: errors(tuning.settings(each)))
    chosen = [0] * len(tuning.axes)
    for number in range(len(chosen)):

        def error(place: int, number: int = number) -> int:
            return errors(tuning.settings([*chosen[:number], place, *chosen[number + 1 :]]))

        chosen[number] = greedy_place(error, tuning.patience)
    return tuple(chosen)
