"""QUICK: max-win's own winner with few queries (QWeighted; Park and Fürnkranz 2007)."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, NamedTuple

import numpy as np

from pairsim.checks import check_classes, check_whole
from pairsim.decoders.base import ORDERS, TIES_OR_ANY, Cost, Decoder
from pairsim.decoders.max_win import MaxWin
from pairsim.decoders.open_pairs import (
    FEWEST,
    GAMES,
    RANGE,
    STANDING,
    WORD_SHIFT,
    OpenPairs,
    check_open_pairs_size,
    clear_levels,
    enter_answer,
    find_opponent,
    meet,
    name_best,
    name_best_so_far,
    new_open_pairs,
    next_player,
    start_open_pairs,
)
from pairsim.decoders.order import deal
from pairsim.kernels.jit import bare_inner
from pairsim.kernels.protocol import define_decoder

PLAYER, OPPONENT, LOST, ASKED = 0, 1, 2, 3


class QuickKernel(NamedTuple):
    """Compiled form of `Quick`."""

    shuffled: bool
    ties: int
    most: int


class QuickState(NamedTuple):
    """The games so far, their number, and the next one: player (-1: none), opponent and the opponent's losses.

    Players are places in `labels`, the list of the classes.
    """

    open_pairs: OpenPairs
    game: np.ndarray  # int64[4]
    labels: np.ndarray  # int64[n]
    standing: np.ndarray  # int64[n], scratch
    key: np.ndarray  # uint64[1]


@bare_inner
def next_game(numbers, sets, game, ties):
    """Write who plays whom after a game, or first of all; mark the pair."""
    player, lost, word = game[PLAYER], game[LOST], game[OPPONENT] >> WORD_SHIFT
    leads = -numbers[STANDING, player] == numbers[RANGE, FEWEST]
    # who won plays on; nobody that it has not met has lost meanwhile, so the search goes on where it was
    if not leads or numbers[GAMES, player] in (0, numbers.shape[1] - 1):
        player = next_player(numbers, sets, ties)
        lost = numbers[RANGE, FEWEST]
        word = 0
    if player >= 0:
        clear_levels(numbers, sets, 1)
        opponent = find_opponent(numbers, sets, player, lost, word)
        game[OPPONENT] = opponent
        game[LOST] = -numbers[STANDING, opponent]
        meet(sets, player, opponent)
    game[PLAYER] = player


def _allocate(decoder, n):
    labels, standing = np.zeros(n, np.int64), np.zeros(n, np.int64)
    return QuickState(new_open_pairs(n), np.zeros(4, np.int64), labels, standing, np.zeros(1, np.uint64))


def _begin(decoder, state, key):
    start_open_pairs(state.open_pairs.numbers, state.open_pairs.sets)
    deal(state.labels, decoder.shuffled, key)
    state.key[0] = key
    state.game[PLAYER] = 0
    state.game[ASKED] = 0
    next_game(state.open_pairs.numbers, state.open_pairs.sets, state.game, decoder.ties)


def _round_size(decoder, state):
    return np.int64((state.game[PLAYER] >= 0) & (state.game[ASKED] < decoder.most))


def _pair(decoder, state, k):
    return state.labels[state.game[PLAYER]], state.labels[state.game[OPPONENT]]


def _record(decoder, state, k, i, j, i_wins):
    enter_answer(state.open_pairs.numbers, state.open_pairs.sets, state.game[PLAYER], state.game[OPPONENT], i_wins)


def _finish_round(decoder, state):
    state.game[ASKED] += 1
    next_game(state.open_pairs.numbers, state.open_pairs.sets, state.game, decoder.ties)


def _winner(decoder, state):
    if state.game[PLAYER] >= 0:  # the budget is spent before the winner is known
        return name_best_so_far(state.open_pairs, state.labels, state.standing, decoder.ties, state.key[0])
    return name_best(state.open_pairs, state.labels, state.standing, decoder.ties, state.key[0])


define_decoder(
    QuickKernel,
    allocate=_allocate,
    begin=_begin,
    round_size=_round_size,
    pair=_pair,
    record=_record,
    finish_round=_finish_round,
    winner=_winner,
)


@dataclasses.dataclass(frozen=True)
class Quick(Decoder):
    """Query the class with the fewest losses until max-win's winner is known: the same winner, fewer queries.

    The class with the fewest losses so far meets, of those that it has not met, the one with the fewest losses (ties by
    a list of the classes). A class that has met all others while no class has fewer losses is a max-win winner. Others
    with as few losses continue until it is known whether they are winners too, as far as the tie rule requires it; so,
    trial by trial, `Quick(ties)` predicts the class that `MaxWin(ties)` predicts.

    The saving depends on how often the winner loses, since every other class must have lost as often: nearly all
    where one class beats nearly all others, 40% of the queries under uniform-p with p = 0.7.

    Parameters
    ----------
    ties : {"random", "lose", "first", "any"}
        The first three are max-win's: a fair draw, no prediction, or the lowest class number. "any" stops as soon
        as one max-win winner is known and predicts that one: the fewest queries.
    order : {"random", "given"}
        The list that decides among equals: a fresh uniformly random order of the classes in each trial, or 0, 1, ...,
        n-1. Under ties="first", which asks about low class numbers first, it is always 0, 1, ..., n-1. On `Uniform` and
        `Ranked` class numbers are drawn in each trial: under ties="first" it then succeeds as often as `MaxWin`, but
        may predict another of the tied.
    budget : int or None
        The most queries. Where they are spent before max-win's winner is known, the class with the most wins less
        losses is predicted. Default: every pair.

    References
    ----------
    S.-H. Park and J. Fürnkranz, "Efficient Pairwise Classification", ECML 2007: the algorithm QWeighted.

    L. Beretta, F. M. Nardini, R. Trani and R. Venturini, "An optimal algorithm to find champions of tournament graphs",
    SPIRE 2019, and "An optimal algorithm for finding champions in tournament graphs", IEEE TKDE 2023: a champion with
    few losses.

    Examples
    --------
    >>> from pairsim import MaxWin, Quick, Uniform, simulate
    >>> Quick().cost(64)  # a bound
    Cost(queries=2016, rounds=2016)
    >>> every, few = simulate(Uniform(64, 0.9), [MaxWin(), Quick()], 1000, method="simulated")
    >>> every.success == few.success, few.agreement, few.queries < 600
    (True, 1.0, True)
    """

    name: ClassVar[str] = "quick"
    summary: ClassVar[str] = "max-win's winner in fewer queries: follow the fewest losses, one query per round"
    repeats: ClassVar[bool] = False
    finds_champions: ClassVar[bool] = True
    adaptive: ClassVar[bool] = True
    plan_order: ClassVar[int] = 40

    ties: str = "random"
    order: str = "random"
    budget: int | None = None

    def __post_init__(self) -> None:
        self._check_choice("ties", tuple(TIES_OR_ANY))
        self._check_choice("order", ORDERS)
        if self.budget is not None:
            object.__setattr__(self, "budget", check_whole("Quick", "budget", self.budget, 1))

    @property
    def version(self) -> int:
        return 2  # since equals are settled in a random order and not by class number

    @property
    def reads_labels(self) -> bool:
        return self.order == "given" or self.ties == "first"

    def label_free(self, n: int) -> Quick | None:
        return None if self.ties == "first" else dataclasses.replace(self, order="random")

    @property
    def equivalent(self) -> MaxWin | None:
        return None if self.ties == "any" or self.budget is not None else MaxWin(self.ties)

    def cost(self, n: int) -> Cost:
        n = check_classes("Quick", n)
        most = min(n * (n - 1) // 2, self.budget or n * n)
        return Cost(most, most)

    def kernel(self, n: int) -> QuickKernel:
        check_open_pairs_size("Quick", check_classes("Quick", n))
        shuffled = self.order == "random" and self.ties != "first"
        return QuickKernel(shuffled, TIES_OR_ANY[self.ties], self.cost(n).queries)

    def within(self, n: int, queries: int | None, rounds: int | None = None) -> Quick | None:
        spends = queries is not None and self.cost(n).queries > queries
        limited = dataclasses.replace(self, budget=queries) if spends else self
        return limited if rounds is None or limited.cost(n).rounds <= rounds else None
