"""How well the rows determine the parameters of a fitted oracle."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar
from scipy.special import ndtr, ndtri

from pairsim.exact_values.recorded_rows import interval_of
from pairsim.fitting.folds import jackknife_variance
from pairsim.fitting.models import FARTHEST_LEVEL, MOST_DIFFICULT, level_likelihood, order_of_circles
from pairsim.fitting.traits import RowCounts
from pairsim.oracles import Ranked

WIDEST = 0.5  # an interval for the difficulty that is longer says next to nothing
NOT_IDENTIFIED = "not identified"
MAY_BE_ZERO = "may be 0"
NEAR = 1e-4  # relative accuracy of the ends of a profile-likelihood interval


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One parameter of a fitted oracle.

    Attributes
    ----------
    name : str
        As the oracle calls it.
    value : float
        Fitted to all rows.
    low, high : float
        Its interval; rows are the independent observations.
    note : str
        "not identified" for a difficulty whose interval is longer than half of [0, 1]: the rows do not determine it,
        and the value is arbitrary. "may be 0" where the interval of a difficulty begins at 0. Else empty.
    """

    name: str
    value: float
    low: float
    high: float
    note: str = ""

    @property
    def identified(self) -> bool:
        """Whether the rows determine the parameter."""
        return self.note != NOT_IDENTIFIED


def accuracy_parameter(p: float, counts: RowCounts, confidence: float) -> Parameter:
    """Return uniform's p: the pairs of a row are answered together, so the interval is over rows, not over pairs."""
    return Parameter("p", p, *_around(p, interval_of(counts.accuracy, confidence)))


def ranked_parameters(oracle: Ranked, counts: RowCounts, confidence: float) -> tuple[Parameter, ...]:
    """Return p, order and difficulty of a fitted ranked oracle with their intervals.

    Those of p and difficulty are profile-likelihood intervals of the rows' losses: they hold as far as the model does.
    The order's is the interval of the frequency of circles over the rows.

    An accurate model has few rows in which the true class loses any pair, and the difficulty shows in losses only. Then
    its likelihood is flat, the fit may be 0 or 0.9 by chance, and it is reported as not identified: with 16 classes,
    p = 0.99, difficulty 0.6 and 100 rows in most samples.
    """
    losses = np.bincount(counts.losses, minlength=counts.n)
    return (
        Parameter("p", oracle.p, *_level_interval(oracle, losses, counts, confidence)),
        Parameter("order", oracle.order, *_order_interval(oracle, counts, confidence)),
        _difficulty(oracle, losses, confidence),
    )


def _around(value: float, interval: tuple[float, float]) -> tuple[float, float]:
    """Return the interval, made to contain the value."""
    return min(value, interval[0]), max(value, interval[1])


def _order_interval(oracle: Ranked, counts: RowCounts, confidence: float) -> tuple[float, float]:
    most = counts.most_circles
    low, high = (order_of_circles(most * end) for end in interval_of(counts.circles / most, confidence))
    return _around(oracle.order, (high, low))


def _drop(confidence: float) -> float:
    """Return how far the log-likelihood may lie below its maximum within an interval: half a chi-squared quantile."""
    return 0.5 * float(ndtri(0.5 + confidence / 2.0)) ** 2


def _difficulty(oracle: Ranked, losses: NDArray[np.int64], confidence: float) -> Parameter:
    """Return the difficulty with its profile-likelihood interval, and whether that says anything."""
    if not 0.0 < oracle.p < 1.0:  # no loss, or nothing else: every difficulty explains it
        return Parameter("difficulty", oracle.difficulty, 0.0, 1.0, NOT_IDENTIFIED)
    level = float(ndtri(oracle.p))

    def profile(difficulty: float) -> float:
        return _maximum(lambda x: level_likelihood(losses, x, difficulty), level - 2.0, level + 2.0)

    top = max(level_likelihood(losses, level, oracle.difficulty), profile(oracle.difficulty)) - _drop(confidence)
    low = _crossing(lambda x: profile(x) - top, oracle.difficulty, 0.0)
    high = _crossing(lambda x: profile(x) - top, oracle.difficulty, MOST_DIFFICULT)
    high = 1.0 if high >= MOST_DIFFICULT else high
    note = NOT_IDENTIFIED if high - low > WIDEST else MAY_BE_ZERO if low == 0.0 else ""
    return Parameter("difficulty", oracle.difficulty, low, high, note)


def _level_interval(
    oracle: Ranked, losses: NDArray[np.int64], counts: RowCounts, confidence: float
) -> tuple[float, float]:
    """Return the profile-likelihood interval of p; where no loss or nothing else was seen, that over the rows."""
    if not 0.0 < oracle.p < 1.0:
        return _around(oracle.p, interval_of(counts.accuracy, confidence))
    level = float(ndtri(oracle.p))

    def profile(x: float) -> float:
        return _maximum(lambda difficulty: level_likelihood(losses, x, difficulty), 0.0, MOST_DIFFICULT)

    top = max(level_likelihood(losses, level, oracle.difficulty), profile(level)) - _drop(confidence)
    ends = [
        _crossing(lambda x: profile(x) - top, level, max(-FARTHEST_LEVEL, min(FARTHEST_LEVEL, level + far)))
        for far in (-4.0, 4.0)
    ]
    return float(ndtr(ends[0])), float(ndtr(ends[1]))


def _maximum(likelihood: Callable[[float], float], low: float, high: float) -> float:
    """Return the highest likelihood over one parameter."""
    found = minimize_scalar(lambda x: -likelihood(x), bounds=(low, high), method="bounded", options={"xatol": 1e-3})
    return max(-float(found.fun), likelihood(low), likelihood(high))


def _crossing(excess: Callable[[float], float], inside: float, end: float) -> float:
    """Return where `excess`, which is positive inside, becomes 0 on the way to `end`; `end` when it never does."""
    if inside == end or excess(end) >= 0.0:
        return end
    return float(brentq(excess, inside, end, xtol=NEAR, rtol=NEAR))


def similarity_parameters(
    r: NDArray[np.float64], parts: NDArray[np.float64], kept: NDArray[np.int64], quantile: float
) -> tuple[Parameter, ...]:
    """Return the similarities r[0], r[1], ... with intervals on the scale of logarithms, by the jackknife over folds.

    `parts` has the similarities of the fit without each fold, `kept` the rows of each of these fits.
    """
    logs = np.log(np.maximum(r, 1e-300))
    spread = quantile * np.sqrt(jackknife_variance(logs, np.log(np.maximum(parts, 1e-300)), kept))
    ends = zip(np.exp(logs - spread).tolist(), np.exp(np.minimum(logs + spread, 0.0)).tolist(), strict=True)
    return tuple(
        Parameter(f"r[{k}]", value, *_around(value, interval))
        for k, (value, interval) in enumerate(zip(r.tolist(), ends, strict=True))
    )
