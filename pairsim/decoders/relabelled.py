"""A decoder that sees the classes under numbers drawn at random in each trial, so that a number tells it nothing."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, NamedTuple

import numpy as np

from pairsim.decoders.base import Cost, Decoder
from pairsim.decoders.order import deal
from pairsim.kernels.protocol import (
    allocate,
    begin,
    define_decoder,
    finish_round,
    pair,
    record,
    round_size,
    winner,
)
from pairsim.kernels.stream import fold

LABELS = np.uint64(1 << 32)  # keeps the draw of the numbers apart from the decoder's own draws


class RelabelledKernel(NamedTuple):
    """Compiled form of `Relabelled`."""

    rules: Any  # the compiled form of the decoder


class RelabelledState(NamedTuple):
    """The decoder's own state, the class that has each number, and the number of each class."""

    state: Any
    classes: np.ndarray  # int64[n]
    numbers: np.ndarray  # int64[n]


def _allocate(decoder, n):
    return RelabelledState(allocate(decoder.rules, n), np.zeros(n, np.int64), np.zeros(n, np.int64))


def _begin(decoder, state, key):
    deal(state.classes, True, fold(key, LABELS))
    for number in range(state.classes.size):
        state.numbers[state.classes[number]] = number
    begin(decoder.rules, state.state, key)


def _round_size(decoder, state):
    return round_size(decoder.rules, state.state)


def _pair(decoder, state, k):
    i, j = pair(decoder.rules, state.state, k)
    return state.classes[i], state.classes[j]


def _record(decoder, state, k, i, j, i_wins):
    record(decoder.rules, state.state, k, state.numbers[i], state.numbers[j], i_wins)


def _finish_round(decoder, state):
    finish_round(decoder.rules, state.state)


def _winner(decoder, state):
    number = winner(decoder.rules, state.state)
    return state.classes[number] if number >= 0 else -1


define_decoder(
    RelabelledKernel,
    allocate=_allocate,
    begin=_begin,
    round_size=_round_size,
    pair=_pair,
    record=_record,
    finish_round=_finish_round,
    winner=_winner,
)


@dataclasses.dataclass(frozen=True)
class Relabelled(Decoder):
    """Give the classes other numbers, drawn at random in each trial, before `rules` sees them.

    It costs n draws per trial and two look-ups per query. Not in the registry: the simulator puts it around decoders
    that read class numbers, where those numbers mean nothing (see `pairsim.oracles.labels`).

    Parameters
    ----------
    rules : Decoder
        The decoder that works under the drawn numbers.

    Examples
    --------
    >>> from pairsim import Halving
    >>> from pairsim.decoders.relabelled import Relabelled
    >>> Relabelled(Halving("log", ties="first")).cost(512)
    Cost(queries=14804, rounds=9)
    """

    name: ClassVar[str] = "relabelled"
    summary: ClassVar[str] = "another decoder, with random class numbers in each trial"

    rules: Decoder

    registered: ClassVar[bool] = False

    @property
    def repeats(self) -> bool:  # type: ignore[override]
        """Whether `rules` may ask a pair twice."""
        return self.rules.repeats

    @property
    def adaptive(self) -> bool:  # type: ignore[override]
        """Whether the answers decide what `rules` asks next."""
        return self.rules.adaptive

    @property
    def reads_labels(self) -> bool:
        return False

    @property
    def spec(self) -> str:
        """The decoder as it was asked for."""
        return self.rules.spec

    @property
    def always_names(self) -> bool:
        return self.rules.always_names

    def expected_distinct(self, n: int) -> float | None:
        return self.rules.expected_distinct(n)

    def asker_only(self, number: int) -> bool:
        return self.rules.asker_only(number)

    def cost(self, n: int) -> Cost:
        return self.rules.cost(n)

    def kernel(self, n: int) -> RelabelledKernel:
        return RelabelledKernel(self.rules.kernel(n))
