"""What blocks of trials add up to."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from pairsim.simulation.versus import NO_VERSUS, VersusTable
from pairsim.stats import Moments, merged


@dataclasses.dataclass(frozen=True)
class Tally:
    """Results of one decoder on one oracle over some trials.

    Counted failures are whole numbers, so that any way of cutting the trials into blocks gives the same bits. Chances
    (`smooth`, else None) are merged as moments, whose last bits depend on the cut: blocks are merged in block order.
    """

    trials: int = 0
    failed: int = 0
    smooth: Moments | None = None
    agreements: float = 0.0  # trials in which the reference named the same class
    queries: float = 0.0
    distinct: float = 0.0
    rounds: float = 0.0

    @property
    def failures(self) -> Moments:
        """The moments of failing, of counts as of chances."""
        return moments_of_counts(self.failed, self.trials) if self.smooth is None else self.smooth

    def plus(self, other: Tally) -> Tally:
        """Return the tally of both."""
        return Tally(
            self.trials + other.trials,
            self.failed + other.failed,
            merged(self.smooth, other.smooth),
            self.agreements + other.agreements,
            self.queries + other.queries,
            self.distinct + other.distinct,
            self.rounds + other.rounds,
        )


@dataclasses.dataclass(frozen=True)
class Played:
    """What some trials on one oracle gave: a tally a decoder, and, where wanted, every two decoders side by side."""

    tallies: tuple[Tally, ...]
    versus: VersusTable

    def plus(self, other: Played) -> Played:
        """Return both together; the other's trials come after these."""
        return Played(
            tuple(old.plus(new) for old, new in zip(self.tallies, other.tallies, strict=True)),
            self.versus.plus(other.versus) if self.versus else NO_VERSUS,
        )


def moments_of_counts(failures: int, trials: int) -> Moments:
    """Return the moments of 0/1 outcomes."""
    mean = failures / max(trials, 1)
    return Moments(trials, mean, trials * mean * (1.0 - mean), trials * mean * (1.0 - mean) * (1.0 - 2.0 * mean))


def numbers_of_tally(tally: Tally) -> tuple[float, ...]:
    """Return the tally as plain numbers, for a file; the agreements belong to a pair of decoders and are left out."""
    smooth = tally.smooth or Moments(0, math.nan, math.nan, math.nan)
    return (tally.failed, smooth.mean, smooth.second, smooth.third, tally.queries, tally.distinct, tally.rounds)


def tally_of_numbers(trials: int, numbers: Sequence[float], agreements: float) -> Tally:
    """Return the tally that `numbers_of_tally` made plain."""
    failed, mean, second, third, queries, distinct, rounds = numbers
    smooth = None if math.isnan(mean) else Moments(trials, mean, second, third)
    return Tally(trials, int(failed), smooth, agreements, queries, distinct, rounds)
