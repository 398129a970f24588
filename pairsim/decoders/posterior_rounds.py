"""The decoder `posterior` in rounds: several queries at once among the classes that are still likely enough.

At the start of a round the classes are ranked by their evidence. Those within `spread` of the best are alive, and each
of them gets a number of new queries. Opponents are taken in the order of the ranks, the alive ones first, nobody twice,
and nobody for more than that many queries in a round.

The number grows with the root of n / alive, because fewer classes are left and they are harder to tell apart. Where few
rounds are left it is larger: if the same share of classes stays alive in each of them, the games of the last class must
come to the evidence that is missing. Where the budget is short it is smaller, by the same account of the queries left,
and no round has more queries than its part of them. Where even that would leave little for each class, only the best of
those that are alive are asked about.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pairsim.decoders.evidence import HIGHEST, NONE, ROUNDING, rank_of_long_record
from pairsim.decoders.order import deal
from pairsim.decoders.record_evidence import LONGEST, WIDTH, RecordTable, record_log, record_table, write_probabilities
from pairsim.kernels.jit import bare_inner
from pairsim.kernels.protocol import define_decoder
from pairsim.kernels.rank_set import clear_ranks, enter_rank, has_rank, next_rank, rank_words

WINS, LOSSES, NEXT, LAST, SCHEDULED, MET = range(6)  # columns of `classes`; LAST is the last entry in `games`
USUAL_P = 0.75  # sizes the rounds where p is unknown
SUREST = 0.9999  # a higher stop does not make the first rounds larger
SHARE = 0.008
LEAST_SPREAD, MORE_SPREAD = 2.0, 9.0  # the latter is divided by the number of rounds: who has few can discard less
LEAST_PART = 0.1  # of the queries per class that would be right; a budget that allows less is for fewer classes
HASTE = 1.5  # games beyond the mean that is needed, because luck differs

ASKED, FIRST, ROUNDS, MARK, BEST = range(5)  # places in `numbers`; FIRST is the first query of the round
BEST_WEIGHT, OTHER_WEIGHTS = range(2)  # places in `totals`


class PosteriorRoundsKernel(NamedTuple):
    """Compiled form of `Posterior` with a number of rounds."""

    table: RecordTable
    stop: float
    most: int
    rounds: int
    spread: float
    share: float
    information: float  # about how much evidence the true class gains per game


def rounds_kernel(n: int, p: float | None, stop: float, most: int, rounds: int) -> PosteriorRoundsKernel:
    """Return the compiled form for n classes.

    The constants were chosen by simulation for n = 64 to 4,096 and p = 0.7 to 0.9, and confirmed with other seeds.
    """
    assumed = USUAL_P if p is None else p
    information = assumed * math.log(2.0 * assumed) + (1.0 - assumed) * math.log(2.0 * (1.0 - assumed))
    surest = min(stop, SUREST)
    evidence = max(math.log(n * surest / (1.0 - surest)), 0.0)  # of the true class when it is found
    share = SHARE * evidence**2 / information
    spread = LEAST_SPREAD + MORE_SPREAD / rounds
    return PosteriorRoundsKernel(record_table(p), stop, most, rounds, spread, share, information / HASTE)


class PosteriorRoundsState(NamedTuple):
    """The records of all classes, which are places in `labels`, and the queries so far."""

    classes: np.ndarray  # int32[n, 6]
    games: np.ndarray  # int32[2 * most, 2]: opponent, and the class's entry before; two entries per query
    heads: np.ndarray  # int32[ranks]: the first class of a rank, where the rank has one
    ranks: np.ndarray  # uint64: the set of the ranks that have classes
    order: np.ndarray  # int32[n]: the classes by rank
    numbers: np.ndarray  # int64[8]
    totals: np.ndarray  # float64[2]
    labels: np.ndarray  # int64[n]


@bare_inner
def _rank_classes(classes, heads, ranks, order, table, spread, totals):
    """Write the classes to `order`, the best first, and return how many are alive; add up their weights."""
    n = classes.shape[0]
    clear_ranks(ranks)
    top, second = 0.0, 0.0
    highest = -np.inf
    for c in range(n - 1, -1, -1):  # a list grows at its head, so that equals end up in the order of their places
        wins, losses = classes[c, WINS], classes[c, LOSSES]
        if wins + losses <= LONGEST:
            rank = table.ranks[wins * WIDTH + losses]
            log, weight = table.logs[rank], table.weights[rank]
        else:
            log = record_log(table.win, table.loss, wins, losses)
            rank, weight = rank_of_long_record(table, log), np.exp(min(log, HIGHEST))
        if weight > top:
            second += top
            top = weight
        else:
            second += weight
        highest = max(highest, log)
        following = NONE
        if has_rank(ranks, rank):
            following = heads[rank]
        else:
            enter_rank(ranks, rank)
        classes[c, NEXT] = following
        heads[rank] = c
    totals[BEST_WEIGHT], totals[OTHER_WEIGHTS] = top, second
    size, alive = 0, 0
    rank = next_rank(ranks, -1)
    while rank >= 0:
        c = heads[rank]
        while c != NONE:
            order[size] = c
            size += 1
            c = classes[c, NEXT]
        if table.logs[rank] >= highest - spread:
            alive = size
        rank = next_rank(ranks, rank)
    return max(alive, 1)


@bare_inner
def _schedule(classes, games, order, numbers, last, alive, wanted):
    """Note the queries of a round: about `wanted` for each class that is alive."""
    n = classes.shape[0]
    for c in range(n):
        classes[c, SCHEDULED] = 0
    asked = numbers[ASKED]
    for place in range(alive):
        i = order[place]
        if classes[i, SCHEDULED] >= wanted:
            continue
        numbers[MARK] += 1
        entry = classes[i, LAST]
        while entry != NONE:
            classes[games[entry, 0], MET] = numbers[MARK]
            entry = games[entry, 1]
        other = place + 1
        while other < n and classes[i, SCHEDULED] < wanted and asked < last:
            j = order[other]
            other += 1
            if classes[j, SCHEDULED] >= wanted or classes[j, MET] == numbers[MARK]:
                continue
            entry = 2 * asked
            games[entry, 0], games[entry, 1] = j, classes[i, LAST]
            games[entry + 1, 0], games[entry + 1, 1] = i, classes[j, LAST]
            classes[i, LAST], classes[j, LAST] = entry, entry + 1
            classes[i, SCHEDULED] += 1
            classes[j, SCHEDULED] += 1
            asked += 1
    numbers[ASKED] = asked


@bare_inner
def _size_round(decoder, n, alive, rounds, asked, best, others):
    """Return how many classes to ask about, with so many rounds left, the queries for each, and the most in all."""
    step = alive ** (0.5 / rounds)  # the growth of that number from round to round, if 1 class is alive at the end
    whole = np.sqrt(alive)
    part = (step - 1.0) / (whole - 1.0) if alive > 1 else 1.0 / rounds
    missing = decoder.stop * others / ((1.0 - decoder.stop) * best) if decoder.stop < 1.0 else np.inf
    usual = decoder.share * np.sqrt(n / alive)
    wanted = max(usual, part * np.log(max(missing, 1.0)) / decoder.information)
    part = (1.0 - 1.0 / step) / (1.0 - 1.0 / whole) if alive > 1 else 1.0 / rounds
    affordable = part * (decoder.most - asked)
    if LEAST_PART * usual > 2.0 * affordable / alive:
        fewer = (2.0 * affordable / (LEAST_PART * decoder.share)) ** 2 / n
        alive = min(max(np.int64(min(fewer * (1.0 + ROUNDING), n)), 2), alive)
    wanted = min(wanted, 2.0 * affordable / alive, n - 1.0)
    return alive, max(np.int64(wanted * (1.0 + ROUNDING)), 1), max(np.int64(affordable * (1.0 + ROUNDING)), 1)


@bare_inner
def _open_round(decoder, state):
    """Rank the classes and note the queries of the next round: none where the decoder is done."""
    numbers, totals = state.numbers, state.totals
    alive = _rank_classes(
        state.classes, state.heads, state.ranks, state.order, decoder.table, decoder.spread, state.totals
    )
    numbers[BEST] = state.order[0]
    numbers[FIRST] = numbers[ASKED]
    best, others = totals[BEST_WEIGHT], totals[OTHER_WEIGHTS]
    sure = (1.0 - decoder.stop) * best * (1.0 + ROUNDING) >= decoder.stop * others
    left = decoder.rounds - numbers[ROUNDS]
    if not sure and left > 0:
        alive, wanted, size = _size_round(decoder, state.labels.size, alive, left, numbers[ASKED], best, others)
        last = min(numbers[ASKED] + size, decoder.most)
        _schedule(state.classes, state.games, state.order, numbers, last, alive, wanted)
    numbers[ROUNDS] += 1


def _allocate(decoder, n):
    ranks = decoder.table.logs.size
    return PosteriorRoundsState(
        np.empty((n, 6), np.int32),
        np.empty((2 * decoder.most, 2), np.int32),
        np.empty(ranks, np.int32),
        np.empty(rank_words(ranks), np.uint64),
        np.empty(n, np.int32),
        np.zeros(8, np.int64),
        np.zeros(2),
        np.empty(n, np.int64),
    )


def _begin(decoder, state, key):
    deal(state.labels, True, key)
    classes = state.classes
    for c in range(classes.shape[0]):
        classes[c, WINS] = classes[c, LOSSES] = classes[c, MET] = 0
        classes[c, LAST] = NONE
    state.numbers[ASKED] = state.numbers[ROUNDS] = state.numbers[MARK] = 0
    _open_round(decoder, state)


def _round_size(decoder, state):
    return state.numbers[ASKED] - state.numbers[FIRST]


def _pair(decoder, state, k):
    entry = 2 * (state.numbers[FIRST] + k)
    return state.labels[state.games[entry + 1, 0]], state.labels[state.games[entry, 0]]


def _record(decoder, state, k, i, j, i_wins):
    entry = 2 * (state.numbers[FIRST] + k)
    first, second = state.games[entry + 1, 0], state.games[entry, 0]
    state.classes[first, WINS] += i_wins
    state.classes[first, LOSSES] += 1 - i_wins
    state.classes[second, LOSSES] += i_wins
    state.classes[second, WINS] += 1 - i_wins


def _finish_round(decoder, state):
    _open_round(decoder, state)


def _winner(decoder, state):
    return state.labels[state.numbers[BEST]]


def _confidence(decoder, state):
    return state.totals[BEST_WEIGHT] / (state.totals[BEST_WEIGHT] + state.totals[OTHER_WEIGHTS])


def _probabilities(decoder, state, out):
    win, loss = decoder.table.win, decoder.table.loss
    write_probabilities(win, loss, state.classes, state.labels.size, state.labels, out)


define_decoder(
    PosteriorRoundsKernel,
    allocate=_allocate,
    begin=_begin,
    round_size=_round_size,
    pair=_pair,
    record=_record,
    finish_round=_finish_round,
    winner=_winner,
    confidence=_confidence,
    probabilities=_probabilities,
)
