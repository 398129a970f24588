"""Recording: what a model answers about every pair on the rows of a data set."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pairsim.datasets import Dataset, Numbers
from pairsim.datasets.preparing import as_points, is_number
from pairsim.errors import ParameterError, parameter_error
from pairsim.evaluation.estimators import Estimator
from pairsim.evaluation.training import Trained, train
from pairsim.learn.one_vs_one.calibration import deal_folds
from pairsim.models import PairModel, PipelinePairs
from pairsim.models.base import take_rows
from pairsim.oracles import Recorded

if TYPE_CHECKING:
    import pandas as pd

PARTS = ("test", "train", "left-out", "all")
FOLDS = 5  # of the training part, each answered by a model trained without it


def record_trained(
    dataset: Dataset, estimator: Estimator, seed: int = 0, part: str = "test"
) -> tuple[Recorded, Trained]:
    """Train an estimator on the training part of a data set and record its answers on a part of it.

    Examples
    --------
    >>> from pairsim.datasets import load
    >>> from pairsim.evaluation import estimator
    >>> from pairsim.evaluation.recording import record_trained
    >>> recorded, trained = record_trained(load("wine"), estimator("perceptron"))
    >>> recorded.n, recorded.rows, trained.model.pairs
    (3, 53, 3)
    """
    if part == "all":
        raise parameter_error("record", "part", "test, train or left-out where the model is trained here", repr(part))
    numbers = dataset.numbers()
    if part == "left-out":
        return _record_left_out(dataset.name, numbers, estimator, seed)
    trained = train(estimator, numbers, seed, dataset.name)
    rows = (numbers.X, numbers.y) if part == "train" else (numbers.X_test, numbers.y_test)
    return trained.model.record(*rows), trained


def _record_left_out(name: str, numbers: Numbers, estimator: Estimator, seed: int) -> tuple[Recorded, Trained]:
    """Train without one fold of the training part at a time and record that fold; rows keep their order.

    Words and scales are learned from the whole training part, as those of the model whose answers they stand for.
    Returned with the answers: what all trainings took, and the last model.
    """
    classes, truth = np.unique(numbers.y, return_inverse=True)
    fold = deal_folds(truth, FOLDS, seed)
    alone = classes[np.bincount(truth) < 2]
    if len(alone):
        must_be = "test or train where a class has one training row"
        raise parameter_error("record", "part", must_be, f"'left-out' with class {str(alone[0])!r}")
    bits: NDArray[np.uint8] | None = None
    seconds, unconverged = 0.0, 0
    for number in range(FOLDS):
        outside = np.flatnonzero(fold == number)
        if not len(outside):
            continue
        kept = np.flatnonzero(fold != number)
        trained = train(estimator, numbers._replace(X=take_rows(numbers.X, kept), y=numbers.y[kept]), seed, name)
        answered = trained.model.record(take_rows(numbers.X, outside), numbers.y[outside]).bits
        bits = np.zeros((len(truth), answered.shape[1]), np.uint8) if bits is None else bits
        bits[outside] = answered
        seconds, unconverged = seconds + trained.seconds, unconverged + trained.unconverged
    assert bits is not None  # every row is in a fold
    return Recorded.from_bits(len(classes), bits, truth), trained._replace(seconds=seconds, unconverged=unconverged)


def record_given(dataset: Dataset, model: PairModel, part: str | None = None) -> Recorded:
    """Record the answers of a model that was trained elsewhere, which gets the features as they are.

    Without `part`: the test part where the data set came with one, else all rows.
    """
    if part is None:
        part = "test" if dataset.split == "official" else "all"
    if part == "left-out":
        raise parameter_error("record", "part", "test, train or all for a model that is trained already", repr(part))
    X, y = {
        "test": (dataset.X_test, dataset.y_test),
        "train": (dataset.X, dataset.y),
        "all": dataset.whole(),
    }[part]
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*feature names.*")  # columns are taken in their order
            return model.record(_plain_points(X, model), y)
    except ParameterError:
        raise
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise parameter_error("record", "data", "features that the model takes", f"{dataset.name} ({error})") from None


def _plain_points(X: pd.DataFrame, model: PairModel) -> Any:
    """Return features for a model: a table for a pipeline, which may look at its names, else numbers."""
    if isinstance(model, PipelinePairs) or not all(is_number(X[name]) for name in X.columns):
        return as_points(X)
    numbers: NDArray[Any] = X.to_numpy("float64")
    return numbers
