"""POLL: each class asks a few random opponents; the highest sampled score wins (POLL paper, section 2)."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar, NamedTuple

import numpy as np

from pairsim.checks import check_classes
from pairsim.decoders.base import TIES, Cost, Decoder
from pairsim.decoders.sample_size import check_sample_size, sample_size
from pairsim.kernels.jit import bare_inner
from pairsim.kernels.protocol import DECODERS, DecoderFunctions
from pairsim.kernels.stream import draw_below
from pairsim.kernels.ties import BY_POLL, settle


class PollKernel(NamedTuple):
    """Compiled form of `Poll`."""

    l: int
    ties: int


class PollState(NamedTuple):
    """Sampled scores; `left` holds the questions of the round that is to come."""

    scores: np.ndarray  # int64[n]
    left: np.ndarray  # int64[1]
    key: np.ndarray  # uint64[1]


@bare_inner
def poll_pair(key, n, l, k):
    """Return question k of a poll: class k // l and a uniformly drawn opponent, with replacement."""
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


DECODERS[PollKernel] = DecoderFunctions(_allocate, _begin, _round_size, _pair, _record, _finish_round, _winner)


@dataclasses.dataclass(frozen=True)
class Poll(Decoder):
    """Let each class ask l opponents, drawn uniformly with replacement, and name the highest sampled score.

    Parameters
    ----------
    l : int or str
        Opponents a class: a number, or a multiple of log2 n such as "5log" (rounded up).
    ties : {"random", "lose", "first"}
        How an equal top score is settled. "lose" is what the paper's analysis counts.

    Examples
    --------
    >>> from pairsim import Poll
    >>> Poll("5log").cost(512)
    Cost(queries=23040, rounds=1)
    """

    name: ClassVar[str] = "poll"
    summary: ClassVar[str] = "each class asks l random opponents; the highest sampled score wins"
    repeats: ClassVar[bool] = True
    has_smooth_conditional: ClassVar[bool] = True

    l: int | str = "5log"
    ties: str = "random"

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", check_sample_size("Poll", self.l))
        self._check_choice("ties", tuple(TIES))

    def cost(self, n: int) -> Cost:
        n = check_classes("Poll", n)
        return Cost(n * sample_size(self.l, n), 1)

    def kernel(self, n: int) -> PollKernel:
        return PollKernel(sample_size(self.l, check_classes("Poll", n)), TIES[self.ties])

    def expected_distinct(self, n: int) -> float:
        """Return the mean number of different pairs that a poll asks: a pair is asked by either of its classes."""
        if n == 2:
            return 1.0
        return -n * (n - 1) / 2 * math.expm1(2 * sample_size(self.l, n) * math.log1p(-1.0 / (n - 1)))

    @property
    def spec(self) -> str:
        tail = "" if self.ties == "random" else f",ties={self.ties}"
        return f"poll:l={self.l}{tail}"
