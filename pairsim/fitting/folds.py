"""Cross-fitting: each row is judged by oracles that have not seen it, and the folds tell how far probability goes."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsim.checks import check_whole
from pairsim.errors import parameter_error

Floats = NDArray[np.float64]

DEFAULT_FOLDS = 10
FEW = 5  # failures or successes: folds mostly have none


def check_folds(owner: str, folds: object, rows: int) -> int:
    """Return the number of folds: as given, else 10, or one per row where there are fewer."""
    if rows < 2:
        raise parameter_error(owner, "recorded", "at least 2 rows: one to fit to, one to judge by", f"{rows} row")
    if folds is None:
        return min(DEFAULT_FOLDS, rows)
    return check_whole(owner, "folds", folds, 2, rows, f"an integer from 2 to the number of rows, {rows}")


def assign_folds(rows: int, folds: int, seed: int) -> NDArray[np.int64]:
    """Return the fold of each row: at random, and of equal sizes as far as can be.

    Not stratified by the true class. The fits do not look at it, and folds that all have the same classes would differ
    less than samples of rows do, so that the intervals of the distances would be too short.

    Examples
    --------
    >>> np.bincount(assign_folds(11, 3, seed=0)).tolist()
    [4, 4, 3]
    """
    # this generator's numbers are the same in all versions of NumPy
    shuffled = np.random.RandomState(np.random.MT19937(np.random.SeedSequence(seed))).permutation(rows)
    group = np.empty(rows, np.int64)
    group[shuffled] = np.arange(rows) % folds
    return group


def jackknife_variance(whole: ArrayLike, parts: ArrayLike, kept: NDArray[np.int64]) -> Floats:
    """Return the variance of a statistic by the jackknife that leaves out one fold at a time.

    Parameters
    ----------
    whole : array_like
        The statistic of all rows; several of them along any axes.
    parts : array_like
        The same without each fold, along the first axis.
    kept : array of int
        Number of rows without each fold.

    References
    ----------
    F. Busing, E. Meijer and R. van der Leeden, "Delete-m Jackknife for Unequal m", Statistics and Computing 9, 1999.

    Examples
    --------
    >>> numbers = np.array([1.0, 2.0, 4.0, 7.0])  # of a mean, leaving out one at a time, it is the usual one
    >>> without = (numbers.sum() - numbers) / 3
    >>> float(jackknife_variance(numbers.mean(), without, np.full(4, 3))), float(numbers.var(ddof=1) / 4)
    (1.75, 1.75)
    """
    whole, parts = np.asarray(whole, np.float64), np.asarray(parts, np.float64)
    folds = len(parts)
    rows = kept.sum() / (folds - 1)
    shape = (folds,) + (1,) * (parts.ndim - 1)
    times = (rows / (rows - kept)).reshape(shape)  # rows over those left out
    pseudo = times * whole - (times - 1.0) * parts
    centre = folds * whole - ((1.0 - 1.0 / times) * parts).sum(axis=0)
    return np.asarray(((pseudo - centre) ** 2 / (times - 1.0)).mean(axis=0))


def student_quantile(confidence: float, freedom: float) -> float:
    """Return how many standard errors an interval goes to each side, given the degrees of freedom of the error."""
    from scipy.special import stdtrit

    return float(stdtrit(min(freedom, 1e9), 0.5 + confidence / 2.0))


@dataclasses.dataclass(frozen=True)
class Judged:
    """What the folds say of a decoder: its predicted success, and how far that is from the observed one.

    Attributes
    ----------
    decoder : str
        The decoder's spec.
    success : float
        Predicted: the mean over the folds, weighted by their rows, of the success under the oracle that was fitted to
        the other folds.
    distance : float
        `success` minus the observed success.
    low, high : float
        Interval of the distance.
    standard_error : float
        Confidence level of the distance.
    """

    decoder: str
    success: float
    distance: float
    low: float
    high: float
    standard_error: float


@dataclasses.dataclass(frozen=True)
class FoldPredictions:
    """The success of one decoder under an oracle fitted to all rows, and under those fitted without each fold.

    Attributes
    ----------
    success, error : float
        Under the oracle fitted to all rows, over many trials, with the standard error of the simulation.
    reference : float
        The same over the trials that the others have.
    without : array, shape (folds,)
        Under the oracles fitted without each fold, over the same trials as `reference`.
    """

    success: float
    error: float
    reference: float
    without: Floats


def judge(
    decoder: str, probabilities: Floats, group: NDArray[np.int64], predicted: FoldPredictions, confidence: float
) -> Judged:
    """Return the distance of predicted from observed success, with its interval.

    Rows are the independent observations, and each moves two things: the observed success, and the fit. A row on which
    a decoder succeeds is mostly one that makes the fitted oracle more accurate, so the two must not be treated as
    independent. The jackknife repeats all of it (the fit, the prediction, the observed mean) without each fold. To its
    variance is added that of the simulation. The interval is Student's: the first has folds - 1 degrees of freedom, the
    second is known, and the sum has as many as Welch and Satterthwaite say.

    Predictions without a fold differ little from each other. They are made with the same random numbers, some of them
    over fewer trials, and only their differences from `reference` are used.

    Where fewer than 5 failures (or successes) are seen, the folds cannot say how often they happen. What no row shows
    can be as frequent as log(2 / (1 - confidence)) / rows: there the interval goes at least so far to either side.
    """
    rows, folds = len(probabilities), len(predicted.without)
    left_out = np.bincount(group, minlength=folds)
    sums = np.bincount(group, probabilities, minlength=folds)
    observed = float(probabilities.mean())
    shifts = predicted.without - predicted.reference
    success = min(1.0, max(0.0, predicted.success + float(left_out @ shifts) / rows))
    without = predicted.without - (sums.sum() - sums) / (rows - left_out)
    variance = float(jackknife_variance(predicted.reference - observed, without, rows - left_out))
    total = variance + predicted.error**2
    freedom = (folds - 1) * (total / variance) ** 2 if variance > 0.0 else math.inf
    error = math.sqrt(total)
    reach = student_quantile(confidence, freedom) * error
    if rows * min(observed, 1.0 - observed) < FEW:
        reach = max(reach, math.log(2.0 / (1.0 - confidence)) / rows)
    distance = success - observed
    return Judged(decoder, success, distance, max(-1.0, distance - reach), min(1.0, distance + reach), error)
