"""RADAG: an adag that chooses before each round who plays whom (Phetkaew, Kijsirikul, Rivepiboon 2003)."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np

from pairsim.checks import check_classes
from pairsim.decoders.base import Cost, Decoder, Family
from pairsim.decoders.order import deal
from pairsim.decoders.pair_errors import check_errors
from pairsim.errors import parameter_error
from pairsim.kernels.blossoms import new_state
from pairsim.kernels.jit import bare_inner
from pairsim.kernels.matching import cheapest_pairing, pair_up
from pairsim.kernels.protocol import define_decoder
from pairsim.kernels.stream import mix, place

LEFT, BYE = 0, 1
ERROR_BITS, PREFERENCE_BITS = 34, 20  # of a cost


class RadagKernel(NamedTuple):
    """Compiled form of `Radag`."""

    costs: np.ndarray  # int64[n, n]; without content when all errors are equal
    first: np.ndarray  # int64[n]: by place in the list, the opponent in the first round, itself for a bye
    matched: bool


class RadagState(NamedTuple):
    """The classes that are still in, in list order, and the games of this round."""

    order: np.ndarray  # int64[n]
    mates: np.ndarray  # int64[n], by place in the list
    games: np.ndarray  # int64[n, 2]
    progress: np.ndarray  # int64[2]: how many are in, and the class that has a bye, or -1


@bare_inner
def pair_ends(left, mates):
    """Pair as adag does: first with last, second with second last; the middle one of an odd list is left over."""
    for at in range(left):
        mates[at] = left - 1 - at


@bare_inner
def list_games(order, mates, games, progress):
    """Write the games of a round by the place of the player that comes first in the list."""
    size = 0
    progress[BYE] = -1
    for at in range(progress[LEFT]):
        other = mates[at]
        if other > at:
            games[size, 0] = order[at]
            games[size, 1] = order[other]
            size += 1
        elif other == at:
            progress[BYE] = order[at]


def _allocate(decoder, n):
    return RadagState(np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros((n, 2), np.int64), np.zeros(2, np.int64))


def _begin(decoder, state, key):
    deal(state.order, not decoder.matched, key)
    state.progress[LEFT] = state.order.size
    list_games(state.order, decoder.first, state.games, state.progress)


def _round_size(decoder, state):
    return state.progress[LEFT] // 2


def _pair(decoder, state, k):
    return state.games[k, 0], state.games[k, 1]


def _record(decoder, state, k, i, j, i_wins):
    state.order[k] = i if i_wins else j


def _finish_round(decoder, state):
    order, progress = state.order, state.progress
    games = progress[LEFT] // 2
    barred = -1
    if progress[BYE] >= 0:
        order[games] = progress[BYE]  # last of the next list, where adag has it too
        barred = games
    left = progress[LEFT] - games
    progress[LEFT] = left
    if left > 2 and decoder.matched:
        # room of its own for each round: kept in the state, it would be held once for each of many rows side by side
        pair_up(new_state(left + left % 2), decoder.costs, order, left, barred, state.mates)
    else:
        pair_ends(left, state.mates)
    list_games(order, state.mates, state.games, progress)


def _winner(decoder, state):
    return state.order[0]


define_decoder(
    RadagKernel,
    allocate=_allocate,
    begin=_begin,
    round_size=_round_size,
    pair=_pair,
    record=_record,
    finish_round=_finish_round,
    winner=_winner,
)


@dataclasses.dataclass(frozen=True)
class Radag(Decoder):
    """Single elimination with each round paired for the least sum of estimated errors.

    The pairing is a minimum-weight perfect matching, found exactly (Edmonds' blossom algorithm). Of an odd number of
    classes one has a bye, which costs nothing; nobody has one twice in a row. Winners are listed by the place of the
    earlier player of their game, then comes the one that had the bye.

    The first round is the same in every trial. Errors count to one part in 2**34 of the largest; pairings that are
    equal to that (and to half the number of classes times that) are told apart by a fixed arbitrary preference, a hash
    of each pair. Where all errors are equal, every pairing is as good as any other: then it is `Adag()`, with a fresh
    random order of the classes in each trial.

    Parameters
    ----------
    errors : array_like, path or None
        The probability that the answer to a pair which holds the true class is wrong: a symmetric matrix, its n(n-1)/2
        numbers above the diagonal, or a csv or npy file of either. None: all equal. (A `PairwiseClassifier` that is
        told "radag" puts in what it knows about its own pairs.)

    References
    ----------
    T. Phetkaew, B. Kijsirikul, W. Rivepiboon, "Reordering adaptive directed acyclic graphs: an improved algorithm for
    multiclass support vector machines", IJCNN 2003.

    Examples
    --------
    >>> from pairsim import Adag, Radag, Session
    >>> errors = [[0, 0.1, 0.4, 0.3], [0.1, 0, 0.4, 0.4], [0.4, 0.4, 0, 0.2], [0.3, 0.4, 0.2, 0]]
    >>> Session(4, Radag(errors)).ask()
    [(0, 1), (2, 3)]
    >>> Session(4, Radag(), seed=3).ask() == Session(4, Adag(), seed=3).ask()
    True
    """

    name: ClassVar[str] = "radag"
    summary: ClassVar[str] = "adag with each round paired for the least estimated error (errors=FILE)"
    repeats: ClassVar[bool] = False
    finds_champions: ClassVar[bool] = True

    errors: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "errors", check_errors("Radag", self.errors))

    @property
    def version(self) -> int:
        return 2 if self._knows_nothing else 1  # since the list of classes is drawn where errors do not tell them apart

    @property
    def reads_labels(self) -> bool:
        return not self._knows_nothing

    @property
    def needs_pair_errors(self) -> bool:
        return self.errors is None

    def with_pair_errors(self, errors: Any) -> Radag:
        return dataclasses.replace(self, errors=errors)

    @classmethod
    def candidates(cls, n: int, ties: str) -> Iterator[Family]:
        yield from ()  # without errors it is an adag, and a planner knows none

    @property
    def _knows_nothing(self) -> bool:
        """Whether all errors are equal, so that every pairing is as good as any other."""
        return self.errors is None or min(self.errors) == max(self.errors)

    def cost(self, n: int) -> Cost:
        n = self._check_size(n)
        return Cost(n - 1, (n - 1).bit_length())

    def kernel(self, n: int) -> RadagKernel:
        n = self._check_size(n)
        if self._knows_nothing:
            return RadagKernel(np.zeros((0, 0), np.int64), np.arange(n)[::-1].copy(), False)
        return self._matched

    def _check_size(self, n: int) -> int:
        n = check_classes("Radag", n)
        if self.errors is not None and self.errors.n != n:
            raise parameter_error(
                "Radag", "errors", f"of {n} classes, as many as there are", f"errors of {self.errors.n}"
            )
        return n

    @functools.cached_property
    def _matched(self) -> RadagKernel:
        """The compiled form where errors differ; made once, because the first round's matching is in it."""
        n = self.errors.n
        low, high = np.triu_indices(n, 1)
        shares = np.array(self.errors) / max(self.errors)
        with np.errstate(over="ignore"):
            preference = mix(place(low, high)) >> np.uint64(64 - PREFERENCE_BITS)
        costs = np.zeros((n, n), np.int64)
        costs[low, high] = (np.rint(shares * 2.0**ERROR_BITS).astype(np.int64) << PREFERENCE_BITS) + preference.astype(
            np.int64
        )
        costs += costs.T
        return RadagKernel(costs, cheapest_pairing(costs), True)
