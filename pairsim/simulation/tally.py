"""What blocks of trials add up to."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsim.kernels.differences import difference_moments
from pairsim.stats import Moments


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
class Versus:
    """Two decoders on the same trials: where they differ.

    Counted: trials in which only the first or only the second failed. Where either has chances, the moments of
    first's failure - second's failure, a number in [-1, 1]: exchanging the two changes signs and no digit, so that it
    does not matter in which order decoders were given.
    """

    trials: int = 0
    first_only: int = 0
    second_only: int = 0
    smooth: Moments | None = None

    def plus(self, other: Versus) -> Versus:
        """Return both together."""
        return Versus(
            self.trials + other.trials,
            self.first_only + other.first_only,
            self.second_only + other.second_only,
            merged(self.smooth, other.smooth),
        )


@dataclasses.dataclass(frozen=True)
class Played:
    """What some trials on one oracle gave: a tally a decoder, and, where wanted, every two decoders side by side."""

    tallies: tuple[Tally, ...]
    versus: dict[tuple[int, int], Versus]

    def plus(self, other: Played) -> Played:
        """Return both together; the other's trials come after these."""
        return Played(
            tuple(old.plus(new) for old, new in zip(self.tallies, other.tallies, strict=True)),
            {pair: old.plus(other.versus[pair]) for pair, old in self.versus.items()},
        )


def merged(first: Moments | None, second: Moments | None) -> Moments | None:
    """Return the moments of both samples, either of which may be missing."""
    if first is None or second is None:
        return first or second
    return first.plus(second)


def moments_of(values: NDArray[np.float64]) -> Moments:
    """Return the moments of a block of numbers."""
    mean = float(values.mean())
    gaps: NDArray[Any] = values - mean
    squares = gaps * gaps
    return Moments(len(values), mean, float(squares.sum()), float((squares * gaps).sum()))


def moments_of_counts(failures: int, trials: int) -> Moments:
    """Return the moments of 0/1 outcomes."""
    mean = failures / max(trials, 1)
    return Moments(trials, mean, trials * mean * (1.0 - mean), trials * mean * (1.0 - mean) * (1.0 - 2.0 * mean))


def side_by_side(failures: Sequence[NDArray[Any]]) -> dict[tuple[int, int], Versus]:
    """Return every two decoders side by side: booleans for decoders that were counted, chances for the others."""
    found: dict[tuple[int, int], Versus] = {}
    mixed = []
    for a, b in itertools.combinations(range(len(failures)), 2):
        first, second = failures[a], failures[b]
        if first.dtype == second.dtype == np.bool_:
            both = int(np.count_nonzero(first & second))
            only = int(np.count_nonzero(first)) - both, int(np.count_nonzero(second)) - both
            found[a, b] = Versus(len(first), *only)
        else:
            mixed.append((a, b))
    if mixed:
        table = np.array(failures, np.float64)
        firsts, seconds = np.array(mixed).T.copy()
        moments = np.empty((len(mixed), 3))
        difference_moments(table, firsts, seconds, moments)
        count = table.shape[1]
        for pair, (mean, second_moment, third) in zip(mixed, moments.tolist(), strict=True):
            found[pair] = Versus(count, smooth=Moments(count, mean, second_moment, third))
    return found


def numbers_of_tally(tally: Tally) -> tuple[float, ...]:
    """Return the tally as plain numbers, for a file; the agreements belong to a pair of decoders and are left out."""
    smooth = tally.smooth or Moments(0, math.nan, math.nan, math.nan)
    return (tally.failed, smooth.mean, smooth.second, smooth.third, tally.queries, tally.distinct, tally.rounds)


def tally_of_numbers(trials: int, numbers: Sequence[float], agreements: float) -> Tally:
    """Return the tally that `numbers_of_tally` made plain."""
    failed, mean, second, third, queries, distinct, rounds = numbers
    smooth = None if math.isnan(mean) else Moments(trials, mean, second, third)
    return Tally(trials, int(failed), smooth, agreements, queries, distinct, rounds)


def numbers_of_versus(versus: Versus) -> tuple[float, ...]:
    """Return two decoders side by side as plain numbers, for a file."""
    smooth = versus.smooth or Moments(0, math.nan, math.nan, math.nan)
    return (versus.first_only, versus.second_only, smooth.mean, smooth.second, smooth.third)


def versus_of_numbers(trials: int, numbers: Sequence[float]) -> Versus:
    """Return what `numbers_of_versus` made plain."""
    first_only, second_only, mean, second, third = numbers
    smooth = None if math.isnan(mean) else Moments(trials, mean, second, third)
    return Versus(trials, int(first_only), int(second_only), smooth)


def swapped(versus: Versus) -> Versus:
    """Return the same two decoders with their places exchanged."""
    smooth = versus.smooth
    turned = None if smooth is None else Moments(smooth.count, -smooth.mean, smooth.second, -smooth.third)
    return Versus(versus.trials, versus.second_only, versus.first_only, turned)
