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
    """Return the exact (Clopper-Pearson) interval of a success probability, from scipy.

    Examples
    --------
    >>> low, high = binomial_interval(90, 100)
    >>> round(low, 3), round(high, 3)
    (0.824, 0.951)
    """
    from scipy.stats import binomtest  # imported here: it takes longer than everything else together

    interval = binomtest(successes, trials).proportion_ci(check_confidence("binomial_interval", confidence))
    return float(interval.low), float(interval.high)


@dataclasses.dataclass(frozen=True)
class Estimate:
    """What a simulation says of one decoder.

    Attributes
    ----------
    decoder : str
        The decoder's spec.
    method : str
        How the figure was reached: "simulated".
    trials, success, low, high
        Number of trials, success probability and its interval at `confidence`.
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
