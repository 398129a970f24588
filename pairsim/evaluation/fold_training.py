"""Training on the rows outside of a fold, with settings given or searched for there, and predicting those in it."""

from __future__ import annotations

import functools
import time
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsim.datasets.preparing import SCALINGS, as_points, preprocessor
from pairsim.errors import parameter_error
from pairsim.evaluation.fold_records import sizes_of
from pairsim.evaluation.folds import deal_folds, deal_random_folds
from pairsim.evaluation.reductions import SIX_POINTS, Reduction
from pairsim.evaluation.searches import InnerErrors, choose
from pairsim.evaluation.tuning import Tuning

if TYPE_CHECKING:
    import pandas as pd


class Fold(NamedTuple):
    """What one fold gave: its rows, the label that was predicted for each, and the processor time.

    `problems` and `problem_rows` are number and mean size of the binary problems of the last training; `places` those
    of the chosen settings on the axes of the search, whose time is part of `fit_seconds`.
    """

    rows: NDArray[np.int64]
    labels: NDArray[Any]
    fit_seconds: float
    predict_seconds: float
    problems: float
    problem_rows: float
    places: tuple[int, ...] = ()


class Manner(NamedTuple):
    """How rows become numbers, and how settings are chosen: `by_class` says whether inner folds share out classes."""

    scaling: str = SCALINGS[0]
    tuning: Tuning | None = None
    by_class: bool = True


AS_IT_IS = Manner()


def run_fold(
    reduction: Reduction,
    X: pd.DataFrame,
    y: NDArray[Any],
    test: NDArray[np.bool_],
    seed: int,
    name: str,
    manner: Manner = AS_IT_IS,
) -> Fold:
    """Train on the rows outside of a fold and predict those in it; all that is learned is learned outside of it."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            steps = preprocessor(X[~test], manner.scaling)
            train, held_out = steps.fit_transform(as_points(X[~test])), steps.transform(as_points(X[test]))
            _load_kernels(reduction)
            start = time.process_time()
            places = _search(reduction, train, y[~test], seed, manner)
            chosen = reduction if manner.tuning is None else reduction.chosen(manner.tuning.settings(places))
            model = chosen.build(seed).fit(train, y[~test])
        except (ValueError, TypeError) as error:
            must_be = "one that can be trained on this data set"
            raise parameter_error("evaluate", "reduction", must_be, f"{reduction.spec} on {name} ({error})") from None
        trained = time.process_time()
        labels = model.predict(held_out)
        done = time.process_time()
    return Fold(np.flatnonzero(test), np.asarray(labels), trained - start, done - trained, *sizes_of(model), places)


def _search(reduction: Reduction, X: Any, y: NDArray[Any], seed: int, manner: Manner) -> tuple[int, ...]:
    """Return the places of the settings that the training part chooses; its rows are scaled as a whole."""
    if manner.tuning is None:
        return ()
    folds = manner.tuning.inner_folds
    if len(y) < folds:
        raise ValueError(f"{len(y)} rows in the training part, fewer than the {folds} inner folds")
    fold = deal_folds(y, folds, seed) if manner.by_class else deal_random_folds(len(y), folds, seed)
    rows = np.asarray(X, np.float64) if isinstance(X, np.ndarray) else X.tocsr()
    return choose(manner.tuning, InnerErrors(reduction, rows, y, fold, seed))


@functools.cache
def _load_kernels(reduction: Reduction) -> None:
    """Train on next to nothing, once per process: what is loaded or compiled on the way is no part of the time."""
    X, y = SIX_POINTS
    reduction.build(0).fit(X, y).predict(X)
