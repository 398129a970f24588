"""Training a model, and predicting with it by a decoder.

Times are those of the processor, all threads together: what else the machine does is no part of a comparison.
"""

from __future__ import annotations

import functools
import time
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsim.datasets import Numbers
from pairsim.decoders import Decoder
from pairsim.errors import parameter_error
from pairsim.evaluation.estimators import Estimator
from pairsim.evaluation.outcomes import Outcome
from pairsim.models import PairModel, from_model
from pairsim.simulation import watch_compiler

if TYPE_CHECKING:
    from pairsim.kernels.compile_watch import CompileWatch
    from pairsim.learn import RowCosts

SOON = 1.0  # seconds of processor time, up to which predictions are timed twice


class Trained(NamedTuple):
    """A model in pairsim's form, what its training took, how many pairs did not converge, and the model as it came."""

    model: PairModel
    seconds: float
    unconverged: int
    fitted: Any


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
        raise parameter_error("evaluate", "estimator", must_be, f"{estimator.spec} on {name} ({error})") from None
    seconds = time.process_time() - start
    unconverged = 0
    for each in caught:
        if issubclass(each.category, ConvergenceWarning):
            unconverged += 1  # one per pair: told once, in one line
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    return Trained(from_model(fitted), seconds, unconverged, fitted)


def knowing_errors(decoder: Decoder, trained: Trained, numbers: Numbers) -> tuple[Decoder, float]:
    """Return a radag with the errors of the pairs that its model shows in training, as `PairwiseClassifier` has it.

    Any other decoder is returned as it is. The second value is the time that it took, which is part of the training.
    """
    if not decoder.needs_pair_errors:
        return decoder, 0.0
    from pairsim.learn.one_vs_one.calibration import gather
    from pairsim.learn.one_vs_one.support import support_errors

    start = time.process_time()
    errors = support_errors(trained.fitted)
    if errors is None:
        errors = gather(trained.model, numbers.X, np.searchsorted(trained.model.classes_, numbers.y)).errors()
    return decoder.with_pair_errors(errors), time.process_time() - start


def predict(model: PairModel, decoder: Decoder, X: Any, classes: NDArray[Any], seed: int) -> tuple[Outcome, float]:
    """Let a decoder name the class of each row of X, and take the time; `classes` are the labels by number, sorted."""
    from pairsim.learn import PairwiseClassifier

    predictor = PairwiseClassifier.from_fitted(model, decoder=decoder, random_state=seed)
    predictor.predict(X[:1])
    labels, cost, seconds, compiled = _timed(predictor, X)
    if compiled or seconds < SOON:  # what is compiled or loaded on the way is no part of the time
        seconds = min(seconds, _timed(predictor, X)[2])
    named = np.searchsorted(classes, labels).astype(np.int64)
    totals = (float(each.sum()) for each in (cost.queries, cost.distinct, cost.rounds))
    return Outcome(named, *totals), seconds


def _timed(predictor: Any, X: Any) -> tuple[NDArray[Any], RowCosts, float, bool]:
    """Return labels and costs, the processor time that they took, and whether a kernel was compiled for them."""
    before, start = _watch().kernels, time.process_time()
    labels, cost = predictor.predict(X, return_cost=True)
    seconds = time.process_time() - start
    return labels, cost, seconds, _watch().kernels > before


@functools.cache
def _watch() -> CompileWatch:
    return watch_compiler()
