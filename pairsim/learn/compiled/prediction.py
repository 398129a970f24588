"""Decoders on trained models in compiled code: a margin is computed when its pair is asked about, and not before."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import overload

from pairsim.kernels.driver import DISTINCT, QUERIES, ROUNDS
from pairsim.kernels.jit import INNER, bare_inner, inline_always, inner, jit
from pairsim.kernels.pair_set import add_pair
from pairsim.kernels.protocol import ORACLES, OracleFunctions, begin, finish_round, pair, record
from pairsim.kernels.protocol import round_size as size_of_round
from pairsim.kernels.protocol import winner as named_by
from pairsim.kernels.stream import ZERO, draw_key


class LinearRows(NamedTuple):
    """Data points and a hyperplane per pair; `doubt` marks rows where rounding could change a vote that was asked."""

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


def _dot_row(points, row, coef, k):
    total = 0.0
    for f in range(np.uint64(coef.shape[1])):
        total += points[row, f] * coef[k, f]
    return total


def _dot_part(values, row, dual, column, first, last):
    total = 0.0
    for v in range(first, last):
        total += values[row, v] * dual[column, v]
    return total


# any order of adding is within the error that the rows are checked for, so the compiler may choose the fastest; rows
# are indexed and not cut out, or every cut would count a reference
dot_row = inner(_dot_row, _nrt=False, fastmath={"reassoc", "contract", "nsz"})
dot_part = inner(_dot_part, _nrt=False, fastmath={"reassoc", "contract", "nsz"})


def _settle(oracle, row, k, margin):
    if not abs(margin) > oracle.row_error[row] * oracle.pair_error[k] + oracle.base_error[k]:
        oracle.doubt[row] = 1
    return margin > 0.0


settle = bare_inner(_settle)


def _linear_low_wins(oracle, trial, i, j):
    row = np.uint64(trial.position[0])
    k = np.uint64((2 * oracle.n - i - 1) * i // 2 + j - i - 1)
    return settle(oracle, row, k, dot_row(oracle.points, row, oracle.coef, k) + oracle.intercept[k])


def _kernel_low_wins(oracle, trial, i, j):
    row = np.uint64(trial.position[0])
    k = np.uint64((2 * oracle.n - i - 1) * i // 2 + j - i - 1)
    low, low_end = np.uint64(oracle.borders[i]), np.uint64(oracle.borders[i + 1])
    high, high_end = np.uint64(oracle.borders[j]), np.uint64(oracle.borders[j + 1])
    margin = dot_part(oracle.values, row, oracle.dual, np.uint64(j - 1), low, low_end)
    margin += dot_part(oracle.values, row, oracle.dual, np.uint64(i), high, high_end)
    return settle(oracle, row, k, margin + oracle.intercept[k])


ORACLES[LinearRows] = OracleFunctions(_linear_low_wins, None)
ORACLES[KernelRows] = OracleFunctions(_kernel_low_wins, None)


def _low_wins(oracle, trial, i, j):
    return ORACLES[type(oracle)].low_wins(oracle, trial, i, j)


@overload(_low_wins, inline="always", jit_options=INNER)
def _pasted_low_wins(oracle, trial, i, j):
    return ORACLES[oracle.instance_class].low_wins  # pasted: a call would hand over all arrays of the oracle


@inline_always
def first_wins(oracle, trial, i, j):
    """Answer a pair in any order: does i win?"""
    low, high = min(i, j), max(i, j)
    return _low_wins(oracle, trial, low, high) == (i < j)


@jit
def decode_rows(oracle, decoder, state, trial, pairs, key, rows, winners, costs):
    """Decode the rows that are listed; write each one's winner and its [queries, distinct, rounds].

    The decoder's own draws are the same for every row, so that an answer does not depend on the rows around it.
    `pairs` is a set to count different pairs with, or has no room when the decoder never asks one twice.
    """
    for row in rows:
        trial.position[0] = row
        costs[row, QUERIES], costs[row, DISTINCT], costs[row, ROUNDS] = 0, 0, 0
        begin(decoder, state, key)
        for slot in range(pairs.size):
            pairs[slot] = ZERO
        size = size_of_round(decoder, state)
        while size > 0:
            for k in range(size):
                i, j = pair(decoder, state, k)
                record(decoder, state, k, i, j, first_wins(oracle, trial, i, j))
                if pairs.size > 1:
                    costs[row, DISTINCT] += add_pair(pairs, i, j)
            costs[row, QUERIES] += size
            costs[row, ROUNDS] += 1
            finish_round(decoder, state)
            size = size_of_round(decoder, state)
        winners[row] = named_by(decoder, state)
        if pairs.size <= 1:
            costs[row, DISTINCT] = costs[row, QUERIES]


@jit
def first_draws(stream):
    """Return the key of the decoder's own draws, the same for every row."""
    return draw_key(stream, 0)
