"""HALVING: polls among fewer and fewer classes (successive halving on the sampled scores of POLL)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

import numpy as np

from pairsim.checks import check_classes
from pairsim.decoders.base import TIES, Cost, Decoder, Family
from pairsim.decoders.sample_size import check_sample_size, growing_sizes, sample_size
from pairsim.kernels.protocol import define_decoder
from pairsim.kernels.stream import draw_below, fold
from pairsim.kernels.ties import BY_HALVING, cut, settle

ROUND, ALIVE, ASKED, ASKS = 0, 1, 2, 3


class HalvingKernel(NamedTuple):
    """Compiled form of `Halving`: how many opponents a class asks in each round; n - 1 means all of them."""

    asks: np.ndarray  # int64[rounds]
    ties: int


class HalvingState(NamedTuple):
    """The classes that are still in, in class order, and how often each has won."""

    classes: np.ndarray  # int64[n]
    wins: np.ndarray  # int64[n], by class
    scores: np.ndarray  # int64[n], by place in `classes`: what a cut and the end compare
    stay: np.ndarray  # int64[n], places of those that come through a cut
    progress: np.ndarray  # int64[4]: round, classes alive, opponents that each has asked, and asks in this round
    key: np.ndarray  # uint64[1]


def plan_rounds(l: int, n: int) -> list[tuple[int, int]]:
    """Return (classes, opponents that each asks) of every round.

    Those that are left ask l * sqrt(n / classes) opponents, rounded down: more and more each, fewer and fewer together.

    Examples
    --------
    >>> plan_rounds(9, 512)[:4]
    [(512, 9), (256, 12), (128, 18), (64, 25)]
    >>> plan_rounds(40, 32)  # all at once: each asks its 31 opponents
    [(32, 31)]
    """
    # The same n * l queries in each round would spend most of them on few classes that are known well already; the
    # same l of each class leaves too few for those that are hard to tell apart. For 512 classes at p = 0.7 the root
    # gives success 0.83 for 15,000 queries; the former needs about 29,000 for as much, the latter about 20,000.
    rounds: list[tuple[int, int]] = []
    classes = n
    while classes > 1:
        opponents = math.isqrt(l * l * n // classes)
        if opponents >= n - 1:
            return [*rounds, (classes, n - 1)]
        rounds.append((classes, opponents))
        classes = (classes + 1) // 2
    return rounds


def _allocate(decoder, n):
    return HalvingState(
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(4, np.int64),
        np.zeros(1, np.uint64),
    )


def _begin(decoder, state, key):
    for c in range(state.classes.size):
        state.classes[c] = c
    state.wins[:] = 0
    state.progress[ROUND] = 0
    state.progress[ALIVE] = state.classes.size
    state.progress[ASKED] = 0
    state.progress[ASKS] = decoder.asks[0]
    state.key[0] = key


def _round_size(decoder, state):
    return state.progress[ALIVE] * state.progress[ASKS]


def _pair(decoder, state, k):
    classes, progress = state.classes, state.progress
    others = classes.size - 1
    asks = progress[ASKS]
    place = k // asks
    i = classes[place]
    number = k - place * asks
    drawn = draw_below(state.key[0], i, progress[ASKED] + number, others)
    j = drawn if asks < others else number  # a choice, not a branch: straight-line code keeps no count of references
    return i, j + (j >= i)


def _record(decoder, state, k, i, j, i_wins):
    state.wins[i] += i_wins


def _finish_round(decoder, state):
    asks = state.progress[ASKS]
    alive = state.progress[ALIVE]
    for place in range(alive):
        state.scores[place] = state.wins[state.classes[place]]
    state.progress[ASKS] = 0
    if asks == state.classes.size - 1:
        return
    # draws of its own for each cut: with the same ones, who was lucky once would be so again
    key = fold(state.key[0], np.uint64(state.progress[ROUND]))
    alive = cut(state.scores[:alive], (alive + 1) // 2, decoder.ties, key, state.stay)
    for place in range(alive):
        state.classes[place] = state.classes[state.stay[place]]
    state.progress[ALIVE] = alive
    state.progress[ASKED] += asks
    state.progress[ROUND] += 1
    if alive > 1:
        state.progress[ASKS] = decoder.asks[state.progress[ROUND]]
        if state.progress[ASKS] == state.classes.size - 1:
            state.wins[:] = 0


def _winner(decoder, state):
    alive = state.progress[ALIVE]
    if alive <= 1:
        return state.classes[0] if alive == 1 else -1
    place = settle(state.scores[:alive], decoder.ties, state.key[0], BY_HALVING)
    return state.classes[place] if place >= 0 else -1


define_decoder(
    HalvingKernel,
    allocate=_allocate,
    begin=_begin,
    round_size=_round_size,
    pair=_pair,
    record=_record,
    finish_round=_finish_round,
    winner=_winner,
)


@dataclasses.dataclass(frozen=True)
class Halving(Decoder):
    """Poll, drop the worse half, poll the rest more closely, and so on until one class is left.

    In each round every class that is left asks l * sqrt(n / classes left) opponents, drawn uniformly with replacement
    from all other classes; its score is the number of its wins in all rounds so far, and the better half stays. Where
    a class would ask n-1 opponents or more, those that are left are scored exactly instead, against all others, and the
    highest score is predicted.

    Parameters
    ----------
    l : int or str
        Opponents that a class asks in the first round: a number, or a multiple of log2 n such as "2log" (rounded up).
        All rounds together take about 3.4 times the queries of the first.
    ties : {"random", "lose", "first"}
        Settles ties at the cuts and at the end. With "lose", classes that tie at a cut are all dropped. "first"
        prefers low class numbers, which on `Uniform` and `Ranked` are drawn at random in each trial.

    References
    ----------
    Z. Karnin, T. Koren and O. Somekh, "Almost Optimal Exploration in Multi-Armed Bandits", ICML 2013: halving, with the
    same budget in each round and with fresh samples.

    Examples
    --------
    >>> from pairsim import Halving
    >>> Halving("log").cost(512)
    Cost(queries=14804, rounds=9)
    """

    name: ClassVar[str] = "halving"
    summary: ClassVar[str] = "sequential halving: poll, drop the worse half, poll the rest more closely"
    repeats: ClassVar[bool] = True
    always_shown: ClassVar[tuple[str, ...]] = ("l",)
    plan_order: ClassVar[int] = 80

    l: int | str = "log"
    ties: str = "random"

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", check_sample_size("Halving", self.l))
        self._check_choice("ties", tuple(TIES))

    @property
    def reads_labels(self) -> bool:
        return self.ties == "first"

    def cost(self, n: int) -> Cost:
        n = check_classes("Halving", n)
        rounds = plan_rounds(sample_size(self.l, n), n)
        return Cost(sum(classes * opponents for classes, opponents in rounds), len(rounds))

    def kernel(self, n: int) -> HalvingKernel:
        n = check_classes("Halving", n)
        asks = [opponents for _, opponents in plan_rounds(sample_size(self.l, n), n)]
        return HalvingKernel(np.array(asks, np.int64), TIES[self.ties])

    def asker_only(self, number: int) -> bool:
        return True

    @classmethod
    def candidates(cls, n: int, ties: str) -> Iterator[Family]:
        every = n * (n - 1) // 2  # what asks more than max-win is of no use
        sizes = [l for l in growing_sizes(n) if cls(l).cost(n).queries < every]
        if sizes:
            yield Family(cls.name, lambda l: cls(l, ties), sizes)
