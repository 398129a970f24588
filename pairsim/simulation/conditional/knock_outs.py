"""adag and ddag on tournaments that are scored anyway: one random order for both and for every p."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from pairsim.decoders import Adag, Ddag
from pairsim.kernels.eliminations import adag_trials, ddag_trials, fold_trials
from pairsim.oracles import Oracle
from pairsim.simulation.conditional.base import CONDITIONAL, NOTHING, ConditionalMethod

if TYPE_CHECKING:
    from pairsim.simulation.slab import SlabTrials, WrongGames

MOST_DEALT_CLASSES = 2048  # a block's orders then take 8 MB


class _SharedOrders(ConditionalMethod):
    """Has no conditional probability; knows the winners where the wrong classes' games are played on their own."""

    gives: ClassVar[str] = NOTHING

    def names(self, trials: SlabTrials, decoder: Adag | Ddag, named: NDArray[np.int64]) -> bool:
        if not (shares_orders(trials.oracle, decoder) and trials.has_wrong_games):
            return False
        self.decide(trials, trials.wrong_games, named)
        return True

    def decide(self, trials: SlabTrials, wrong: WrongGames, named: NDArray[np.int64]) -> None:
        """Write the winners, given the orders of the trials and class 0's answers."""
        raise NotImplementedError


@CONDITIONAL.register(Adag)
class AdagOnSharedOrders(_SharedOrders):
    """Whom the true class's branch meets in each round is the same for every p."""

    def decide(self, trials: SlabTrials, wrong: WrongGames, named: NDArray[np.int64]) -> None:
        rivals = wrong.kept("adag", lambda: cross_validation_request(wrong))
        adag_trials(trials.stream, trials.first, rivals, trials.answers, named)


@CONDITIONAL.register(Ddag)
class DdagOnSharedOrders(_SharedOrders):
    """A word of trials side by side."""

    def decide(self, trials: SlabTrials, wrong: WrongGames, named: NDArray[np.int64]) -> None:
        ddag_trials(trials.n, trials.stream, trials.first, wrong.orders, trials.answers, named)


def shares_orders(oracle: Oracle, decoder: Adag | Ddag) -> bool:
    """Say whether one random order of the classes serves a decoder on all oracles with this n."""
    return oracle.uniform and decoder.order == "random" and oracle.n <= MOST_DEALT_CLASSES


def cross_validation_request(wrong: WrongGames) -> NDArray[np.int32]:
    """Return whom the branch of class 0 meets in each round of a folded knock-out."""
    rivals = np.empty((wrong.count, (wrong.n - 1).bit_length()), np.int32)
    fold_trials(wrong.n, wrong.stream, wrong.first, wrong.orders, rivals)
    return rivals
