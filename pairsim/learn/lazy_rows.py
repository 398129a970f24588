"""Decoders on trained models in compiled code: a margin is computed when its pair is asked about, and not before."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pairsim.kernels.drive import DISTINCT, QUERIES, ROUNDS
from pairsim.kernels.jit import inner, jit
from pairsim.kernels.protocol import ORACLES, OracleFunctions, begin, finish_round, low_wins, pair, record
from pairsim.kernels.protocol import round_size as size_of_round
from pairsim.kernels.protocol import winner as named_by
from pairsim.kernels.seen import add_pair
from pairsim.kernels.stream import draw_key


class LinearRows(NamedTuple):
    """Data points and a hyperplane a pair; `doubt` marks rows of which rounding could change a vote that was asked."""

    points: np.ndarray  # float64[rows, features]
    coef: np.ndarray  # float64[pairs, features]
    intercept: np.ndarray  # float64[pairs]
    row_error: np.ndarray  # float64[rows]
    pair_error: np.ndarray  # float64[pairs]
    base_error: np.ndarray  # float64[pairs]
    doubt: np.ndarray  # uint8[rows]
    n: int


class KernelRows(NamedTuple):
    """Kernel values of data points with all support vectors, and their coefficients, class by class."""

    values: np.ndarray  # float64[rows, vectors]
    dual: np.ndarray  # float64[n - 1, vectors]
    borders: np.ndarray  # int64[n + 1]
    intercept: np.ndarray
    row_error: np.ndarray
    pair_error: np.ndarray
    base_error: np.ndarray
    doubt: np.ndarray
    n: int


def _dot(a, b):
    total = 0.0
    for k in range(a.size):
        total += a[k] * b[k]
    return total


# any order of adding is within the error that the rows are checked for, so the compiler may choose the fastest
dot = inner(_dot, fastmath={"reassoc", "contract", "nsz"})


def _settle(oracle, row, k, margin):
    if not abs(margin) > oracle.row_error[row] * oracle.pair_error[k] + oracle.base_error[k]:
        oracle.doubt[row] = 1
    return margin > 0.0


settle = inner(_settle)


def _linear_low_wins(oracle, trial, i, j):
    row = trial.position[0]
    k = (2 * oracle.n - i - 1) * i // 2 + j - i - 1
    return settle(oracle, row, k, dot(oracle.points[row], oracle.coef[k]) + oracle.intercept[k])


def _kernel_low_wins(oracle, trial, i, j):
    row = trial.position[0]
    k = (2 * oracle.n - i - 1) * i // 2 + j - i - 1
    values = oracle.values[row]
    low, low_end = oracle.borders[i], oracle.borders[i + 1]
    high, high_end = oracle.borders[j], oracle.borders[j + 1]
    margin = dot(values[low:low_end], oracle.dual[j - 1, low:low_end])
    margin += dot(values[high:high_end], oracle.dual[i, high:high_end])
    return settle(oracle, row, k, margin + oracle.intercept[k])


ORACLES[LinearRows] = OracleFunctions(_linear_low_wins, None)
ORACLES[KernelRows] = OracleFunctions(_kernel_low_wins, None)


@jit
def decode_rows(oracle, decoder, state, trial, pairs, key, winners, prices):
    """Decode every row; write each winner and its [queries, distinct, rounds].

    The decoder's own draws are the same for every row, so that an answer does not depend on the rows around it.
    `pairs` is a set to count different pairs with, or has no room when the decoder never asks one twice.
    """
    for row in range(winners.size):
        trial.position[0] = row
        begin(decoder, state, key)
        pairs[:] = np.uint64(0)
        size = size_of_round(decoder, state)
        while size > 0:
            for k in range(size):
                i, j = pair(decoder, state, k)
                i_wins = low_wins(oracle, trial, i, j) if i < j else not low_wins(oracle, trial, j, i)
                record(decoder, state, k, i, j, i_wins)
                if pairs.size > 1:
                    prices[row, DISTINCT] += add_pair(pairs, i, j)
            prices[row, QUERIES] += size
            prices[row, ROUNDS] += 1
            finish_round(decoder, state)
            size = size_of_round(decoder, state)
        winners[row] = named_by(decoder, state)
        if pairs.size <= 1:
            prices[row, DISTINCT] = prices[row, QUERIES]


@jit
def first_draws(stream):
    """Return the key of the decoder's own draws, the same for every row."""
    return draw_key(stream, 0)
