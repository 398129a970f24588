"""posterior: its own probability to be right, where what it assumes is so."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pairsim.decoders import Posterior
from pairsim.oracles import Oracle
from pairsim.simulation.conditional.base import CONDITIONAL, QUERIES, ConditionalMethod

if TYPE_CHECKING:
    from pairsim.simulation.outcomes import Outcomes
    from pairsim.simulation.slab import Trials


@CONDITIONAL.register(Posterior)
class PosteriorGivenAnswers(ConditionalMethod):
    """Given all answers, the predicted class is the true one with its posterior probability.

    The decoder lists the classes in a random order, so that each place of the list holds the true class with
    probability 1 / n before anything is asked, and which queries are asked follows from the answers. So under uniform-p
    with the assumed p, the mean of the posterior probability at the end has no bias, whatever the decoder asks and
    whenever it stops; its variance is at most that of counting, and mostly far less.
    """

    given: ClassVar[str] = QUERIES

    def applies(self, oracle: Oracle, decoder: Posterior) -> bool:
        return oracle.uniform and decoder.p is not None and oracle.p == decoder.p

    def write(self, trials: Trials, decoder: Posterior, out: Outcomes) -> None:
        out.failed[:] = 1.0 - out.sure
