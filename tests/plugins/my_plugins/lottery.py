"""LOTTERY: ask one pair, drawn at random, and predict its winner; with an exact value and a conditional method."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, NamedTuple

import numpy as np

from pairsim.checks import check_classes
from pairsim.decoders import Cost, Decoder
from pairsim.exact_values import EXACT, Solution
from pairsim.kernels.pairs import triangle_pair
from pairsim.kernels.protocol import define_decoder
from pairsim.kernels.stream import draw_below
from pairsim.simulation.conditional import CONDITIONAL, ConditionalMethod


class LotteryKernel(NamedTuple):
    n: int


class LotteryState(NamedTuple):
    at: np.ndarray  # int64[3]: number of the pair, queries to go, winner


def _allocate(decoder, n):
    return LotteryState(np.zeros(3, np.int64))


def _begin(decoder, state, key):
    state.at[0] = draw_below(key, 0, 0, decoder.n * (decoder.n - 1) // 2)
    state.at[1] = 1


def _round_size(decoder, state):
    return state.at[1]


def _pair(decoder, state, k):
    return triangle_pair(state.at[0])


def _record(decoder, state, k, i, j, i_wins):
    state.at[2] = i if i_wins else j


def _finish_round(decoder, state):
    state.at[1] = 0


def _winner(decoder, state):
    return state.at[2]


def _confidence(decoder, state):
    return 2.0 / decoder.n


define_decoder(
    LotteryKernel,
    allocate=_allocate,
    begin=_begin,
    round_size=_round_size,
    pair=_pair,
    record=_record,
    finish_round=_finish_round,
    winner=_winner,
    confidence=_confidence,
)


@dataclasses.dataclass(frozen=True)
class Lottery(Decoder):
    """Ask one pair, drawn at random, and predict its winner."""

    name = "lottery"
    summary = "asks one pair, drawn at random, and predicts its winner"
    repeats = False
    reads_labels = False

    def cost(self, n: int) -> Cost:
        check_classes("Lottery", n)
        return Cost(1, 1)

    def kernel(self, n: int) -> LotteryKernel:
        return LotteryKernel(n)


@EXACT.register(Lottery)
def solve(probabilities: Any, decoder: Lottery) -> Solution:
    """Class 0 is in the pair with probability 2 / n, and then has to win it."""
    success = float(probabilities.first_row.sum()) / math.comb(probabilities.n, 2)
    return Solution(success, 1.0 - success, "one pair in all")


@CONDITIONAL.register(Lottery)
class GivenScores(ConditionalMethod):
    """Given the scores, class c is predicted with probability score / pairs."""

    agrees = True

    def write(self, trials: Any, decoder: Lottery, out: Any) -> None:
        pairs, t = trials.n * (trials.n - 1) / 2, np.arange(trials.count)
        out.failed[:] = 1.0 - trials.scores[trials.truth, t] / pairs
        if trials.reference.size:
            out.agreed[:] = np.where(trials.reference >= 0, trials.scores[trials.reference, t] / pairs, 0.0)
