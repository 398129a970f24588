"""The limits of a plan, and how a decoder is made to keep them."""

from __future__ import annotations

import dataclasses

from pairsim.decoders import Decoder
from pairsim.planning.screen import Screen


@dataclasses.dataclass(frozen=True)
class Limits:
    """The most different pairs and rounds of any decision, and the most different pairs on average."""

    queries: int | None = None
    rounds: int | None = None
    mean_queries: float | None = None

    def __bool__(self) -> bool:
        return (self.queries, self.rounds, self.mean_queries) != (None, None, None)

    def kept_by(self, decoder: Decoder, screen: Screen, budgets: bool = True) -> Decoder | None:
        """Return the decoder, made to keep the limits where it has a budget; None where it cannot.

        Without `budgets`, its mean has to be within the limit without one.
        """
        n = screen.oracle.n
        queries = self.queries if self.queries is not None and self.queries < n * (n - 1) // 2 else None
        limited = decoder.within(n, queries, self.rounds)
        if limited is None or self.mean_queries is None or limited.cost(n).queries <= self.mean_queries:
            return limited
        if screen.mean_cost(limited)[1] <= self.mean_queries:
            return limited
        return limited.within(n, int(self.mean_queries), self.rounds) if budgets else None

    def described(self) -> str:
        """Return the limits in words."""
        parts = []
        if self.queries is not None:
            parts.append(f"at most {self.queries:,} different pairs")
        if self.mean_queries is not None:
            parts.append(
                f"at most {self.mean_queries:,g} on average"
                if parts
                else f"at most {self.mean_queries:,g} different pairs on average"
            )
        if self.rounds is not None:
            parts.append(f"at most {self.rounds:,} rounds")
        return ", ".join(parts)
