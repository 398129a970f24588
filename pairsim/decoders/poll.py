"""POLL: each class asks a few random opponents; the highest sampled score wins (POLL paper, section 2)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

import numpy as np

from pairsim.checks import check_classes
from pairsim.decoders.base import TIES, Cost, Decoder, Family
from pairsim.decoders.sample_size import check_sample_size, growing_sizes, sample_size
from pairsim.kernels.jit import bare_inner
from pairsim.kernels.protocol import define_decoder
from pairsim.kernels.stream import draw_below
from pairsim.kernels.ties import BY_POLL, settle


class PollKernel(NamedTuple):
    """Compiled form of `Poll`."""

    l: int
    ties: int


class PollState(NamedTuple):
    """Sampled scores; `left` holds the queries of the round that is to come."""

    scores: np.ndarray  # int64[n]
    left: np.ndarray  # int64[1]
    key: np.ndarray  # uint64[1]


@bare_inner
def poll_pair(key, n, l, k):
    """Return query k of a poll: class k // l and a uniformly drawn opponent, with replacement."""
    i = k // l
    j = draw_below(key, i, k - i * l, n - 1)
    return i, j + (j >= i)


def _allocate(decoder, n):
    return PollState(np.zeros(n, np.int64), np.zeros(1, np.int64), np.zeros(1, np.uint64))


def _begin(decoder, state, key):
    state.scores[:] = 0
    state.left[0] = state.scores.size * decoder.l
    state.key[0] = key


def _round_size(decoder, state):
    return state.left[0]


def _pair(decoder, state, k):
    return poll_pair(state.key[0], state.scores.size, decoder.l, k)


def _record(decoder, state, k, i, j, i_wins):
    state.scores[i] += i_wins


def _finish_round(decoder, state):
    state.left[0] = 0


def _winner(decoder, state):
    return settle(state.scores, decoder.ties, state.key[0], BY_POLL)


define_decoder(
    PollKernel,
    allocate=_allocate,
    begin=_begin,
    round_size=_round_size,
    pair=_pair,
    record=_record,
    finish_round=_finish_round,
    winner=_winner,
)


@dataclasses.dataclass(frozen=True)
class Poll(Decoder):
    """Query l opponents per class, drawn uniformly with replacement; predict the highest sampled score.

    Parameters
    ----------
    l : int or str
        Opponents per class: a number, or a multiple of log2 n such as "5log" (rounded up).
    ties : {"random", "lose", "first"}
        How an equal top score is settled. "lose" is what the paper's analysis counts; "first", the lowest class
        number, is a fair draw on `Uniform` and `Ranked`, where class numbers mean nothing.

    Examples
    --------
    >>> from pairsim import Poll
    >>> Poll("5log").cost(512)
    Cost(queries=23040, rounds=1)
    """

    name: ClassVar[str] = "poll"
    summary: ClassVar[str] = "query l random opponents per class; the class with the highest sampled score"
    repeats: ClassVar[bool] = True
    always_shown: ClassVar[tuple[str, ...]] = ("l",)
    explained_by: ClassVar[str] = "scores"
    plan_order: ClassVar[int] = 60

    l: int | str = "5log"
    ties: str = "random"

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", check_sample_size("Poll", self.l))
        self._check_choice("ties", tuple(TIES))

    @property
    def reads_labels(self) -> bool:
        return self.ties == "first"

    def label_free(self, n: int) -> Poll:
        return dataclasses.replace(self, ties="random")  # with random numbers, the first of the tied is any of them

    def cost(self, n: int) -> Cost:
        n = check_classes("Poll", n)
        return Cost(n * sample_size(self.l, n), 1)

    def kernel(self, n: int) -> PollKernel:
        return PollKernel(sample_size(self.l, check_classes("Poll", n)), TIES[self.ties])

    def expected_distinct(self, n: int) -> float:
        """Return the mean number of different pairs that a poll asks: a pair is asked by either of its classes.

        Examples
        --------
        >>> from pairsim import Poll
        >>> Poll(2).expected_distinct(3)  # each of 3 pairs is missed by 4 fair coins
        2.8125
        """
        n = check_classes("Poll", n)
        if n == 2:
            return 1.0
        return -n * (n - 1) / 2 * math.expm1(2 * sample_size(self.l, n) * math.log1p(-1.0 / (n - 1)))

    def asker_only(self, number: int) -> bool:
        return True

    @classmethod
    def candidates(cls, n: int, ties: str) -> Iterator[Family]:
        yield Family(cls.name, lambda l: cls(l, ties), growing_sizes(n), caps=True)
