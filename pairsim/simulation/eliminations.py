"""ADAG and DDAG on tournaments that are scored anyway: one random order for both and for every p."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from pairsim.decoders import Adag, Ddag, Decoder
from pairsim.kernels.eliminations import adag_trials, ddag_trials, deal_trials, fold_trials
from pairsim.oracles import Oracle, Uniform

MOST_DEALT_CLASSES = 2048  # a block's orders then take 8 MB


def shares_orders(oracle: Oracle, decoder: Decoder) -> bool:
    """Say whether the decoder can be played here, where the games of all classes and of the wrong ones are scored."""
    return (
        isinstance(oracle, Uniform)
        and type(decoder) in (Adag, Ddag)  # a subclass may play otherwise
        and getattr(decoder, "order", None) == "random"
        and oracle.n <= MOST_DEALT_CLASSES
    )


@dataclasses.dataclass
class Dealt:
    """The random orders of a block of trials, and what can be known from them without class 0's answers."""

    n: int
    stream: np.uint64
    first: int
    orders: NDArray[np.int32]
    rivals: NDArray[np.int32] | None = None

    def write_winners(self, decoder: Decoder, answers: NDArray[np.uint64], winners: NDArray[np.int64]) -> None:
        """Write the winners, given class 0's answers."""
        if isinstance(decoder, Ddag):
            ddag_trials(self.n, self.stream, self.first, self.orders, answers, winners)
            return
        if self.rivals is None:
            self.rivals = np.empty((len(self.orders), (self.n - 1).bit_length()), np.int32)
            fold_trials(self.n, self.stream, self.first, self.orders, self.rivals)
        adag_trials(self.stream, self.first, self.rivals, answers, winners)


def deal_block(n: int, stream: np.uint64, first: int, orders: NDArray[np.int32]) -> Dealt:
    """Deal the orders of the trials from `first` on, one row of `orders` a trial."""
    deal_trials(n, stream, first, orders)
    return Dealt(n, stream, first, orders)
