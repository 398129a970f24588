"""What a bound returns, and the slack that keeps rounding from breaking it.

Every number here is a *failure* probability, so that 1e-30 is a number and not "1 minus something that vanished".

Rounding. All sums in this package add terms of one sign that were reached by products and quotients; the longest
chain (a binomial distribution, term by term from its mode, up to ten million classes) is off by less than 1e-10 of its
value, and a bound multiplies at most a few such numbers. `RELATIVE_SLACK` is added to every upper bound and taken
from every lower one, and where terms of both signs meet it is charged on the sum of their sizes. What underflows is
smaller than `SMALLEST`, so an upper bound is never less than that unless the failure is exactly 0.
"""

from __future__ import annotations

import dataclasses

from pairsim.bounds.binomial import RELATIVE_SLACK

SMALLEST = 1e-290
MOST_CLASSES = 10_000_000  # up to here the chain above stays inside the slack
MOST_SAMPLES = 100_000


@dataclasses.dataclass(frozen=True)
class Bound:
    """A certified interval: failure_low <= failure probability <= failure_high. A proof, not an estimate.

    Attributes
    ----------
    decoder, oracle : str
        What was bounded: the decoder's spec and the oracle's label.
    n : int
        Number of classes.
    failure_low, failure_high : float
        The two sides, with `RELATIVE_SLACK` already taken from one and added to the other.
    how : str
        The argument, in one line.
    method : str
        Always "certified".

    Examples
    --------
    >>> from pairsim import MaxWin, Uniform, bound
    >>> found = bound(Uniform(512, 0.9), MaxWin())
    >>> 3.3092e-49 < found.failure_low < found.failure_high < 3.3093e-49
    True
    """

    decoder: str
    oracle: str
    n: int
    failure_low: float
    failure_high: float
    how: str
    method: str = "certified"

    @property
    def success_low(self) -> float:
        """The least success probability: 1 - failure_high, rounded as floats are."""
        return 1.0 - self.failure_high

    @property
    def success_high(self) -> float:
        """The greatest success probability: 1 - failure_low, rounded as floats are."""
        return 1.0 - self.failure_low

    @property
    def width(self) -> float:
        """The distance between the two sides."""
        return self.failure_high - self.failure_low


@dataclasses.dataclass(frozen=True)
class SampleSize:
    """A sample size for poll and the bound that certifies it.

    Attributes
    ----------
    l : int
        Opponents per class.
    failure : float
        What was asked for.
    failure_low, failure_high : float
        The certified interval at this `l`; failure_high <= failure.
    ties : str
        The tie rule it holds for.
    method : str
        Always "certified".
    """

    l: int
    failure: float
    failure_low: float
    failure_high: float
    ties: str
    method: str = "certified"


def widen(low: float, high: float) -> tuple[float, float]:
    """Return the interval with the slack applied, inside [0, 1].

    Examples
    --------
    >>> low, high = widen(1e-30, 1e-30)
    >>> low < 1e-30 < high
    True
    """
    wide_low = max(0.0, low * (1.0 - RELATIVE_SLACK))
    wide_high = high * (1.0 + RELATIVE_SLACK) + SMALLEST
    return float(min(1.0, wide_low)), float(min(1.0, wide_high))
