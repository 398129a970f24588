"""DDAG: first against last of a list, the loser leaves (Platt, Cristianini, Shawe-Taylor 2000)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

import numpy as np

from pairsim.checks import check_classes
from pairsim.decoders.base import ORDERS, Cost, Decoder, Family
from pairsim.decoders.order import deal
from pairsim.kernels.protocol import define_decoder


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


define_decoder(
    DdagKernel,
    allocate=_allocate,
    begin=_begin,
    round_size=_round_size,
    pair=_pair,
    record=_record,
    finish_round=_finish_round,
    winner=_winner,
)


@dataclasses.dataclass(frozen=True)
class Ddag(Decoder):
    """Compare the first class of a list with the last and eliminate the loser: n-1 queries, one after the other.

    Parameters
    ----------
    order : {"random", "given"}
        A fresh uniformly random order of the classes in each trial, or 0, 1, ..., n-1. On `Uniform` and `Ranked`, where
        class numbers mean nothing, both are a random order.

    Examples
    --------
    >>> from pairsim import Ddag
    >>> Ddag().cost(512)
    Cost(queries=511, rounds=511)
    """

    name: ClassVar[str] = "ddag"
    summary: ClassVar[str] = "decision DAG: first against last of a list; the loser is eliminated"
    repeats: ClassVar[bool] = False
    finds_champions: ClassVar[bool] = True
    plan_order: ClassVar[int] = 10

    order: str = "random"

    def __post_init__(self) -> None:
        self._check_choice("order", ORDERS)

    @property
    def reads_labels(self) -> bool:
        return self.order == "given"

    def label_free(self, n: int) -> Ddag:
        return dataclasses.replace(self, order="random")

    @property
    def closed_form(self) -> bool:
        return self.order == "random"

    @classmethod
    def candidates(cls, n: int, ties: str) -> Iterator[Family]:
        yield Family(cls.name, lambda _: cls(), [1])

    def cost(self, n: int) -> Cost:
        n = check_classes("Ddag", n)
        return Cost(n - 1, n - 1)

    def kernel(self, n: int) -> DdagKernel:
        check_classes("Ddag", n)
        return DdagKernel(self.order == "random")
