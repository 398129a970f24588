"""TOP-k: a poll picks k candidates, a second round decides among them (POLL paper, section 3)."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

import numpy as np

from pairsim.checks import check_classes, check_whole
from pairsim.decoders.base import TIES, Cost, Decoder, Family
from pairsim.decoders.poll import poll_pair
from pairsim.decoders.sample_size import check_sample_size, growing_sizes, sample_size
from pairsim.errors import parameter_error
from pairsim.kernels.pairs import triangle_pair
from pairsim.kernels.protocol import define_decoder
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


define_decoder(
    TopKKernel,
    allocate=_allocate,
    begin=_begin,
    round_size=_round_size,
    pair=_pair,
    record=_record,
    finish_round=_finish_round,
    winner=_winner,
)


@dataclasses.dataclass(frozen=True)
class TopK(Decoder):
    """Poll all classes, keep the k best, and decide among those in a second round.

    Parameters
    ----------
    k : int
        Number of candidates, at most n.
    l : int or str
        Opponents per class in the poll: a number, or a multiple of log2 n such as "3log".
    final : {"rescore", "maxwin"}
        "rescore" gives each candidate its full score against all other classes: k(n-1) more queries.
        "maxwin" compares the candidates against each other only: k(k-1)/2 more queries.
    ties : {"random", "lose", "first"}
        Settles ties at the cut and in the final. With "lose", classes that tie at the cut are all dropped. "first"
        prefers low class numbers, which on `Uniform` and `Ranked` are drawn at random in each trial.

    Examples
    --------
    >>> from pairsim import TopK
    >>> TopK(5, "3log").cost(512)
    Cost(queries=16379, rounds=2)
    """

    name: ClassVar[str] = "top-k"
    summary: ClassVar[str] = "a poll picks k candidates, then full scores or a max-win among them decide"
    repeats: ClassVar[bool] = True
    always_shown: ClassVar[tuple[str, ...]] = ("k", "l", "final")
    explained_by: ClassVar[str] = "final"
    plan_order: ClassVar[int] = 70

    k: int = 5
    l: int | str = "3log"
    final: str = "rescore"
    ties: str = "random"

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", check_whole("TopK", "k", self.k, 1))
        object.__setattr__(self, "l", check_sample_size("TopK", self.l))
        self._check_choice("final", FINALS)
        self._check_choice("ties", tuple(TIES))

    @property
    def reads_labels(self) -> bool:
        return self.ties == "first"

    def label_free(self, n: int) -> TopK | None:
        # A low number that helped at the cut helps again in the final. With "rescore" that changes nothing: those who
        # tie there have equal scores, so the poll treats them alike, and any of them is as likely to be the one helped.
        helps_twice = self.final == "maxwin" and 2 < self.k < n  # a final of two has no ties
        return None if helps_twice else dataclasses.replace(self, ties="random")

    def cost(self, n: int) -> Cost:
        self._check_k(check_classes("TopK", n))
        more = self.k * (n - 1) if self.final == "rescore" else self.k * (self.k - 1) // 2
        return Cost(n * sample_size(self.l, n) + more, 2 if more else 1)

    def kernel(self, n: int) -> TopKKernel:
        self._check_k(check_classes("TopK", n))
        return TopKKernel(self.k, sample_size(self.l, n), self.final == "rescore", TIES[self.ties])

    def expected_distinct(self, n: int) -> float | None:
        n = check_classes("TopK", n)
        return n * (n - 1) / 2 if n in (2, self.k) else None  # a final of all classes asks every pair

    def asker_only(self, number: int) -> bool:
        return number == 0 or self.final == "rescore"

    @classmethod
    def candidates(cls, n: int, ties: str) -> Iterator[Family]:
        for final in reversed(FINALS):
            for k in planned_candidates(n):
                make = functools.partial(_with_samples, cls, k=k, final=final, ties=ties)
                yield Family(f"top-k, k = {k}, {final}", make, growing_sizes(n), group=f"top-k, {final}")

    def _check_k(self, n: int) -> None:
        if self.k > n:
            raise parameter_error("TopK", "k", f"at most the number of classes, {n}", self.k)


def planned_candidates(n: int) -> list[int]:
    """Return the numbers of candidates that a planner tries: beyond n / 2 it is nearly a max-win.

    Examples
    --------
    >>> planned_candidates(64), planned_candidates(3)
    ([2, 3, 5, 7, 10, 15, 20, 30], [2])
    """
    found, unit = [2, 3, 5, 7], 10
    while unit <= n:
        found += [unit, unit * 3 // 2, unit * 2, unit * 3, unit * 5, unit * 7]
        unit *= 10
    return [k for k in found if k < n and k <= max(2, n // 2)]


def _with_samples(cls: type[TopK], l: int, *, k: int, final: str, ties: str) -> TopK:
    return cls(k, l, final, ties)
