"""What a conditional method is: what it is given, when it applies, and the function that writes probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pairsim.oracles import Oracle
from pairsim.registries import ByType

if TYPE_CHECKING:
    from pairsim.simulation.outcomes import Outcomes
    from pairsim.simulation.slab import SlabTrials, Trials

MOST_SCORED_CLASSES = 65_535  # scores are kept as 16-bit numbers
DIGITS_VERSION = 2  # of probabilities, to the last bit: raise it whenever sums are taken in another order

SCORES, WRONG_GAMES, QUERIES = "scores", "wrong games", "queries"
FAILURES, WINNERS, NOTHING = "failures", "winners", "nothing"


class ConditionalMethod:
    """Computes part of a decoder's probability exactly in each trial; registered for one type of decoder.

    Attributes
    ----------
    given : {"scores", "wrong games", "queries"}
        What the probability is conditional on: the scores of the whole tournament; the games among the wrong classes,
        which are then played once for all oracles of a group; or what the decoder asked, of which the method gets the
        winners in `out.named`.
    gives : {"failures", "winners", "nothing"}
        What `write` writes: probabilities to fail, or winners drawn from their exact distribution. With "nothing" there
        is no conditional probability, only `names`.
    agrees : bool
        Whether `write` also writes the probability to predict what the reference predicts.
    counts_scores : bool
        Whether scoring whole tournaments is the fastest way to simulate the decoder, too: then `names` must work
        wherever oracles are played in slabs.
    digits : int
        Version of the last digits, part of a stored task's name: raise it whenever sums are taken in another order.
    """

    given: ClassVar[str] = SCORES
    gives: ClassVar[str] = FAILURES
    agrees: ClassVar[bool] = False
    counts_scores: ClassVar[bool] = False
    digits: ClassVar[int] = DIGITS_VERSION
    distinct_trials: ClassVar[int] = 16  # asked for the mean number of different pairs, where there is no formula

    def applies(self, oracle: Oracle, decoder: Any) -> bool:
        """Say whether the method can be used on this oracle; by default, wherever it gets what it is given."""
        if self.gives == NOTHING:
            return False
        return self.given == QUERIES or (oracle.in_slabs and oracle.n <= MOST_SCORED_CLASSES)

    def check_memory(self, decoder: Any, n: int) -> None:
        """Reject n classes where the tables of the method would take more memory than there is."""

    def names(self, trials: SlabTrials, decoder: Any, named: NDArray[np.int64]) -> bool:
        """Write whom the decoder predicts in each trial, exactly as if it were asked; return False where it must be.

        Called before any `write`, in trials that are scored anyway, of a decoder whose cost is known beforehand.
        """
        return False

    def write(self, trials: Trials, decoder: Any, out: Outcomes) -> None:
        """Write to `out.failed` the probability to fail in each trial, and, where it `agrees`, to `out.agreed`.

        With gives = "winners", write `out.named` instead. `out.cost`, [queries, distinct, rounds] of all trials, holds
        what follows from `Decoder.cost` and `Decoder.expected_distinct`; write what is known better.
        """
        raise NotImplementedError


CONDITIONAL: ByType[ConditionalMethod] = ByType()
"""By decoder: its conditional method."""
