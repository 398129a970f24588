"""When to stop, and what may be said after stopping early.

Rules are looked at after each block, in block order, so a result does not depend on who computed which block when, and
overshoots by less than one block.

Counting until k failures were seen makes the plain ratio failures / trials too large on average: the sample ends on a
run of bad luck. With T the trial of the k-th failure, (k - 1) / (T - 1) has no bias (Girshick, Mosteller and Savage);
here only the block is known in which T lies, and its mean over the places that T can have there, which is what
`inverse_estimate` returns, has none either. Its interval inverts exact tail probabilities of the stopped count.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsim.checks import check_number, check_whole
from pairsim.errors import parameter_error, shown
from pairsim.simulation.tally import Tally
from pairsim.stats import binomial_interval, bounded_interval

LEAST_FAILURES = 2  # with k = 1 the only estimate without bias says 0 unless the very first trial fails
MOST_TRIALS = 10_000_000  # of a task under a rule, when no number is given


@dataclasses.dataclass(frozen=True)
class Stop:
    """When a task is finished: after `trials` at the latest, or sooner when a rule is satisfied.

    Attributes
    ----------
    trials : int
        The most.
    half_width : float, optional
        Stop when half the interval is at most this; with `relative`, at most this fraction of the rarer probability.
    failures : int, optional
        Stop when so many failures were counted.
    """

    trials: int
    half_width: float | None = None
    relative: bool = False
    failures: int | None = None

    @property
    def is_rule(self) -> bool:
        """Whether the task may end before `trials`."""
        return self.half_width is not None or self.failures is not None

    def wanted_count(self, confidence: float) -> int | None:
        """Return how often the rarer outcome (or a failure) must be counted, where the rule is such a number."""
        if self.failures is not None:
            return self.failures
        if self.half_width is not None and self.relative:
            return count_for_precision(self.half_width, confidence)
        return None

    def is_met(self, method: str, tally: Tally, confidence: float) -> bool:
        """Say whether the tally of all blocks up to here ends the task."""
        if not self.is_rule or tally.trials == 0:
            return False
        if method == "exact":
            return True  # nothing is left to learn but the agreement
        wanted = self.wanted_count(confidence)
        if tally.smooth is None and wanted is not None:
            rarer = min(tally.failed, tally.trials - tally.failed) if self.failures is None else tally.failed
            return rarer >= wanted
        if self.half_width is None:
            return False
        if tally.smooth is None:
            low, high = binomial_interval(tally.failed, tally.trials, confidence)
            return (high - low) / 2.0 <= self.half_width
        low, high = bounded_interval(tally.smooth, confidence)
        rarer_probability = min(tally.smooth.mean, 1.0 - tally.smooth.mean)
        return (high - low) / 2.0 <= self.half_width * (rarer_probability if self.relative else 1.0)


def make_stop(trials: int | None, default: int, half_width: float | str | None, failures: int | None) -> Stop:
    """Return the rule that the parameters of `sweep` describe."""
    width, relative = _read_half_width(half_width)
    if failures is not None:
        check_whole("sweep", "max_failures", failures, LEAST_FAILURES, 1 << 62)
        if width is not None:
            raise parameter_error("sweep", "max_failures", "omitted: it cannot be combined with half_width", failures)
    if trials is None:
        trials = MOST_TRIALS if width is not None or failures is not None else default
    return Stop(trials, width, relative, failures)


def _read_half_width(half_width: float | str | None) -> tuple[float | None, bool]:
    if half_width is None:
        return None, False
    must_be = "a number strictly between 0 and 1, or a percentage such as '1%'"
    relative = isinstance(half_width, str) and half_width.strip().endswith("%")
    try:
        value = float(half_width.strip().removesuffix("%")) if isinstance(half_width, str) else half_width
    except ValueError:
        raise parameter_error("sweep", "half_width", must_be, shown(half_width)) from None
    value = check_number("sweep", "half_width", value, must_be) / (100.0 if relative else 1.0)
    if not 0.0 < value < 1.0:
        raise parameter_error("sweep", "half_width", must_be, shown(half_width))
    return value, relative


@functools.lru_cache(maxsize=64)
def count_for_precision(share: float, confidence: float) -> int:
    """Return how many rare outcomes must be counted for an interval of half-width `share` times the estimate.

    In the limit of rare outcomes the lower limit is a quantile of Gamma(k) over the trials; the upper one of Gamma(k)
    to Gamma(k + 1) and the estimate k - 1 to k over the trials, as the k-th comes at the end of a block of one trial or
    of many. The worst of each is taken, so that the interval comes out a little narrower than that.

    Examples
    --------
    >>> count_for_precision(0.1, 0.95)
    397
    """
    from scipy.special import gammaincinv

    tail = (1.0 - confidence) / 2.0

    def spread(k: int) -> float:
        return float(gammaincinv(k + 1, 1.0 - tail) - gammaincinv(k, tail)) / 2.0 / (k - 1)

    high = LEAST_FAILURES
    while spread(high) > share:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if middle >= LEAST_FAILURES and spread(middle) <= share else (middle, high)
    return high


def inverse_estimate(wanted: int, before: tuple[int, int], last: tuple[int, int]) -> float:
    """Return the estimate without bias of the probability of an outcome that was counted until it came `wanted` times.

    `before` and `last` are (times seen, trials) of the blocks before the last one, and of the last, in which the
    number was reached.

    Examples
    --------
    >>> inverse_estimate(3, (2, 1000), (1, 1))     # the third at trial 1001
    0.002
    """
    from scipy.special import gammaln

    (seen, earlier), (more, trials) = before, last
    needed = wanted - seen
    place = np.arange(needed, trials - more + needed + 1)  # of the decisive outcome within the last block

    def log_choose(a: Any, b: Any) -> NDArray[np.float64]:
        ways: NDArray[np.float64] = gammaln(a + 1.0) - gammaln(b + 1.0) - gammaln(a - b + 1.0)
        return ways

    log_ways = log_choose(place - 1, needed - 1) + log_choose(trials - place, more - needed)
    weights = np.exp(log_ways - log_ways.max())
    return float((weights * (wanted - 1) / (earlier + place - 1)).sum() / weights.sum())


def inverse_interval(
    wanted: int, before: tuple[int, int], last: tuple[int, int], confidence: float
) -> tuple[float, float]:
    """Return the exact interval of that probability: sooner, and then more in the last block, speaks for a larger one.

    With everything in one block it is the Clopper-Pearson interval.

    Examples
    --------
    >>> inverse_interval(3, (0, 0), (5, 100), 0.95) == binomial_interval(5, 100, 0.95)
    True
    """
    from scipy.special import bdtr, bdtrc, gammaln, xlog1py, xlogy

    (seen, earlier), (more, trials) = before, last
    if earlier == 0:
        return binomial_interval(more, trials, confidence)
    tail, total = (1.0 - confidence) / 2.0, seen + more
    a = np.arange(min(wanted, earlier + 1))
    log_choose = gammaln(earlier + 1.0) - gammaln(a + 1.0) - gammaln(earlier - a + 1.0)

    def at_most(q: float) -> float:
        probability = np.exp(log_choose + xlogy(a, q) + xlog1py(earlier - a, -q))
        return float(probability @ bdtr(np.minimum(total - a, trials), trials, q))

    def at_least(q: float) -> float:
        probability = np.exp(log_choose + xlogy(a, q) + xlog1py(earlier - a, -q))
        enough = np.where(total - a > trials, 0.0, bdtrc(np.clip(total - a - 1, 0, trials), trials, q))
        stopped = bdtrc(wanted - 1, earlier, q) if wanted <= earlier else 0.0
        return float(stopped + probability @ enough)

    middle = total / (earlier + trials)
    low = _solve(lambda q: at_least(q) - tail, 0.0, middle)
    high = _solve(lambda q: at_most(q) - tail, middle, 1.0)
    return low, high


def _solve(gap: Callable[[float], float], low: float, high: float) -> float:
    """Return where `gap` changes its sign; the end at which it is nearest to doing so when it never does."""
    from scipy.optimize import brentq

    at_low, at_high = gap(low), gap(high)
    if at_low * at_high > 0.0:
        return low if abs(at_low) < abs(at_high) else high
    return float(brentq(gap, low, high, xtol=1e-300, rtol=1e-13, maxiter=500))


def stopped_failure(
    stop: Stop, before: Tally, whole: Tally, confidence: float, level: float | None = None
) -> tuple[float, float, float] | None:
    """Return (failure, low, high) of a task that a count has ended; None when its trials were those planned.

    `confidence` is what the rule was given, `level` the confidence of the interval where that is another one.
    """
    wanted = stop.wanted_count(confidence)
    if wanted is None or whole.smooth is not None or not stop.is_met("simulated", whole, confidence):
        return None
    flip = stop.failures is None and (before.failed >= wanted or whole.failed > whole.trials - whole.failed)
    counts = [(tally.trials - tally.failed if flip else tally.failed, tally.trials) for tally in (before, whole)]
    (seen, earlier), (total, trials) = counts
    if seen >= wanted:  # both outcomes were frequent enough before; only possible when the blocks are tiny
        return None
    last = (total - seen, trials - earlier)
    probability = inverse_estimate(wanted, (seen, earlier), last)
    low, high = inverse_interval(wanted, (seen, earlier), last, confidence if level is None else level)
    low, high = min(low, probability), max(high, probability)
    return (1.0 - probability, 1.0 - high, 1.0 - low) if flip else (probability, low, high)
