"""What the floors share: the binary divergence, and a common form."""

from __future__ import annotations

import abc
import math


class Floor(abc.ABC):
    """A proven bound on the success of every decoder with at most t queries: concave in t, and 1/n without any."""

    n: int

    @abc.abstractmethod
    def least(self, success: float) -> float:
        """Return a number of queries, in general not an integer, that this success needs; inf where no number will do.

        Convex in `success`, as the inverse of a concave function; what rounding may have added is taken off.
        """

    @abc.abstractmethod
    def most(self, queries: int) -> float:
        """Return a success that no decoder exceeds with so many queries."""

    @property
    def pairs(self) -> int:
        """The number of different pairs: the answer to a pair is persistent, so more queries say no more."""
        return self.n * (self.n - 1) // 2


def divergence(guess: float, success: float) -> float:
    """Return kl(guess, success), the divergence of Bernoulli(success) from Bernoulli(guess).

    Examples
    --------
    >>> divergence(0.25, 0.25), divergence(0.25, 1.0)
    (0.0, inf)
    """
    if success in (0.0, 1.0):
        return 0.0 if guess == success else math.inf
    inside = guess * math.log(guess / success) if guess > 0.0 else 0.0
    return max(0.0, inside + (1.0 - guess) * math.log((1.0 - guess) / (1.0 - success)))


def success_at(guess: float, spent: float) -> float:
    """Return the largest success whose divergence from `guess` is at most `spent`, and never less.

    Examples
    --------
    >>> success_at(0.25, 0.0), success_at(0.25, math.inf)
    (0.25, 1.0)
    """
    if spent <= 0.0:
        return guess
    low, high = guess, 1.0
    while True:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            return high
        low, high = (middle, high) if divergence(guess, middle) <= spent else (low, middle)
