"""What blocks of trials add up to."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pairsim.kernels.differences import merge_rows
from pairsim.simulation.paired import PairedTallies
from pairsim.stats import Moments, merged


@dataclasses.dataclass(frozen=True)
class Tally:
    """Results of one decoder on one oracle over some trials.

    Counted failures are integers, so that any way of cutting the trials into blocks gives the same bits. Probabilities
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
        """The moments of failing, of counts as of probabilities."""
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


class BlockResult:
    """What some trials on one oracle gave: a tally per decoder, and, where wanted, every two decoders side by side.

    The numbers stay in arrays while pieces of a block are put together, which compiled code does.

    Parameters
    ----------
    trials : int
        How many.
    numbers : array, (decoders + pairs, 5)
        What `add_up_outcomes` writes of each decoder, then what `compare_rows` writes of every two.
    costs : array, (decoders, 3)
        Queries, distinct and rounds of all trials.
    """

    def __init__(self, trials: int, numbers: NDArray[np.float64], costs: NDArray[np.float64]) -> None:
        self.trials, self.numbers, self.costs = trials, numbers, costs

    def plus(self, other: BlockResult) -> BlockResult:
        """Return both together; the other's trials come after these."""
        numbers = np.empty_like(self.numbers)
        merge_rows(self.numbers, float(self.trials), other.numbers, float(other.trials), numbers)
        return BlockResult(self.trials + other.trials, numbers, self.costs + other.costs)

    @functools.cached_property
    def tallies(self) -> tuple[Tally, ...]:
        """The tally of each decoder."""
        return tuple(
            self._tally(*numbers, *costs)
            for numbers, costs in zip(self.numbers[: len(self.costs)].tolist(), self.costs.tolist(), strict=True)
        )

    def _tally(
        self, failed: float, agreements: float, mean: float, second: float, third: float, *costs: float
    ) -> Tally:
        smooth = None if math.isnan(mean) else Moments(self.trials, mean, second, third)
        known = math.nan if math.isnan(agreements) else agreements  # one nan for all, so that tallies compare
        return Tally(self.trials, int(failed), smooth, known, *costs)

    @property
    def versus(self) -> PairedTallies:
        """Every two decoders side by side; nothing where that was not wanted."""
        return PairedTallies(len(self.costs), self.trials, self.numbers[len(self.costs) :])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BlockResult) and (self.tallies, self.versus) == (other.tallies, other.versus)

    __hash__ = None  # type: ignore[assignment]


def moments_of_counts(failures: int, trials: int) -> Moments:
    """Return the moments of 0/1 outcomes."""
    mean = failures / max(trials, 1)
    return Moments(trials, mean, trials * mean * (1.0 - mean), trials * mean * (1.0 - mean) * (1.0 - 2.0 * mean))


def numbers_of_tally(tally: Tally) -> tuple[float, ...]:
    """Return the tally as plain numbers, for a file; the agreements belong to a pair of decoders and are left out."""
    smooth = tally.smooth or Moments(0, math.nan, math.nan, math.nan)
    return (float(tally.failed), smooth.mean, smooth.second, smooth.third, tally.queries, tally.distinct, tally.rounds)


def tally_of_numbers(trials: int, numbers: Sequence[float], agreements: float) -> Tally:
    """Return the tally that `numbers_of_tally` made plain."""
    failed, mean, second, third, queries, distinct, rounds = numbers
    smooth = None if math.isnan(mean) else Moments(trials, mean, second, third)
    return Tally(trials, int(failed), smooth, agreements, queries, distinct, rounds)
