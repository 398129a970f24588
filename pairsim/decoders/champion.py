"""CHAMPION: a knock-out finds a likely winner, which then proves itself; max-win's own winner in fewer rounds."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar, NamedTuple

import numpy as np

from pairsim.checks import check_classes
from pairsim.decoders.base import ORDERS, TIES_OR_ANY, Cost, Decoder
from pairsim.decoders.max_win import MaxWin
from pairsim.decoders.open_pairs import (
    FEWEST,
    RANGE,
    OpenPairs,
    check_ledger_size,
    clear_levels,
    enter_answer,
    find_opponent,
    have_met,
    meet,
    name_best,
    new_ledger,
    next_player,
    open_ledger,
    player_after,
)
from pairsim.decoders.order import deal
from pairsim.kernels.jit import bare_inner
from pairsim.kernels.protocol import define_decoder

LEFT, SIZE = 0, 1


class ChampionKernel(NamedTuple):
    """Compiled form of `Champion`."""

    shuffled: bool
    by_label: bool  # the ledger goes by class number, as the tie rule "first" asks for
    ties: int
    at_once: int


class ChampionState(NamedTuple):
    """The games so far, the list of the knock-out, and the games of the round that is to come.

    OpenPairs, list and games hold places in `labels`, the list of the classes.
    """

    ledger: OpenPairs
    labels: np.ndarray  # int64[n]
    standing: np.ndarray  # int64[n], scratch
    order: np.ndarray  # int64[n]
    games: np.ndarray  # int64[n, 2]
    progress: np.ndarray  # int64[2]: classes left in the knock-out, games of the round
    key: np.ndarray  # uint64[1]


@bare_inner
def list_knock_out(sets, order, left, games):
    """Write first against last, second against second last, and so on; return how many."""
    for k in range(left // 2):
        meet(sets, order[k], order[left - 1 - k])
        games[k, 0] = order[k]
        games[k, 1] = order[left - 1 - k]
    return left // 2


@bare_inner
def list_challenges(numbers, sets, champion, games):
    """Write the champion against everybody that it has not met; return how many."""
    size = 0
    for c in range(numbers.shape[1]):
        if not have_met(sets, champion, c):
            meet(sets, champion, c)
            games[size, 0] = champion
            games[size, 1] = c
            size += 1
    clear_levels(numbers, sets, size)
    return size


@bare_inner
def list_games(numbers, sets, ties, at_once, games):
    """Write one game for each of the first `at_once` classes with the fewest losses; return how many, 0 when done."""
    size = 0
    player = next_player(numbers, sets, ties)
    while player >= 0 and at_once > 0:
        opponent = find_opponent(numbers, sets, player, numbers[RANGE, FEWEST], 0)
        if opponent >= 0:  # else all that it has not met play it in this round already
            meet(sets, player, opponent)
            games[size, 0] = player
            games[size, 1] = opponent
            size += 1
        at_once -= 1
        player = player_after(numbers, sets, player)
    clear_levels(numbers, sets, size)
    return size


@bare_inner
def list_round(numbers, sets, order, progress, games, ties, at_once):
    """Write the games of the next round: knock-out, then the champion's, then those of the leaders."""
    size = 0
    if progress[LEFT] > 1:
        progress[LEFT] = (progress[LEFT] + 1) // 2
        if progress[LEFT] > 1:
            size = list_knock_out(sets, order, progress[LEFT], games)
        else:
            size = list_challenges(numbers, sets, order[0], games)
    if size == 0:
        size = list_games(numbers, sets, ties, at_once, games)
    progress[SIZE] = size


def _allocate(decoder, n):
    labels, standing, order = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    games, progress = np.zeros((n, 2), np.int64), np.zeros(2, np.int64)
    return ChampionState(new_ledger(n), labels, standing, order, games, progress, np.zeros(1, np.uint64))


def _begin(decoder, state, key):
    n = state.order.size
    open_ledger(state.ledger.numbers, state.ledger.sets)
    deal(state.labels, decoder.shuffled and not decoder.by_label, key)
    deal(state.order, decoder.shuffled and decoder.by_label, key)
    state.progress[LEFT] = n
    state.progress[SIZE] = list_knock_out(state.ledger.sets, state.order, n, state.games)
    state.key[0] = key


def _round_size(decoder, state):
    return state.progress[SIZE]


def _pair(decoder, state, k):
    return state.labels[state.games[k, 0]], state.labels[state.games[k, 1]]


def _record(decoder, state, k, i, j, i_wins):
    first, second = state.games[k, 0], state.games[k, 1]
    state.order[k] = first if i_wins else second  # as adag does; after the knock-out nobody reads it
    enter_answer(state.ledger.numbers, state.ledger.sets, first, second, i_wins)


