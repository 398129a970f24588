"""top-k given the scores: its poll is one binomial draw per class, and its final is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from pairsim.decoders import TopK
from pairsim.decoders.sample_size import sample_size
from pairsim.kernels.conditional_top_k import top_k_trials
from pairsim.oracles import Oracle
from pairsim.simulation.conditional.base import CONDITIONAL, WINNERS, ConditionalMethod
from pairsim.simulation.conditional.tables import check_table, has_table, sampled_distribution

if TYPE_CHECKING:
    from pairsim.simulation.outcomes import Outcomes
    from pairsim.simulation.slab import Trials


@CONDITIONAL.register(TopK)
class TopKGivenScores(ConditionalMethod):
    """Winners are drawn, and counted: no more exact than asking, but far fewer draws."""

    gives: ClassVar[str] = WINNERS

    def applies(self, oracle: Oracle, decoder: TopK) -> bool:
        return super().applies(oracle, decoder) and has_table(oracle.n, sample_size(decoder.l, oracle.n))

    def check_memory(self, decoder: TopK, n: int) -> None:
        check_table(decoder.spec, decoder.l, n, sample_size(decoder.l, n))

    def write(self, trials: Trials, decoder: TopK, out: Outcomes) -> None:
        kernel, cost = decoder.kernel(trials.n), np.zeros(3, np.int64)
        distribution = sampled_distribution(trials.n, kernel.l)
        oracle = trials.oracle.kernel()
        top_k_trials(oracle, kernel, *distribution, trials.scores, trials.stream, trials.first, out.named, cost)
        out.cost[0], out.cost[2] = cost[0], cost[2]  # but for distinct pairs
