"""DDAG: first against last of a list, the loser leaves (Platt, Cristianini, Shawe-Taylor 2000)."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, NamedTuple

import numpy as np

from pairsim.checks import check_classes
from pairsim.decoders.base import ORDERS, Cost, Decoder
from pairsim.decoders.order import deal
from pairsim.kernels.protocol import DECODERS, DecoderFunctions


class DdagKernel(NamedTuple):
    """Compiled form of `Ddag`."""

    shuffled: bool


class DdagState(NamedTuple):
    """The list, and the two ends that are still in it."""

    order: np.ndarray  # int64[n]
    ends: np.ndarray  # int64[2]


def _allocate(decoder, n):
    return DdagState(np.zeros(n, np.int64), np.zeros(2, np.int64))


def _begin(decoder, state, key):
    deal(state.order, decoder.shuffled, key)
    state.ends[0] = 0
    state.ends[1] = state.order.size - 1


def _round_size(decoder, state):
    return np.int64(state.ends[0] < state.ends[1])


def _pair(decoder, state, k):
    return state.order[state.ends[0]], state.order[state.ends[1]]


def _record(decoder, state, k, i, j, i_wins):
    # no branch on the answer: it is a coin flip, and a mispredicted jump costs more than both additions
    state.ends[0] += not i_wins
    state.ends[1] -= i_wins


def _finish_round(decoder, state):
    pass


def _winner(decoder, state):
    return state.order[state.ends[0]]


DECODERS[DdagKernel] = DecoderFunctions(_allocate, _begin, _round_size, _pair, _record, _finish_round, _winner)


@dataclasses.dataclass(frozen=True)
class Ddag(Decoder):
    """Play the first class of a list against the last; the loser leaves; n-1 questions, one after the other.

    Parameters
    ----------
    order : {"random", "given"}
        A fresh uniformly random order of the classes in each trial, or 0, 1, ..., n-1.

    Examples
    --------
    >>> from pairsim import Ddag
    >>> Ddag().cost(512)
    Cost(queries=511, rounds=511)
    """

    name: ClassVar[str] = "ddag"
    summary: ClassVar[str] = "first against last of a list, the loser leaves"
    repeats: ClassVar[bool] = False

    order: str = "random"

    def __post_init__(self) -> None:
        self._check_choice("order", ORDERS)

    def cost(self, n: int) -> Cost:
        n = check_classes("Ddag", n)
        return Cost(n - 1, n - 1)

    def kernel(self, n: int) -> DdagKernel:
        check_classes("Ddag", n)
        return DdagKernel(self.order == "random")
