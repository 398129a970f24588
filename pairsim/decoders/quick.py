"""QUICK: max-win's own winner with few questions (QWeighted; Park and Fürnkranz 2007)."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, NamedTuple

import numpy as np

from pairsim.checks import check_classes
from pairsim.decoders.base import TIES_OR_ANY, Cost, Decoder
from pairsim.decoders.ledger import (
    FEWEST,
    GAMES,
    RANGE,
    STANDING,
    WORD_SHIFT,
    Ledger,
    check_ledger_size,
    clear_levels,
    enter_answer,
    find_opponent,
    meet,
    name_best,
    new_ledger,
    next_player,
    open_ledger,
)
from pairsim.kernels.jit import inner
from pairsim.kernels.protocol import DECODERS, DecoderFunctions

PLAYER, OPPONENT, LOST = 0, 1, 2


class QuickKernel(NamedTuple):
    """Compiled form of `Quick`."""

    ties: int


class QuickState(NamedTuple):
    """The games so far, and the next one: player (-1 when there is none), opponent and the opponent's losses."""

    ledger: Ledger
    game: np.ndarray  # int64[3]
    key: np.ndarray  # uint64[1]


@inner
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
    return QuickState(new_ledger(n), np.zeros(3, np.int64), np.zeros(1, np.uint64))


def _begin(decoder, state, key):
    open_ledger(state.ledger.numbers, state.ledger.sets)
    state.key[0] = key
    state.game[PLAYER] = 0
    next_game(state.ledger.numbers, state.ledger.sets, state.game, decoder.ties)


def _round_size(decoder, state):
    return np.int64(state.game[PLAYER] >= 0)


def _pair(decoder, state, k):
    return state.game[PLAYER], state.game[OPPONENT]


def _record(decoder, state, k, i, j, i_wins):
    enter_answer(state.ledger.numbers, state.ledger.sets, i, j, i_wins)


def _finish_round(decoder, state):
    next_game(state.ledger.numbers, state.ledger.sets, state.game, decoder.ties)


def _winner(decoder, state):
    return name_best(state.ledger, decoder.ties, state.key[0])


DECODERS[QuickKernel] = DecoderFunctions(_allocate, _begin, _round_size, _pair, _record, _finish_round, _winner)


@dataclasses.dataclass(frozen=True)
class Quick(Decoder):
    """Let the class with the fewest losses play until it is known whom max-win names: the same winner, fewer questions.

    The class with the fewest losses so far plays, of those that it has not met, the one with the fewest losses (each
    time the lowest number among equals). A class that has played everybody while nobody has lost less is a max-win
    winner. Others that have lost as little go on until it is known whether they are winners too, as far as the tie
    rule asks for it; so, trial by trial, `Quick(ties)` names whom `MaxWin(ties)` names.

    What it saves depends on how often the winner loses, since everybody else must have lost as often: nearly
    everything where one class beats nearly all others, 40% of the questions under uniform-p with p = 0.7.

    Parameters
    ----------
    ties : {"random", "lose", "first", "any"}
        The first three are max-win's: a fair draw, nobody is named, or the lowest class number. "any" stops as soon
        as one max-win winner is known and names that one: the fewest questions.

    References
    ----------
    S.-H. Park and J. Fürnkranz, "Efficient Pairwise Classification", ECML 2007: the algorithm QWeighted.

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
    summary: ClassVar[str] = "who lost least plays on until max-win's winner is known, one question a round"
    repeats: ClassVar[bool] = False
    adaptive: ClassVar[bool] = True

    ties: str = "random"

    def __post_init__(self) -> None:
        self._check_choice("ties", tuple(TIES_OR_ANY))

    def cost(self, n: int) -> Cost:
        n = check_classes("Quick", n)
        return Cost(n * (n - 1) // 2, n * (n - 1) // 2)

    def kernel(self, n: int) -> QuickKernel:
        check_ledger_size("Quick", check_classes("Quick", n))
        return QuickKernel(TIES_OR_ANY[self.ties])
