"""The answers of 16 x 16 pairs in a slab of trials: class low + a against class high + b at row a, column b."""

from __future__ import annotations

import threading
from typing import NamedTuple

import numpy as np
from numba.extending import overload

from pairsim.kernels.bits import (
    ALL,
    LANES,
    SLAB_DIGITS,
    SLAB_TRIALS,
    U_LANES,
    aligned_words,
    biased_words,
    fair_words,
    split_digits,
)
from pairsim.kernels.jit import BARE_INNER, bare_inner
from pairsim.kernels.protocol import ORACLES, probability
from pairsim.kernels.stream import ONE, TRIALS_PER_WORD, ZERO, mix_spread, place, spread
from pairsim.kernels.vectors import WIDTH

TILE = 16
ALL_ROWS = np.uint64((1 << TILE) - 1)
SLICE_1, SLICE_2, SLICE_3 = np.uint64(LANES), np.uint64(2 * LANES), np.uint64(3 * LANES)


class Scratch(NamedTuple):
    """Room for the work on one slab; nothing is expected in it."""

    words: np.ndarray  # uint64[LANES]: keys of the words
    digits: np.ndarray  # uint64[SLAB_DIGITS * LANES]: their digit keys, spread
    tile: np.ndarray  # uint64[TILE * TILE * LANES]: answers
    undecided: np.ndarray  # uint64[LANES]
    places: np.ndarray  # uint64[TILE * TILE]: the pairs of a tile, spread
    drawn: np.ndarray  # uint64[TILE * TILE * WIDTH]: answers in some of the words
    probabilities: np.ndarray  # float64[TILE]
    strengths: np.ndarray  # float64[2 * TILE * SLAB_TRIALS]: of the rows' classes, then of the columns'
    bins: np.ndarray  # uint64[TRIALS_PER_WORD]
    marks: np.ndarray  # uint64[2 * TRIALS_PER_WORD]


_kept = threading.local()


def own_scratch():
    """Return this thread's room; made by Python and kept, as a kernel that makes arrays takes longer to compile."""
    if not hasattr(_kept, "scratch"):
        _kept.scratch = Scratch(
            words=aligned_words(LANES),
            digits=aligned_words(SLAB_DIGITS * LANES),
            tile=aligned_words(TILE * TILE * LANES),
            undecided=aligned_words(LANES),
            places=aligned_words(TILE * TILE),
            drawn=aligned_words(TILE * TILE * WIDTH),
            probabilities=np.empty(TILE),
            strengths=np.empty(2 * TILE * SLAB_TRIALS),
            bins=aligned_words(TRIALS_PER_WORD),
            marks=aligned_words(2 * TRIALS_PER_WORD),
        )
    return _kept.scratch


@bare_inner
def _is_fair(oracle, n, low, rows, high):
    """Say whether the pairs i < j of classes low .. low + rows - 1 with high .. high + 15 are all fair coins."""
    for i in range(low, low + rows):
        fair = True  # row by row: without a branch in it, the inner loop vanishes for an oracle that ignores j
        for j in range(max(high, i + 1), min(high + TILE, n)):
            fair &= probability(oracle, i, j) == 0.5
        if not fair:
            return False
    return True


@bare_inner
def _no_rows(oracle, n, low, high):
    return ZERO


@bare_inner
def _fair_rows(oracle, n, low, high):
    if high + TILE > n or not _is_fair(oracle, n, low + TILE - 2, 1, high):  # where that one is not, few are
        return ZERO
    rows = ZERO
    for a in range(TILE):
        rows |= np.uint64(_is_fair(oracle, n, low + a, 1, high)) << np.uint64(a)
    return rows


def fair_rows(oracle, n, low, high):
    """Return which of the classes low .. low + 15 play only fair coins against high .. high + 15, as bits.

    None where the tile is not full, where hardly any do, or where the oracle's probabilities differ between trials.
    """
    return (_no_rows if ORACLES[type(oracle)].fill else _fair_rows)(oracle, n, low, high)


@overload(fair_rows, jit_options=BARE_INNER)
def _overload_fair_rows(oracle, n, low, high):
    return _no_rows if ORACLES[oracle.instance_class].fill else _fair_rows


@bare_inner
def fill_fair(low, high, first_row, rows, digits, tile, lanes):
    """Write fair pairs in some rows of a tile, four pairs at a time, which keeps the multipliers busy.

    Nothing is checked in between: in a tile on the diagonal, words that are no pair are written too, and mirrored over.
    """
    for a in range(first_row, first_row + rows):
        for b in range(0, TILE, 4):
            i, j = low + a, high + b
            p0, p1 = spread(place(i, j)), spread(place(i, j + 1))
            p2, p3 = spread(place(i, j + 2)), spread(place(i, j + 3))
            at = np.uint64(a * TILE + b) * U_LANES
            for w in range(lanes):
                key = digits[w]
                tile[at + w] = mix_spread(p0 ^ key)
                tile[at + SLICE_1 + w] = mix_spread(p1 ^ key)
                tile[at + SLICE_2 + w] = mix_spread(p2 ^ key)
                tile[at + SLICE_3 + w] = mix_spread(p3 ^ key)


