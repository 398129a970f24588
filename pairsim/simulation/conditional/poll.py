"""poll given the scores: sampled scores are independent binomials, so the probability of a class is a finite sum."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pairsim.decoders import Poll
from pairsim.decoders.sample_size import sample_size
from pairsim.kernels.conditional_poll import poll_trials
from pairsim.kernels.conditional_poll_random_ties import fair_poll_trials
from pairsim.kernels.ties import RANDOM
from pairsim.oracles import Oracle
from pairsim.simulation.conditional.base import CONDITIONAL, ConditionalMethod
from pairsim.simulation.conditional.tables import check_table, has_table, poll_tables

if TYPE_CHECKING:
    from pairsim.simulation.outcomes import Outcomes
    from pairsim.simulation.slab import Trials


@CONDITIONAL.register(Poll)
class PollGivenScores(ConditionalMethod):
    """A fair draw among the tied is an integral of a polynomial, for which a quadrature is exact."""

    agrees: ClassVar[bool] = True

    def applies(self, oracle: Oracle, decoder: Poll) -> bool:
        return super().applies(oracle, decoder) and has_table(oracle.n, sample_size(decoder.l, oracle.n))

    def check_memory(self, decoder: Poll, n: int) -> None:
        check_table(decoder.spec, decoder.l, n, sample_size(decoder.l, n))

    def write(self, trials: Trials, decoder: Poll, out: Outcomes) -> None:
        kernel = decoder.kernel(trials.n)
        tables = poll_tables(trials.n, kernel.l)
        seen = trials.scores, trials.truth, trials.reference
        if kernel.ties == RANDOM:
            fair_poll_trials(tables, trials.rivals, *seen, out.failed, out.agreed)
        else:
            poll_trials(tables, kernel.ties, *seen, out.failed, out.agreed)
