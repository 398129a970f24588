"""Recorded answers: the share of the rows that a decoder gets right, its own draws averaged out exactly.

The answers are what they are, so all probability is the decoder's: a fair draw among the tied, the opponents that a
poll asks, the order of an adag or ddag. The mean over the rows is exact for these rows; what it says of other rows of
the kind, the interval tells.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pairsim.decoders import Adag, Ddag, Decoder, MaxWin, Poll
from pairsim.decoders.sample_size import sample_size
from pairsim.exact_values import random_orders
from pairsim.exact_values.budget import BUDGET, check_work
from pairsim.exact_values.lanes import poll_lanes
from pairsim.exact_values.providers import EXACT_ROWS, listed
from pairsim.exact_values.result import unavailable
from pairsim.exact_values.scores import table_work
from pairsim.kernels.driver import decode_trials
from pairsim.kernels.stream import stream_key
from pairsim.oracles import Recorded
from pairsim.stats import Moments, bounded_interval

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ROWS_AT_A_TIME = 64  # so that the lanes of a piece stay in the processor's cache
SET_STEP = 3.0  # units of work a set of classes and two of them, and
ROW_STEP = 4e5  # units to begin with a row: measured
ON_ROWS = "the mean over {} recorded rows"


def on_rows(oracle: Recorded, decoder: Decoder) -> tuple[Floats, str]:
    """Return the probability of the true class in each row, and how it was found."""
    solve = EXACT_ROWS.of(decoder)
    if solve is None:
        must_be = f"{listed(EXACT_ROWS)} on recorded rows (use simulate, which replays every row)"
        raise unavailable("decoder", must_be, decoder.spec)
    return solve(oracle, decoder), ON_ROWS.format(oracle.rows)


def interval_of(probabilities: Floats, confidence: float) -> tuple[float, float]:
    """Return an interval for the mean probability of all rows of the kind that these are a sample of."""
    mean = float(probabilities.mean())
    apart = probabilities - mean
    return bounded_interval(
        Moments(len(probabilities), mean, float((apart**2).sum()), float((apart**3).sum())), confidence
    )


def tournaments(oracle: Recorded, first: int, count: int) -> NDArray[np.bool_]:
    """Return who beats whom in some rows: [row, i, j] says whether i wins against j."""
    n = oracle.n
    bits = oracle.bits[first : first + count]
    low_wins = np.unpackbits(bits, axis=1, count=n * (n - 1) // 2, bitorder="little").astype(np.bool_)
    beats = np.zeros((len(bits), n, n), np.bool_)
    low, high = np.triu_indices(n, 1)
    beats[:, low, high] = low_wins
    beats[:, high, low] = ~low_wins
    return beats


def all_scores(oracle: Recorded) -> Ints:
    """Return how many others each class beats, row by row."""
    pieces = range(0, oracle.rows, ROWS_AT_A_TIME)
    return np.concatenate([tournaments(oracle, first, ROWS_AT_A_TIME).sum(axis=2) for first in pieces])


@EXACT_ROWS.register(MaxWin)
def max_win(oracle: Recorded, decoder: MaxWin) -> Floats:
    """Return the probability of the true class in each row: on top, and there as the ties have it."""
    scores = all_scores(oracle)
    on_top = scores == scores.max(axis=1, keepdims=True)
    truth = oracle.truth(0, oracle.rows)
    is_top = on_top[np.arange(oracle.rows), truth]
    if decoder.ties == "first":
        return np.asarray(on_top.argmax(axis=1) == truth, np.float64)
    tied = on_top.sum(axis=1)
    return np.asarray(is_top * (tied == 1) if decoder.ties == "lose" else is_top / tied, np.float64)


@EXACT_ROWS.register(Poll)
def poll(oracle: Recorded, decoder: Poll) -> Floats:
    """Return the probability of the true class in each row; given the scores, samples are independent binomials."""
    n, l = oracle.n, sample_size(decoder.l, oracle.n)

    nodes = (n + 1) // 2 if decoder.ties == "random" else 1
    if table_work(n, l) + 2.0 * oracle.rows * n * (l + 1) * nodes > BUDGET:
        must_be = "cheaper on so many rows and classes (use simulate, which replays every row)"
        raise unavailable("decoder", must_be, f"{decoder.spec} on {oracle.rows} rows of {n} classes")
    start, keep, _ = poll_lanes(n, l, decoder.ties)
    # by number first: who comes before the true class must stay below it, as if a tie were lost
    before = poll_lanes(n, l, "lose").keep if decoder.ties == "first" else keep
    scores, truth = all_scores(oracle), oracle.truth(0, oracle.rows)
    probabilities = np.empty(oracle.rows)
    for first in range(0, oracle.rows, ROWS_AT_A_TIME):
        piece = slice(first, first + ROWS_AT_A_TIME)
        mine = scores[piece]
        lanes = start[n - 1 - mine[np.arange(len(mine)), truth[piece]]]  # b losses are a score of n - 1 - b
        for j in range(n):
            rival = np.where(np.less(j, truth[piece])[:, None], before[mine[:, j]], keep[mine[:, j]])
            lanes = np.where(np.equal(j, truth[piece])[:, None], lanes, lanes * rival)
        probabilities[piece] = lanes.sum(axis=1)
    return probabilities


@EXACT_ROWS.register(Adag)
def adag(oracle: Recorded, decoder: Adag) -> Floats:
    """Return the probability of the true class in each row under adag."""
    given = decoder.order == "given"
    return replay(oracle, decoder) if given else random_order(oracle, decoder, random_orders.adag_random_order)


@EXACT_ROWS.register(Ddag)
def ddag(oracle: Recorded, decoder: Ddag) -> Floats:
    """Return the probability of the true class in each row under ddag."""
    given = decoder.order == "given"
    return replay(oracle, decoder) if given else random_order(oracle, decoder, random_orders.ddag_random_order)


def replay(oracle: Recorded, decoder: Decoder) -> Floats:
    """Return 1 where a decoder that draws nothing names the true class, else 0."""
    winners, cost = np.empty(oracle.rows, np.int64), np.zeros(3, np.int64)
    decode_trials(
        oracle.kernel(), decoder.kernel(oracle.n), oracle.n, stream_key(0, oracle.n), 0, 0, winners, cost, np.empty(0)
    )
    return np.asarray(winners == oracle.truth(0, oracle.rows), np.float64)


def random_order(oracle: Recorded, decoder: Decoder, solve: Callable[[Floats], tuple[float, float]]) -> Floats:
    """Return the true class's probability in each row, averaged over all orders; equal rows are computed once."""
    truth = oracle.truth(0, oracle.rows)
    named = np.column_stack((oracle.bits, truth.astype("<i8")[:, None].view(np.uint8)))
    _, rows, place = np.unique(named, axis=0, return_index=True, return_inverse=True)

    def work(n: int) -> float:
        return len(rows) * (ROW_STEP + SET_STEP * 2.0**n * n * n)

    check_work(decoder.spec, oracle.label, oracle.n, work)
    probabilities = np.empty(len(rows))
    for k, row in enumerate(rows.tolist()):
        (beats,) = tournaments(oracle, row, 1)
        order = [truth[row], *(j for j in range(oracle.n) if j != truth[row])]
        matrix = beats[np.ix_(order, order)].astype(np.float64)
        np.fill_diagonal(matrix, 0.5)
        probabilities[k] = solve(matrix)[0]
    return probabilities[place.ravel()]
