"""Training a model, and predicting with it by a decoder.

Times are those of the processor, all threads together: what else the machine does is no part of a comparison.
"""

from __future__ import annotations

import time
import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsim.datasets import Numbers
from pairsim.decoders import Decoder
from pairsim.errors import refusal
from pairsim.evaluation.estimators import Estimator
from pairsim.evaluation.outcomes import Outcome
from pairsim.models import PairModel, from_model


class Trained(NamedTuple):
    """A model in pairsim's form, what its training took, and how many pairs were given up before they converged."""

    model: PairModel
    seconds: float
    unconverged: int


def train(estimator: Estimator, numbers: Numbers, seed: int, name: str) -> Trained:
    """Train an estimator on the training part of the data set called `name`."""
    from sklearn.exceptions import ConvergenceWarning

    start = time.process_time()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fitted = estimator.build(seed).fit(numbers.X, numbers.y)
    except (ValueError, TypeError) as error:
        must_be = "one that can be trained on this data set"
        raise refusal("evaluate", "estimator", must_be, f"{estimator.spec} on {name} ({error})") from None
    seconds = time.process_time() - start
    unconverged = 0
    for each in caught:
        if issubclass(each.category, ConvergenceWarning):
            unconverged += 1  # one a pair: told once, in one line
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    return Trained(from_model(fitted), seconds, unconverged)


def predict(model: PairModel, decoder: Decoder, X: Any, classes: NDArray[Any], seed: int) -> tuple[Outcome, float]:
    """Let a decoder name the class of each row of X, and take the time; `classes` are the labels by number, sorted."""
    from pairsim.learn import PairwiseClassifier

    predictor = PairwiseClassifier.from_fitted(model, decoder=decoder, random_state=seed)
    predictor.predict(X[:1])  # whatever is compiled or loaded on the way is no part of the time
    start = time.process_time()
    labels, cost = predictor.predict(X, return_cost=True)
    seconds = time.process_time() - start
    named = np.searchsorted(classes, labels).astype(np.int64)
    prices = (float(each.sum()) for each in (cost.queries, cost.distinct, cost.rounds))
    return Outcome(named, *prices), seconds
