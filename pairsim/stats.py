"""Honest intervals for success probabilities, and the estimate that carries one."""

from __future__ import annotations

import dataclasses
import math

from pairsim.checks import check_number
from pairsim.errors import refusal


def check_confidence(owner: str, confidence: float) -> float:
    """Return `confidence` when it is a number strictly between 0 and 1."""
    value = check_number(owner, "confidence", confidence, "a number strictly between 0 and 1")
    if not 0.0 < value < 1.0:
        raise refusal(owner, "confidence", "a number strictly between 0 and 1", confidence)
    return value


def binomial_interval(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact (Clopper-Pearson) interval of a success probability: quantiles of beta laws, from scipy.

    Examples
    --------
    >>> low, high = binomial_interval(90, 100)
    >>> round(low, 3), round(high, 3)
    (0.824, 0.951)
    """
    from scipy.special import betainccinv, betaincinv  # not scipy.stats: it takes longer than everything else together

    tail = (1.0 - check_confidence("binomial_interval", confidence)) / 2.0
    failures = trials - successes
    low = float(betaincinv(successes, failures + 1, tail)) if successes > 0 else 0.0
    high = float(betainccinv(successes + 1, failures, tail)) if failures > 0 else 1.0
    return low, high


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
    interval. Here the quantile is that of the Pearson III law with the same three moments, so that blocks of a sample
    can be merged. A rare event that was never seen still leaves room of about log(2 / (1 - confidence)) / count.

    Examples
    --------
    >>> low, high = bounded_interval(Moments(count=10_000, mean=0.0))
    >>> low, round(high, 6)
    (0.0, 0.000369)
    """
    tail = (1.0 - check_confidence("bounded_interval", confidence)) / 2.0
    low = _dirichlet_quantile(sample.plus(Moments(1, 0.0)), tail)
    high = _dirichlet_quantile(sample.plus(Moments(1, 1.0)), 1.0 - tail)
    return max(0.0, min(low, sample.mean)), min(1.0, max(high, sample.mean))


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
    if abs(skew) < 1e-4:  # the gamma law is normal to this order, and its inverse loses digits
        return points.mean + spread * float(ndtri(probability))
    shape = 4.0 / skew**2
    level = probability if skew > 0.0 else 1.0 - probability
    unit = (float(gammaincinv(shape, level)) - shape) / math.sqrt(shape)
    return points.mean + spread * math.copysign(unit, unit * skew)


@dataclasses.dataclass(frozen=True)
class Estimate:
    """What is known of one decoder on one oracle.

    Attributes
    ----------
    decoder : str
        The decoder's spec.
    method : str
        How the figure was reached: "simulated" (trials counted), "conditional" (part of the chance computed exactly in
        each trial, so the same trials say more) or "exact".
    trials, success, low, high
        Number of trials, success probability and its interval at `confidence`.
    failure : float
        1 - success, accurate also where it is tiny.
    standard_error : float
        Of `success` (0 when it is exact).
    queries, distinct, rounds
        Means over the trials: questions asked, different pairs asked, rounds waited for.
    agreement : float
        How often the decoder named the same class as max-win; nan when max-win was not run beside it.
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
    confidence: float = 0.95
    failure: float = math.nan
    standard_error: float = math.nan
