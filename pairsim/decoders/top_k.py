"""TOP-k: a poll picks k candidates, a second round decides among them (POLL paper, section 3)."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, NamedTuple

import numpy as np

from pairsim.checks import check_classes, check_whole
from pairsim.decoders.base import TIES, Cost, Decoder
from pairsim.decoders.poll import poll_pair
from pairsim.decoders.sample_size import check_sample_size, sample_size
from pairsim.errors import refusal
from pairsim.kernels.pairs import triangle_pair
from pairsim.kernels.protocol import DECODERS, DecoderFunctions
from pairsim.kernels.ties import BY_TOP_K, cut, settle

FINALS = ("rescore", "maxwin")
POLLING, FINAL, DONE = 0, 1, 2


class TopKKernel(NamedTuple):
    """Compiled form of `TopK`."""

    k: int
    l: int
    rescore: bool
    ties: int


class TopKState(NamedTuple):
    """First the sampled scores of all classes, then the scores of the candidates."""

    scores: np.ndarray  # int64[n], sampled
    candidates: np.ndarray  # int64[k], classes in class order
    finals: np.ndarray  # int64[k], their scores in the second round
    progress: np.ndarray  # int64[2]: phase, number of candidates
    key: np.ndarray  # uint64[1]


def _allocate(decoder, n):
    return TopKState(
        np.zeros(n, np.int64),
        np.zeros(decoder.k, np.int64),
        np.zeros(decoder.k, np.int64),
        np.zeros(2, np.int64),
        np.zeros(1, np.uint64),
    )


def _begin(decoder, state, key):
    state.scores[:] = 0
    state.finals[:] = 0
    state.progress[0] = POLLING
    state.progress[1] = 0
    state.key[0] = key


def _round_size(decoder, state):
    n = state.scores.size
    count = state.progress[1]
    if state.progress[0] == POLLING:
        return n * decoder.l
    if state.progress[0] == FINAL:
        return count * (n - 1) if decoder.rescore else count * (count - 1) // 2
    return 0


def _pair(decoder, state, k):
    n = state.scores.size
    if state.progress[0] == POLLING:
        return poll_pair(state.key[0], n, decoder.l, k)
    if decoder.rescore:
        place = k // (n - 1)
        i = state.candidates[place]
        j = k - place * (n - 1)
        return i, j + (j >= i)
    low, high = triangle_pair(k)
    return state.candidates[low], state.candidates[high]


def _record(decoder, state, k, i, j, i_wins):
    if state.progress[0] == POLLING:
        state.scores[i] += i_wins
    elif decoder.rescore:
        state.finals[k // (state.scores.size - 1)] += i_wins
    else:
        low, high = triangle_pair(k)
        state.finals[low] += i_wins
        state.finals[high] += not i_wins


def _finish_round(decoder, state):
    if state.progress[0] == POLLING:
        state.progress[1] = cut(state.scores, decoder.k, decoder.ties, state.key[0], state.candidates)
        state.progress[0] = FINAL
    else:
        state.progress[0] = DONE


def _winner(decoder, state):
    count = state.progress[1]
    if count == 0:
        return -1
    place = settle(state.finals[:count], decoder.ties, state.key[0], BY_TOP_K)
    return state.candidates[place] if place >= 0 else -1


DECODERS[TopKKernel] = DecoderFunctions(_allocate, _begin, _round_size, _pair, _record, _finish_round, _winner)


@dataclasses.dataclass(frozen=True)
class TopK(Decoder):
    """Poll all classes, keep the k best, and decide among those in a second round.

    Parameters
    ----------
    k : int
        Number of candidates, at most n.
    l : int or str
        Opponents a class in the poll: a number, or a multiple of log2 n such as "3log".
    final : {"rescore", "maxwin"}
        "rescore" gives each candidate its full score against all other classes: k(n-1) more questions.
        "maxwin" plays the candidates against each other only: k(k-1)/2 more questions.
    ties : {"random", "lose", "first"}
        Settles ties at the cut and in the final. With "lose", classes that tie at the cut are all left out.

    Examples
    --------
    >>> from pairsim import TopK
    >>> TopK(5, "3log").cost(512)
    Cost(queries=16379, rounds=2)
    """

    name: ClassVar[str] = "top-k"
    summary: ClassVar[str] = "a poll picks k candidates, which are then rescored in full or play each other"
    repeats: ClassVar[bool] = True

    k: int = 5
    l: int | str = "3log"
    final: str = "rescore"
    ties: str = "random"

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", check_whole("TopK", "k", self.k, 1))
        object.__setattr__(self, "l", check_sample_size("TopK", self.l))
        self._check_choice("final", FINALS)
        self._check_choice("ties", tuple(TIES))

    def cost(self, n: int) -> Cost:
        self._check_k(check_classes("TopK", n))
        more = self.k * (n - 1) if self.final == "rescore" else self.k * (self.k - 1) // 2
        return Cost(n * sample_size(self.l, n) + more, 2 if more else 1)

    def kernel(self, n: int) -> TopKKernel:
        self._check_k(check_classes("TopK", n))
        return TopKKernel(self.k, sample_size(self.l, n), self.final == "rescore", TIES[self.ties])

    def _check_k(self, n: int) -> None:
        if self.k > n:
            raise refusal("TopK", "k", f"at most the number of classes, {n}", self.k)

    @property
    def spec(self) -> str:
        tail = "" if self.ties == "random" else f",ties={self.ties}"
        return f"top-k:k={self.k},l={self.l},final={self.final}{tail}"
