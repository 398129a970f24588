"""Recording: what a model answers about every pair on the rows of a data set."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from pairsim.datasets import Dataset
from pairsim.datasets.preparing import as_points, is_number
from pairsim.errors import ParameterError, parameter_error
from pairsim.evaluation.estimators import Estimator
from pairsim.evaluation.training import Trained, train
from pairsim.models import PairModel, PipelinePairs
from pairsim.oracles import Recorded

if TYPE_CHECKING:
    import pandas as pd

PARTS = ("test", "train", "all")


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
    numbers = dataset.numbers()
    trained = train(estimator, numbers, seed, dataset.name)
    if part == "all":
        raise parameter_error("record", "part", "test or train where the model is trained here", repr(part))
    rows = (numbers.X, numbers.y) if part == "train" else (numbers.X_test, numbers.y_test)
    return trained.model.record(*rows), trained


def record_given(dataset: Dataset, model: PairModel, part: str | None = None) -> Recorded:
    """Record the answers of a model that was trained elsewhere, which gets the features as they are.

    Without `part`: the test part where the data set came with one, else all rows.
    """
    if part is None:
        part = "test" if dataset.split == "official" else "all"
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
