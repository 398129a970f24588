"""Confidence intervals for success probabilities, and the estimate that carries one."""

from __future__ import annotations

import dataclasses
import math

from pairsim.checks import check_instance, check_number, check_whole
from pairsim.errors import parameter_error

PEARSON_CONFIDENCE = 0.95  # up to here the limits by three moments cover as often as they say


def check_confidence(owner: str, confidence: float) -> float:
    """Return `confidence` when it is a number strictly between 0 and 1."""
    value = check_number(owner, "confidence", confidence, "a number strictly between 0 and 1")
    if not 0.0 < value < 1.0:
        raise parameter_error(owner, "confidence", "a number strictly between 0 and 1", confidence)
    return value


def binomial_interval(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact (Clopper-Pearson) interval of a success probability, by quantiles of beta distributions.

    Examples
    --------
    >>> low, high = binomial_interval(90, 100)
    >>> round(low, 3), round(high, 3)
    (0.824, 0.951)
    """
    from scipy.special import betainccinv, betaincinv  # not scipy.stats: it takes longer than everything else together

    tail = (1.0 - check_confidence("binomial_interval", confidence)) / 2.0
    trials = check_whole("binomial_interval", "trials", trials, 0, 1 << 63)
    successes = check_whole("binomial_interval", "successes", successes, 0, trials)
    failures = trials - successes
    low = float(betaincinv(successes, failures + 1, tail)) if successes > 0 else 0.0
    high = float(betainccinv(successes + 1, failures, tail)) if failures > 0 else 1.0
    return low, high


def sum_interval(total: float, trials: int, confidence: float = 0.95, *, counted: bool = True) -> tuple[float, float]:
    """Return an interval for the mean of independent numbers in [0, 1] of which only the sum is known.

    Numbers that are 0 or 1 (`counted`) have the exact binomial interval. For any others, let each one be the
    probability of an event, independently: the count of events is binomial and, given the numbers, at least the sum
    rounded down with probability 1/2 or more, as the median of such a count lies within 1 of its mean (Jogdeo and
    Samuels 1968). So a sum of s or more has at most twice the probability of a count of floor(s) or more, and the
    binomial interval of the sum rounded outwards holds when it is given half of the probability to miss.

    Examples
    --------
    >>> sum_interval(90, 100) == binomial_interval(90, 100)
    True
    >>> low, high = sum_interval(89.7, 100, counted=False)
    >>> round(low, 3), round(high, 3)
    (0.8, 0.956)
    """
    level = confidence if counted else (1.0 + confidence) / 2.0
    inside = min(max(total, 0.0), float(trials))  # a sum of probabilities may pass its ends by rounding
    low, high = math.floor(inside), math.ceil(inside)
    return binomial_interval(low, trials, level)[0], binomial_interval(high, trials, level)[1]


@dataclasses.dataclass(frozen=True)
class Moments:
    """Count, mean and central moments of numbers in [0, 1]; two of them merge into those of both samples."""

    count: int = 0
    mean: float = 0.0
    second: float = 0.0  # sum of squared deviations from the mean
    third: float = 0.0  # sum of cubed deviations

    def plus(self, other: Moments) -> Moments:
        """Return the moments of both samples together (Chan, Golub and LeVeque; Pebay)."""
        if not self.count or not other.count:
            return self if self.count else other
        total = self.count + other.count
        gap = other.mean - self.mean
        cross = self.count * other.count / total
        second = self.second + other.second + gap * gap * cross
        third = self.third + other.third + gap * gap * gap * cross * (self.count - other.count) / total
        third += 3.0 * gap * (self.count * other.second - other.count * self.second) / total
        return Moments(total, self.mean + gap * other.count / total, second, third)


def merged(first: Moments | None, second: Moments | None) -> Moments | None:
    """Return the moments of both samples, either of which may be missing."""
    if first is None or second is None:
        return first or second
    return first.plus(second)


def bounded_interval(sample: Moments, confidence: float = 0.95) -> tuple[float, float]:
    """Return an interval for the mean of numbers in [0, 1] of which only the moments are known.

    Gaffke's bound takes the sample and one more point at the far end (1 for the upper limit, 0 for the lower), weighs
    them by a uniformly random Dirichlet vector and reads off the quantile; on 0/1 data it is the Clopper-Pearson
    interval. Here the quantile is that of the Pearson III distribution with the same three moments, so that blocks of
    a sample can be merged. A rare event that was never seen still leaves room of about
    log(2 / (1 - confidence)) / count.

    Far out, three moments do not tell the quantile: where few points make up most of the mean, the Pearson III limit at
    99.9% missed the mean in 1% of the samples. Above 95% a limit therefore goes at least as far as Gaffke's for the
    sample that has the same mean and variance and the longest tail on that side (see `_farthest_limit`).

    References
    ----------
    N. Gaffke, "Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable",
    Mathematical Methods of Statistics 14, 2005.

    Examples
    --------
    >>> low, high = bounded_interval(Moments(count=10_000, mean=0.0))
    >>> low, round(high, 6)
    (0.0, 0.000369)
    """
    tail = (1.0 - check_confidence("bounded_interval", confidence)) / 2.0
    check_instance("bounded_interval", "sample", sample, Moments, "the Moments of a sample")
    low = _dirichlet_quantile(sample.plus(Moments(1, 0.0)), tail)
    high = _dirichlet_quantile(sample.plus(Moments(1, 1.0)), 1.0 - tail)
    if confidence > PEARSON_CONFIDENCE:
        low = min(low, _farthest_limit(sample.count, sample.mean, sample.second, tail))
        high = max(high, 1.0 - _farthest_limit(sample.count, 1.0 - sample.mean, sample.second, tail))
    return max(0.0, min(low, sample.mean)), min(1.0, max(high, sample.mean))


def _farthest_limit(count: int, mean: float, second: float, tail: float) -> float:
    """Return Gaffke's lower limit for the worst sample in [0, 1] with this mean and sum of squared deviations.

    P(weighted mean <= t) is at most exp(sum f(x)) with f(x) = -log(1 + s (x - t)) for every s > 0. The third derivative
    of f is negative, so among all samples with two given moments the sum is largest where every point is 0 or
    h = E x**2 / E x (Chebyshev and Markov; Karlin and Studden 1966). That is h times a 0/1 sample with
    count * mean / h ones, whose limit is Clopper and Pearson's.
    """
    from scipy.special import betaincinv

    square = second / count + mean * mean
    if mean <= 0.0 or square <= 0.0:
        return 0.0
    ones = min(float(count), count * mean * mean / square)
    return square / mean * float(betaincinv(ones, count - ones + 1.0, tail))


def _dirichlet_quantile(points: Moments, probability: float) -> float:
    """Return a quantile of the Dirichlet(1, ..., 1)-weighted mean of the points, by its first three moments."""
    from scipy.special import gammaincinv, ndtri

    count = points.count
    variance = points.second / count / (count + 1)
    if variance <= 0.0:
        return points.mean
    spread = math.sqrt(variance)
    skew = (
        2.0 * points.third / spread / spread / spread / count / ((count + 1) * (count + 2))
    )  # spread**3 may underflow
    if abs(skew) < 1e-4:  # the gamma distribution is normal to this order, and its inverse loses digits
        return points.mean + spread * float(ndtri(probability))
    shape = 4.0 / skew**2
    level = probability if skew > 0.0 else 1.0 - probability
    unit = (float(gammaincinv(shape, level)) - shape) / math.sqrt(shape)
    return points.mean + spread * math.copysign(unit, unit * skew)


def error_of_width(width: float, confidence: float) -> float:
    """Return the standard error of a normal estimate whose interval at `confidence` is so wide.

    Examples
    --------
    >>> round(error_of_width(2 * 1.96, 0.95), 3)
    1.0
    """
    from scipy.special import ndtri

    return width / 2.0 / float(ndtri((1.0 + confidence) / 2.0))


@dataclasses.dataclass(frozen=True)
class Estimate:
    """The estimated success and cost of one decoder on one oracle.

    Attributes
    ----------
    decoder : str
        The decoder's spec.
    method : str
        Method of the estimate: "simulated" (trials counted), "conditional" (part of the value computed exactly in
        each trial, so the same trials say more) or "exact".
    trials, success, low, high
        Number of trials, success probability and its interval at `confidence`.
    failure : float
        1 - success, accurate also where it is tiny. A "conditional" failure far below 1 / trials is what the trials
        seen so far contribute; rarer ones may contribute more, and 1 - low is the limit that allows for them.
    standard_error : float
        Of `success` (0 when it is exact). Where fewer than one failure (or success) is expected in all trials, the
        spread of a conditional sample says little, and this is half the interval's width in normal quantiles instead.
    queries, distinct, rounds
        Means over the trials: queries asked, different pairs asked, rounds waited for.
    agreement : float
        How often the decoder named the same class as max-win; nan when max-win was not run beside it.
    agreement_low, agreement_high : float
        Its interval at `confidence`: exact binomial for counted trials, `sum_interval` for conditional ones.
    """

    decoder: str
    method: str
    trials: int
    success: float
    low: float
    high: float
    queries: float
    distinct: float
    rounds: float
    agreement: float = math.nan
    agreement_low: float = math.nan
    agreement_high: float = math.nan
    confidence: float = 0.95
    failure: float = math.nan
    standard_error: float = math.nan
