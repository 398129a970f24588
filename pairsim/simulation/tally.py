"""What blocks of trials add up to."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsim.stats import Moments


@dataclasses.dataclass(frozen=True)
class Tally:
    """Results of one decoder on one oracle over some trials; tallies of blocks are merged in block order."""

    failures: Moments = dataclasses.field(default_factory=Moments)
    agreements: float = 0.0
    queries: float = 0.0
    distinct: float = 0.0
    rounds: float = 0.0

    def plus(self, other: Tally) -> Tally:
        """Return the tally of both."""
        return Tally(
            self.failures.plus(other.failures),
            self.agreements + other.agreements,
            self.queries + other.queries,
            self.distinct + other.distinct,
            self.rounds + other.rounds,
        )


def moments_of(values: NDArray[np.float64]) -> Moments:
    """Return the moments of a block of numbers."""
    mean = float(values.mean())
    gaps: NDArray[Any] = values - mean
    return Moments(len(values), mean, float((gaps**2).sum()), float((gaps**3).sum()))


def moments_of_counts(failures: int, trials: int) -> Moments:
    """Return the moments of 0/1 outcomes."""
    mean = failures / trials
    return Moments(trials, mean, trials * mean * (1.0 - mean), trials * mean * (1.0 - mean) * (1.0 - 2.0 * mean))