def _finish_round(decoder, state):
    ledger = state.ledger
    list_round(ledger.numbers, ledger.sets, state.order, state.progress, state.games, decoder.ties, decoder.at_once)


def _winner(decoder, state):
    return name_best(state.ledger, state.labels, state.standing, decoder.ties, state.key[0])


define_decoder(
    ChampionKernel,
    allocate=_allocate,
    begin=_begin,
    round_size=_round_size,
    pair=_pair,
    record=_record,
    finish_round=_finish_round,
    winner=_winner,
)


@dataclasses.dataclass(frozen=True)
class Champion(Decoder):
    """Run an adag, compare its winner with every other class in one round, and continue as `Quick` if undecided.

    An unbeaten champion is max-win's only winner. Else the classes with the fewest losses continue, up to the square
    root of n of them per round, until max-win's winner is known: trial by trial, `Champion(ties)` predicts the class
    that `MaxWin(ties)` predicts.

    Parameters
    ----------
    ties : {"random", "lose", "first", "any"}
        The first three are max-win's: a fair draw, no prediction, or the lowest class number. "any" stops as soon
        as one max-win winner is known and predicts that one: the fewest queries.
    order : {"random", "given"}
        The list of the adag: a fresh uniformly random order of the classes in each trial, or 0, 1, ..., n-1. It also
        decides among equals, except under ties="first", which asks about low class numbers first. On `Uniform` and
        `Ranked` class numbers are drawn in each trial: under ties="first" it then succeeds as often as `MaxWin`, but
        may predict another of the tied.

    References
    ----------
    L. Beretta, F. M. Nardini, R. Trani and R. Venturini, "An optimal algorithm to find champions of tournament graphs",
    SPIRE 2019, and "An optimal algorithm for finding champions in tournament graphs", IEEE TKDE 2023: a champion with
    few losses.

    Examples
    --------
    >>> from pairsim import Champion, MaxWin, Uniform, simulate
    >>> champion = simulate(Uniform(64, 1.0), Champion(), 100)  # the true class beats everybody
    >>> champion.success, champion.queries, champion.rounds  # 63 in the adag, 57 of its winner
    (1.0, 120.0, 7.0)
    >>> every, few = simulate(Uniform(64, 0.9), [MaxWin(), Champion()], 1000, method="simulated")
    >>> every.success == few.success, few.agreement, few.queries < 700, few.rounds < 120
    (True, 1.0, True, True)
    """

    name: ClassVar[str] = "champion"
    summary: ClassVar[str] = "max-win's winner in fewer rounds: verify an adag's winner, then continue as quick"
    repeats: ClassVar[bool] = False
    finds_champions: ClassVar[bool] = True
    adaptive: ClassVar[bool] = True
    knock_out: ClassVar[str] = "opens"
    plan_order: ClassVar[int] = 50

    ties: str = "random"
    order: str = "random"

    def __post_init__(self) -> None:
        self._check_choice("ties", tuple(TIES_OR_ANY))
        self._check_choice("order", ORDERS)

    @property
    def version(self) -> int:
        return 2  # since equals are settled in a random order and not by class number

    @property
    def reads_labels(self) -> bool:
        return self.order == "given" or self.ties == "first"

    def label_free(self, n: int) -> Champion | None:
        return None if self.ties == "first" else dataclasses.replace(self, order="random")

    @property
    def equivalent(self) -> MaxWin | None:
        return None if self.ties == "any" else MaxWin(self.ties)

    def cost(self, n: int) -> Cost:
        n = check_classes("Champion", n)
        return Cost(n * (n - 1) // 2, self._most_rounds(n))

    def kernel(self, n: int) -> ChampionKernel:
        check_ledger_size("Champion", check_classes("Champion", n))
        # Everybody must lose as often as the winner does, so several can play at once. Against one query a round,
        # all that a leader has left in one round takes 35% to 100% more queries, one of each leader 6% to 43% more,
        # one of the first sqrt(n) leaders 0% to 6% more, for 5 to 13 times fewer rounds under uniform-p (p = 0.7 and
        # 0.9, n = 64 and 256) and 2 to 5 times fewer where the classes are nearly in a strict order.
        return ChampionKernel(self.order == "random", self.ties == "first", TIES_OR_ANY[self.ties], math.isqrt(n))

    @staticmethod
    def _most_rounds(n: int) -> int:
        """Return the rounds if every query after the knock-out took one of its own."""
        knock_out = (n - 1).bit_length()
        return knock_out + n * (n - 1) // 2 - (n - 1)
