"""What a plan lists: decoders with their cost and their success."""

from __future__ import annotations

import dataclasses

from pairsim.decoders import Decoder
from pairsim.oracles import Oracle


@dataclasses.dataclass(frozen=True)
class Option:
    """One decoder with its cost and its success probability.

    The answer to a pair is persistent, so a pair that is asked twice need be answered only once: the cost is that of
    different pairs, and `queries` counts repeats, too.

    Attributes
    ----------
    decoder : Decoder
    distinct, distinct_95, most : float
        Different pairs per decision: the mean, by formula where there is one; the 95% quantile; and the most, which
        no decision exceeds.
    mean_floor, budget_floor : float
        Proven floors at this success: no decoder asks fewer queries on average, and none whose most queries are fewer.
        nan where no floor is known, inf where all pairs are proven not to be enough.
    queries : float
        Mean queries per decision, repeats included.
    rounds, at_once : float
        Mean number of rounds, and mean number of queries of a round, which do not wait for each other.
    success, low, high : float
        The best estimate of the success probability, and its interval: equal when `method` is "exact", proven when it
        is "certified", a confidence interval when it is "conditional" or "simulated".
    method : {"exact", "certified", "conditional", "simulated"}
    """

    decoder: Decoder
    distinct: float
    mean_floor: float
    distinct_95: float
    most: float
    budget_floor: float
    queries: float
    rounds: float
    at_once: float
    success: float
    low: float
    high: float
    method: str


@dataclasses.dataclass(frozen=True)
class Plan:
    """The decoders that reach the target, cheapest first, and all that were evaluated.

    Attributes
    ----------
    oracle : Oracle
        What was planned for.
    target : float or None
        The target, None where the best for given limits was asked for.
    options : tuple of Option
        With a target, by mean different pairs; without one, by success, the best first. Their figures come from trials
        that were not used to choose them.
    looked_at : tuple of Option
        All that was evaluated, by mean different pairs, with the figures that the choice was made by: for a plot. Their
        `distinct_95` and floors are nan.
    """

    oracle: Oracle
    target: float | None
    options: tuple[Option, ...]
    looked_at: tuple[Option, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know of listed decoders that assume what the oracle is not."""
        if self.oracle.uniform:
            return ()
        names = dict.fromkeys(each.decoder.name for each in self.options if each.decoder.assumes == "uniform-p")
        return tuple(
            f"{name} assumes uniform-p, which these answers are not: its success is measured here, "
            "but its own probability is wrong"
            for name in names
        )
