"""CHAMPION: a knock-out finds a likely winner, which then proves itself; max-win's own winner in fewer rounds."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar, NamedTuple

import numpy as np

from pairsim.checks import check_classes, check_whole
from pairsim.decoders.base import ORDERS, TIES_OR_ANY, Cost, Decoder
from pairsim.decoders.max_win import MaxWin
from pairsim.decoders.open_pairs import (
    FEWEST,
    RANGE,
    OpenPairs,
    check_open_pairs_size,
    clear_levels,
    enter_answer,
    find_opponent,
    have_met,
    meet,
    name_best,
    name_best_so_far,
    new_open_pairs,
    next_player,
    player_after,
    start_open_pairs,
)
from pairsim.decoders.order import deal
from pairsim.kernels.jit import bare_inner
from pairsim.kernels.protocol import define_decoder

LEFT, SIZE, ASKED, CUT = 0, 1, 2, 3


class ChampionKernel(NamedTuple):
    """Compiled form of `Champion`."""

    shuffled: bool
    by_label: bool  # the open_pairs goes by class number, as the tie rule "first" asks for
    ties: int
    at_once: int
    most: int


class ChampionState(NamedTuple):
    """The games so far, the list of the knock-out, and the games of the round that is to come.

    OpenPairs, list and games hold places in `labels`, the list of the classes.
    """

    open_pairs: OpenPairs
    labels: np.ndarray  # int64[n]
    standing: np.ndarray  # int64[n], scratch
    order: np.ndarray  # int64[n]
    games: np.ndarray  # int64[n, 2]
    progress: np.ndarray  # int64[4]: classes left in the knock-out, games of the round, games so far, out of budget?
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


@bare_inner
def keep_to_budget(progress, most):
    """Leave out the games of the round that the budget does not allow, and note it: it is the last round."""
    if progress[CUT]:
        progress[SIZE] = 0
    elif progress[SIZE] > most - progress[ASKED]:
        progress[CUT] = 1
        progress[SIZE] = most - progress[ASKED]
    progress[ASKED] += progress[SIZE]


def _allocate(decoder, n):
    labels, standing, order = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    games, progress = np.zeros((n, 2), np.int64), np.zeros(4, np.int64)
    return ChampionState(new_open_pairs(n), labels, standing, order, games, progress, np.zeros(1, np.uint64))


def _begin(decoder, state, key):
    n = state.order.size
    start_open_pairs(state.open_pairs.numbers, state.open_pairs.sets)
    deal(state.labels, decoder.shuffled and not decoder.by_label, key)
    deal(state.order, decoder.shuffled and decoder.by_label, key)
    state.progress[LEFT] = n
    state.progress[SIZE] = list_knock_out(state.open_pairs.sets, state.order, n, state.games)
    state.progress[ASKED] = 0
    state.progress[CUT] = 0
    keep_to_budget(state.progress, decoder.most)
    state.key[0] = key


def _round_size(decoder, state):
    return state.progress[SIZE]


def _pair(decoder, state, k):
    return state.labels[state.games[k, 0]], state.labels[state.games[k, 1]]


def _record(decoder, state, k, i, j, i_wins):
    first, second = state.games[k, 0], state.games[k, 1]
    state.order[k] = first if i_wins else second  # as adag does; after the knock-out nobody reads it
    enter_answer(state.open_pairs.numbers, state.open_pairs.sets, first, second, i_wins)


def _finish_round(decoder, state):
    open_pairs = state.open_pairs
    list_round(
        open_pairs.numbers, open_pairs.sets, state.order, state.progress, state.games, decoder.ties, decoder.at_once
    )
    keep_to_budget(state.progress, decoder.most)


def _winner(decoder, state):
    if state.progress[CUT]:
        return name_best_so_far(state.open_pairs, state.labels, state.standing, decoder.ties, state.key[0])
    return name_best(state.open_pairs, state.labels, state.standing, decoder.ties, state.key[0])


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
    budget : int or None
        The most queries. Where they are spent before max-win's winner is known, the class with the most wins less
        losses is predicted. Default: every pair.

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
    budget: int | None = None

    def __post_init__(self) -> None:
        self._check_choice("ties", tuple(TIES_OR_ANY))
        self._check_choice("order", ORDERS)
        if self.budget is not None:
            object.__setattr__(self, "budget", check_whole("Champion", "budget", self.budget, 1))

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
        return None if self.ties == "any" or self.budget is not None else MaxWin(self.ties)

    def cost(self, n: int) -> Cost:
        n = check_classes("Champion", n)
        most = min(n * (n - 1) // 2, self.budget or n * n)
        return Cost(most, self._most_rounds(n, most))

    def kernel(self, n: int) -> ChampionKernel:
        check_open_pairs_size("Champion", check_classes("Champion", n))
        # Everybody must lose as often as the winner does, so several can play at once. Against one query a round,
        # all that a leader has left in one round takes 35% to 100% more queries, one of each leader 6% to 43% more,
        # one of the first sqrt(n) leaders 0% to 6% more, for 5 to 13 times fewer rounds under uniform-p (p = 0.7 and
        # 0.9, n = 64 and 256) and 2 to 5 times fewer where the classes are nearly in a strict order.
        ties, most = TIES_OR_ANY[self.ties], self.cost(n).queries
        return ChampionKernel(self.order == "random", self.ties == "first", ties, math.isqrt(n), most)

    def within(self, n: int, queries: int | None, rounds: int | None = None) -> Champion | None:
        spends = queries is not None and self.cost(n).queries > queries
        limited = dataclasses.replace(self, budget=queries) if spends else self
        return limited if rounds is None or limited.cost(n).rounds <= rounds else None

    @staticmethod
    def _most_rounds(n: int, most: int) -> int:
        """Return the rounds if every query after the knock-out took one of its own."""
        knock_out, left, rounds = n, most, 0
        while knock_out > 1 and left > 0:
            left -= knock_out // 2
            knock_out = (knock_out + 1) // 2
            rounds += 1
        return rounds + max(0, left)
