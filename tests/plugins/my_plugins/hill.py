"""HILL: king of the hill: the winner of each query meets the next class of the list."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from pairsim.checks import check_classes
from pairsim.decoders import Cost, Decoder
from pairsim.decoders.order import deal
from pairsim.kernels.protocol import define_decoder


class HillKernel(NamedTuple):
    shuffled: bool
    backwards: bool


class HillState(NamedTuple):
    order: np.ndarray  # int64[n]
    at: np.ndarray  # int64[2]: places of the holder and of the challenger


def _allocate(decoder, n):
    return HillState(np.zeros(n, np.int64), np.zeros(2, np.int64))


def _begin(decoder, state, key):
    deal(state.order, decoder.shuffled, key)
    if decoder.backwards:
        state.order[:] = state.order[::-1].copy()
    state.at[0] = 0
    state.at[1] = 1


def _round_size(decoder, state):
    return np.int64(state.at[1] < state.order.size)


def _pair(decoder, state, k):
    return state.order[state.at[0]], state.order[state.at[1]]


def _record(decoder, state, k, i, j, i_wins):
    state.at[0] = state.at[0] if i_wins else state.at[1]


def _finish_round(decoder, state):
    state.at[1] += 1


def _winner(decoder, state):
    return state.order[state.at[0]]


define_decoder(
    HillKernel,
    allocate=_allocate,
    begin=_begin,
    round_size=_round_size,
    pair=_pair,
    record=_record,
    finish_round=_finish_round,
    winner=_winner,
)


@dataclasses.dataclass(frozen=True)
class Hill(Decoder):
    """The holder of the hill meets the classes of a list one after the other."""

    name = "hill"
    summary = "the winner of each query meets the next class of a list"
    repeats = False

    order: str = "random"
    backwards: bool = False

    @property
    def reads_labels(self) -> bool:
        return self.order == "given"

    def cost(self, n: int) -> Cost:
        return Cost(check_classes("Hill", n) - 1, n - 1)

    def kernel(self, n: int) -> HillKernel:
        return HillKernel(self.order == "random", self.backwards)
