"""Two decoders on the same trials: where they differ."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pairsim.stats import Moments, merged

NOT_MEASURED = (math.nan, math.nan, math.nan)


@dataclasses.dataclass(frozen=True)
class PairedTally:
    """Two decoders on the same trials: where they differ.

    Counted: trials in which only the first or only the second failed. Where either has probabilities, the moments of
    first's failure - second's failure, a number in [-1, 1]: exchanging the two changes signs and no digit, so that it
    does not matter in which order decoders were given.
    """

    trials: int = 0
    first_only: int = 0
    second_only: int = 0
    smooth: Moments | None = None

    def plus(self, other: PairedTally) -> PairedTally:
        """Return both together."""
        return PairedTally(
            self.trials + other.trials,
            self.first_only + other.first_only,
            self.second_only + other.second_only,
            merged(self.smooth, other.smooth),
        )


class PairedTallies(Mapping[tuple[int, int], PairedTally]):
    """Every two of some decoders side by side, by their places (a, b) with a < b; empty where none was looked at."""

    def __init__(self, decoders: int, trials: int, numbers: NDArray[np.float64]) -> None:
        self.decoders, self.trials, self.numbers = decoders if len(numbers) else 0, trials, numbers

    def __getitem__(self, pair: tuple[int, int]) -> PairedTally:
        a, b = pair
        if not 0 <= a < b < self.decoders:
            raise KeyError(pair)
        row = a * (2 * self.decoders - a - 1) // 2 + b - a - 1
        return versus_of_numbers(self.trials, self.numbers[row].tolist())

    def plain(self) -> Iterator[tuple[int, int, tuple[float, ...]]]:
        """Yield the places of every two decoders with what is known of them as plain numbers, for a file.

        What is not known is one and the same nan: compiled code has several.
        """
        for (a, b), numbers in zip(self, self.numbers.tolist(), strict=True):
            yield a, b, tuple(numbers) if numbers[2] == numbers[2] else (numbers[0], numbers[1], *NOT_MEASURED)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return ((a, b) for a in range(self.decoders) for b in range(a + 1, self.decoders))

    def __len__(self) -> int:
        return len(self.numbers)


def turned(numbers: tuple[float, ...]) -> tuple[float, ...]:
    """Return the plain numbers of the same two decoders with their places exchanged."""
    first_only, second_only, mean, second, third = numbers
    if mean != mean:
        return second_only, first_only, mean, second, third
    return second_only, first_only, 0.0 - mean, second, 0.0 - third  # no difference is 0.0 from either side, not -0.0


def versus_of_numbers(trials: int, numbers: Sequence[float]) -> PairedTally:
    """Return what `PairedTallies.plain` made plain."""
    first_only, second_only, mean, second, third = numbers
    smooth = None if math.isnan(mean) else Moments(trials, mean, second, third)
    return PairedTally(trials, int(first_only), int(second_only), smooth)


def swapped(versus: PairedTally) -> PairedTally:
    """Return the same two decoders with their places exchanged."""
    smooth = versus.smooth
    back = None if smooth is None else Moments(smooth.count, 0.0 - smooth.mean, smooth.second, 0.0 - smooth.third)
    return PairedTally(versus.trials, versus.second_only, versus.first_only, back)
