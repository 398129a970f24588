"""ADAG: a folded knock-out tournament (Kijsirikul, Ussivakul, Meknavin 2002; POLL paper, section 1.4)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

import numpy as np

from pairsim.checks import check_classes
from pairsim.decoders.base import ORDERS, Cost, Decoder, Family
from pairsim.decoders.order import deal
from pairsim.kernels.protocol import define_decoder


class AdagKernel(NamedTuple):
    """Compiled form of `Adag`."""

    shuffled: bool


class AdagState(NamedTuple):
    """The classes that are still in, in list order, and how many they are."""

    order: np.ndarray  # int64[n]
    left: np.ndarray  # int64[1]


def _allocate(decoder, n):
    return AdagState(np.zeros(n, np.int64), np.zeros(1, np.int64))


def _begin(decoder, state, key):
    deal(state.order, decoder.shuffled, key)
    state.left[0] = state.order.size


def _round_size(decoder, state):
    return state.left[0] // 2


def _pair(decoder, state, k):
    return state.order[k], state.order[state.left[0] - 1 - k]


def _record(decoder, state, k, i, j, i_wins):
    # the winner takes place k of the next list; nobody reads that place again in this round
    state.order[k] = i if i_wins else j


def _finish_round(decoder, state):
    # the middle one of an odd list stands at place left // 2 already: last of the next list, so it plays next time
    state.left[0] = (state.left[0] + 1) // 2


def _winner(decoder, state):
    return state.order[0]


define_decoder(
    AdagKernel,
    allocate=_allocate,
    begin=_begin,
    round_size=_round_size,
    pair=_pair,
    record=_record,
    finish_round=_finish_round,
    winner=_winner,
)


@dataclasses.dataclass(frozen=True)
class Adag(Decoder):
    """Folded single elimination: first against last, second against second last; the winners form the next list.

    The middle class of an odd list goes to the end of the next one, where it must compete: no
    class has two byes in a row.

    Parameters
    ----------
    order : {"random", "given"}
        A fresh uniformly random order of the classes in each trial, or 0, 1, ..., n-1. On `Uniform` and `Ranked`, where
        class numbers mean nothing, both are a random order.

    Examples
    --------
    >>> from pairsim import Adag
    >>> Adag().cost(512)
    Cost(queries=511, rounds=9)
    """

    name: ClassVar[str] = "adag"
    summary: ClassVar[str] = "folded single elimination: first against last, and so on; winners advance"
    repeats: ClassVar[bool] = False
    finds_champions: ClassVar[bool] = True
    knock_out: ClassVar[str] = "decides"
    plan_order: ClassVar[int] = 20

    order: str = "random"

    def __post_init__(self) -> None:
        self._check_choice("order", ORDERS)

    @property
    def reads_labels(self) -> bool:
        return self.order == "given"

    def label_free(self, n: int) -> Adag:
        return dataclasses.replace(self, order="random")

    @property
    def closed_form(self) -> bool:
        return self.order == "random"

    @classmethod
    def candidates(cls, n: int, ties: str) -> Iterator[Family]:
        yield Family(cls.name, lambda _: cls(), [1])

    def cost(self, n: int) -> Cost:
        n = check_classes("Adag", n)
        return Cost(n - 1, (n - 1).bit_length())

    def kernel(self, n: int) -> AdagKernel:
        check_classes("Adag", n)
        return AdagKernel(self.order == "random")
