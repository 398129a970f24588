"""halving given the scores: each round is one binomial draw per class that is left."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pairsim.decoders import Halving
from pairsim.kernels.conditional_halving import binomial_tables, halving_trials
from pairsim.memory import check_memory
from pairsim.oracles import Oracle
from pairsim.simulation.conditional.base import CONDITIONAL, WINNERS, ConditionalMethod
from pairsim.simulation.conditional.tables import GUIDE_PARTS, MOST_TABLE

if TYPE_CHECKING:
    from pairsim.simulation.outcomes import Outcomes
    from pairsim.simulation.slab import Trials


@CONDITIONAL.register(Halving)
class HalvingGivenScores(ConditionalMethod):
    """Winners are drawn, and counted: no more exact than asking, but far fewer draws."""

    gives: ClassVar[str] = WINNERS
    distinct_trials: ClassVar[int] = 256  # a short one varies by a tenth

    def applies(self, oracle: Oracle, decoder: Halving) -> bool:
        return super().applies(oracle, decoder) and _table_size(decoder, oracle.n) <= MOST_TABLE

    def check_memory(self, decoder: Halving, n: int) -> None:
        check_memory("simulate", "l", decoder.l, 9 * _table_size(decoder, n), f"the table of {decoder.spec}")

    def write(self, trials: Trials, decoder: Halving, out: Outcomes) -> None:
        kernel, cost = decoder.kernel(trials.n), np.zeros(3, np.int64)
        tables = _tables(trials.n, tuple(kernel.asks.tolist()))
        halving_trials(kernel.asks, kernel.ties, *tables, trials.scores, trials.stream, trials.first, out.named, cost)
        out.cost[0], out.cost[2] = cost[0], cost[2]  # but for distinct pairs


def _table_size(decoder: Halving, n: int) -> int:
    """Return how many numbers the tables of all sampled rounds have, guides included."""
    asks = [int(each) for each in decoder.kernel(n).asks if each < n - 1]
    return n * sum(each + 1 + GUIDE_PARTS // 2 for each in asks)


@functools.lru_cache(maxsize=4)
def _tables(n: int, asks: tuple[int, ...]) -> tuple[NDArray[Any], ...]:
    tables: tuple[NDArray[Any], ...] = binomial_tables(n, np.array(asks, np.int64), GUIDE_PARTS)
    return tables
