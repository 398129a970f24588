"""MAX-WIN: ask every pair, name the class with the most wins (Friedman 1996; POLL paper, section 1.1)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

import numpy as np

from pairsim.checks import check_classes
from pairsim.decoders.base import TIES, Cost, Decoder, Family
from pairsim.kernels.pairs import triangle_pair
from pairsim.kernels.protocol import define_decoder
from pairsim.kernels.ties import BY_MAX_WIN, settle


class MaxWinKernel(NamedTuple):
    """Compiled form of `MaxWin`."""

    ties: int


class MaxWinState(NamedTuple):
    """Scores so far; `left` holds the queries of the round that is to come."""

    scores: np.ndarray  # int64[n]
    left: np.ndarray  # int64[1]
    key: np.ndarray  # uint64[1]


def _allocate(decoder, n):
    return MaxWinState(np.zeros(n, np.int64), np.zeros(1, np.int64), np.zeros(1, np.uint64))


def _begin(decoder, state, key):
    n = state.scores.size
    state.scores[:] = 0
    state.left[0] = n * (n - 1) // 2
    state.key[0] = key


def _round_size(decoder, state):
    return state.left[0]


def _pair(decoder, state, k):
    return triangle_pair(k)


def _record(decoder, state, k, i, j, i_wins):
    state.scores[i] += i_wins
    state.scores[j] += not i_wins


def _finish_round(decoder, state):
    state.left[0] = 0


def _winner(decoder, state):
    return settle(state.scores, decoder.ties, state.key[0], BY_MAX_WIN)


define_decoder(
    MaxWinKernel,
    allocate=_allocate,
    begin=_begin,
    round_size=_round_size,
    pair=_pair,
    record=_record,
    finish_round=_finish_round,
    winner=_winner,
)


@dataclasses.dataclass(frozen=True)
class MaxWin(Decoder):
    """Ask all n(n-1)/2 pairs in one round and name the class with the highest score.

    Parameters
    ----------
    ties : {"random", "lose", "first"}
        How an equal top score is settled: a fair draw, no prediction, or the lowest class number (on `Uniform` and
        `Ranked`, where class numbers mean nothing, that is a fair draw too).

    Examples
    --------
    >>> from pairsim import MaxWin, Uniform, simulate
    >>> MaxWin().cost(16)
    Cost(queries=120, rounds=1)
    >>> simulate(Uniform(16, 1.0), MaxWin(), trials=100).success
    1.0
    """

    name: ClassVar[str] = "max-win"
    summary: ClassVar[str] = "query every pair; the class with the most wins"
    repeats: ClassVar[bool] = False
    finds_champions: ClassVar[bool] = True
    reference: ClassVar[bool] = True
    explained_by: ClassVar[str] = "scores"
    plan_order: ClassVar[int] = 30

    ties: str = "random"

    def __post_init__(self) -> None:
        self._check_choice("ties", tuple(TIES))

    @property
    def reads_labels(self) -> bool:
        return self.ties == "first"

    def label_free(self, n: int) -> MaxWin:
        return dataclasses.replace(self, ties="random")  # with random numbers, the first of the tied is any of them

    @property
    def equivalent(self) -> MaxWin:
        return self

    @classmethod
    def candidates(cls, n: int, ties: str) -> Iterator[Family]:
        yield Family(cls.name, lambda _: cls(ties), [1])

    def cost(self, n: int) -> Cost:
        n = check_classes("MaxWin", n)
        return Cost(n * (n - 1) // 2, 1)

    def kernel(self, n: int) -> MaxWinKernel:
        check_classes("MaxWin", n)
        return MaxWinKernel(TIES[self.ties])