@bare_inner
def fill_mixed(oracle, n, i, high, row, scratch, lanes):
    """Write class i's pairs, of any probabilities, to a row of a tile; these first, so that none is waited for."""
    probabilities = scratch.probabilities
    words, digits, tile, undecided = scratch.words, scratch.digits, scratch.tile, scratch.undecided
    first = max(0, i + 1 - high)
    last = min(TILE, n - high)
    for b in range(first, last):
        probabilities[b] = probability(oracle, i, high + b)
    for b in range(first, last):
        at = np.uint64(row * TILE + b) * U_LANES
        if probabilities[b] == 0.5:
            fair_words(place(i, high + b), digits, tile, at, lanes)
        else:
            top, rest = split_digits(probabilities[b])
            biased_words(top, rest, place(i, high + b), words, digits, tile, at, undecided, lanes)


@bare_inner
def _fill_others(oracle, n, low, high, fair, scratch, lanes):
    if fair != ALL_ROWS:
        for a in range(TILE):
            if not fair >> np.uint64(a) & ONE:
                fill_mixed(oracle, n, low + a, high, a, scratch, lanes)


@bare_inner
def _fill_none(oracle, n, low, high, fair, scratch, lanes):
    pass


def fill_other_rows(oracle, n, low, high, fair, scratch, lanes):
    """Write the rows of a tile that `fair_rows` did not find."""
    return (_fill_none if ORACLES[type(oracle)].fill else _fill_others)(oracle, n, low, high, fair, scratch, lanes)


@overload(fill_other_rows, jit_options=BARE_INNER)
def _overload_fill_other_rows(oracle, n, low, high, fair, scratch, lanes):
    return _fill_none if ORACLES[oracle.instance_class].fill else _fill_others


@bare_inner
def fill_drawn(oracle, n, low, rows, high, scratch, lanes):
    """Write the answers of classes low .. low + rows - 1 against high .. high + 15; each pair has one probability."""
    if _is_fair(oracle, n, low, rows, high):
        fill_fair(low, high, 0, rows, scratch.digits, scratch.tile, lanes)
    else:
        for a in range(rows):
            if _is_fair(oracle, n, low + a, 1, high):
                fill_fair(low, high, a, 1, scratch.digits, scratch.tile, lanes)
            else:
                fill_mixed(oracle, n, low + a, high, a, scratch, lanes)


def fill_pairs(oracle, n, low, rows, high, scratch, lanes):
    """Write the answers of classes low .. low + rows - 1 against high .. high + 15, those with i < j."""
    return (ORACLES[type(oracle)].fill or fill_drawn)(oracle, n, low, rows, high, scratch, lanes)


@overload(fill_pairs, jit_options=BARE_INNER)
def _fill_pairs(oracle, n, low, rows, high, scratch, lanes):
    return ORACLES[oracle.instance_class].fill or fill_drawn


@bare_inner
def _blank_columns(rows, first, tile):
    """Set columns `first` .. 15 of a tile, which are past the last class, so that nobody wins there."""
    for a in range(rows):
        for b in range(first, TILE):
            at = np.uint64(a * TILE + b) * U_LANES
            for w in range(U_LANES):
                tile[at + w] = ALL


@bare_inner
def fill_row(oracle, n, high, scratch, lanes):
    """Write the answers of class 0 against high .. high + 15 to the first row."""
    fill_pairs(oracle, n, 0, 1, high, scratch, lanes)
    if high + TILE > n:
        _blank_columns(1, n - high, scratch.tile)


@bare_inner
def fill_tile(oracle, n, low, high, scratch, lanes):
    """Write the answers of classes low .. low + 15 against high .. high + 15, those with i < j."""
    fill_pairs(oracle, n, low, TILE, high, scratch, lanes)
    if high + TILE > n:
        _blank_columns(TILE, n - high, scratch.tile)


@bare_inner
def mirror_tile(tile):
    """Complete a tile on the diagonal: row a, column b < a says the opposite of row b, column a."""
    for a in range(TILE):
        for b in range(a):
            here = np.uint64(a * TILE + b) * U_LANES
            there = np.uint64(b * TILE + a) * U_LANES
            for w in range(U_LANES):
                tile[here + w] = ~tile[there + w]
        here = np.uint64(a * TILE + a) * U_LANES
        for w in range(U_LANES):
            tile[here + w] = ALL
