"""Scores of whole tournaments for a slab of trials at once, in bit-sliced counters.

A class's score in 64 * LANES trials is a stack of slices: slice s holds bit s of the score, one bit per trial. Pairs
are visited in tiles of 16 x 16; the 16 answers of a class in a tile are added by a tree of carry-save adders, whose
one carry of weight 16 waits ("pending") until a second one comes: so every level is touched half as often as the
one below it, and a pair costs about two full adders in all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pairsim.kernels.adders import add_lost, add_won
from pairsim.kernels.bits import ALL, LANES, U_LANES, aligned_words, write_slab_keys
from pairsim.kernels.jit import bare_inner, bare_jit, inline_always
from pairsim.kernels.stream import GOLDEN, ONE, ZERO, mix_spread, place, spread
from pairsim.kernels.tiles import (
    ALL_ROWS,
    TILE,
    Scratch,
    fair_rows,
    fill_other_rows,
    fill_row,
    fill_tile,
    mirror_tile,
    own_scratch,
)
from pairsim.kernels.vectors import U_WIDTH, load, majority, parity, repeat, store

FIRST_PENDING = 4  # a tile's carry weighs 16 = 2**4
ROW_STRIDE = np.uint64(LANES)
COLUMN_STRIDE = np.uint64(TILE * LANES)
U_TILE = np.uint64(TILE)
FIRST_WAITING = np.uint64(FIRST_PENDING * LANES)
STEPS = np.arange(TILE, dtype=np.uint64) * GOLDEN  # from place(i, j) to place(i, j + k)


class Slab(NamedTuple):
    """Counters of n classes in one slab of trials."""

    counters: np.ndarray  # uint64[padded n * slices * LANES]
    pending: np.ndarray  # the same shape: carries that wait for a second one
    added: np.ndarray  # uint64[padded n]: tiles added to a class, whose bits say which levels have a pending carry
    slices: int


def slice_count(n):
    """Return the slices that a counter needs so that no carry is lost: scores below n, and room for the tree."""
    slices = FIRST_PENDING + 1
    tiles = (n + TILE - 1) // TILE + 1
    while tiles > 0:
        slices += 1
        tiles //= 2
    return slices


def new_slab(n):
    """Return empty counters for n classes."""
    padded = (n + TILE - 1) // TILE * TILE + TILE  # one tile more: the grid may start at class 1
    slices = slice_count(n)
    size = padded * slices * LANES
    return Slab(aligned_words(size), aligned_words(size), np.zeros(padded, np.uint64), slices)


@inline_always
def _settle_carry(counters, pending, at, added, carry):
    """Add a carry of weight 16 to the counter at `at`: pair it with pending ones, level by level, to a free place."""
    at += FIRST_WAITING
    while added & ONE:
        have, other = load(counters, at), load(pending, at)
        store(counters, at, parity(have, other, carry))
        carry = majority(have, other, carry)
        at += U_LANES
        added >>= ONE
    store(pending, at, carry)


@inline_always
def _add_to_class(tile, start, stride, lost, slab, c, half):
    """Add 16 answers that lie `stride` apart in a tile to class c; its second half of words counts them as added."""
    counters = slab.counters
    at = np.uint64(c) * np.uint64(slab.slices) * U_LANES + half
    carry = add_lost(tile, start, stride, counters, at) if lost else add_won(tile, start, stride, counters, at)
    waiting = slab.added[c]
    slab.added[c] = waiting + np.uint64(half > ZERO)
    _settle_carry(counters, slab.pending, at, waiting, carry)


@bare_inner
def _write_places(low, high, places):
    """Write where the pairs of a tile lie in the stream, spread."""
    for a in range(TILE):
        first = repeat(place(low + a, high))
        for part in range(ZERO, U_TILE, U_WIDTH):
            store(places, np.uint64(a) * U_TILE + part, spread(first + load(STEPS, part)))


@bare_inner
def _play_tile(low, high, fair, scratch, slab):
    """Play classes low .. low + 15 against high .. high + 15, whose rows are fair coins where `fair` has a bit.

    Fair rows are added to the lower classes while they are drawn, the others are in `scratch.tile` already. The higher
    classes are added from what was drawn: half of the words at a time, which the fastest cache holds.
    """
    drawn, places = scratch.drawn, scratch.places
    _write_places(low, high, places)
    for half in range(ZERO, U_LANES, U_WIDTH):
        key = load(scratch.digits, half)
        for a in range(TILE):
            row = np.uint64(a) * U_TILE
            if fair >> np.uint64(a) & ONE:
                for b in range(U_TILE):
                    store(drawn, (row + b) * U_WIDTH, mix_spread(places[row + b] ^ key))
            else:
                for b in range(U_TILE):
                    store(drawn, (row + b) * U_WIDTH, load(scratch.tile, (row + b) * U_LANES + half))
            _add_to_class(drawn, row * U_WIDTH, U_WIDTH, True, slab, low + a, half)
        for b in range(TILE):
            _add_to_class(drawn, np.uint64(b) * U_WIDTH, U_TILE * U_WIDTH, False, slab, high + b, half)


@bare_inner
def _play_fair_corner(low, scratch, slab):
    """Play classes low .. low + 15 against each other, all of them fair coins."""
    drawn, places = scratch.drawn, scratch.places
    _write_places(low, low, places)
    for half in range(ZERO, U_LANES, U_WIDTH):
        key = load(scratch.digits, half)
        for a in range(U_TILE):
            store(drawn, (a * U_TILE + a) * U_WIDTH, repeat(ALL))
            for b in range(a + ONE, U_TILE):
                answers = mix_spread(places[a * U_TILE + b] ^ key)
                store(drawn, (a * U_TILE + b) * U_WIDTH, answers)
                store(drawn, (b * U_TILE + a) * U_WIDTH, answers ^ ALL)
        for a in range(TILE):
            _add_to_class(drawn, np.uint64(a) * U_TILE * U_WIDTH, U_WIDTH, True, slab, low + a, half)


@bare_inner
def _add_tile(tile, low, high, slab):
    """Add the answers of a tile to the lower classes and, off the diagonal, to the higher ones."""
    for half in range(ZERO, U_LANES, U_WIDTH):
        for a in range(TILE):
            _add_to_class(tile, np.uint64(a) * COLUMN_STRIDE + half, ROW_STRIDE, True, slab, low + a, half)
        if low != high:
            for b in range(TILE):
                _add_to_class(tile, np.uint64(b) * ROW_STRIDE + half, COLUMN_STRIDE, False, slab, high + b, half)


@bare_inner
def _clear(slab):
    """Forget all games; what is pending counts only where `added` says so."""
    for k in range(np.uint64(slab.counters.size)):
        slab.counters[k] = ZERO
    for c in range(np.uint64(slab.added.size)):
        slab.added[c] = ZERO


@bare_inner
def _flush_pending(slab):
    """Add all pending carries, so that the counters alone are the scores."""
    counters, pending = slab.counters, slab.pending
    for c in range(slab.added.size):
        added = slab.added[c]
        slab.added[c] = ZERO
        at = np.uint64(c) * np.uint64(slab.slices) * U_LANES + FIRST_WAITING
        low, high = repeat(ZERO), repeat(ZERO)  # carries of the two halves
        for _ in range(FIRST_PENDING, slab.slices):
            waits = ZERO - (added & ONE)  # all ones where a carry waits
            added >>= ONE
            have, wait = load(counters, at), load(pending, at) & waits
            store(counters, at, parity(have, wait, low))
            low = majority(have, wait, low)
            have, wait = load(counters, at + U_WIDTH), load(pending, at + U_WIDTH) & waits
            store(counters, at + U_WIDTH, parity(have, wait, high))
            high = majority(have, wait, high)
            at += U_LANES


@bare_jit
def _play_slab(oracle, n, first_class, stream, first_word, slab, lanes, *buffers):
    # the scratch comes in pieces: numba takes 3 us to find the type of a NamedTuple that Python passes
    scratch = Scratch(*buffers)
    _clear(slab)
    write_slab_keys(stream, first_word, scratch.words, scratch.digits)
    for low in range(first_class, n, TILE):
        for high in range(low, n, TILE):
            fair = fair_rows(oracle, n, low, high)
            if low == high and fair == ALL_ROWS:
                _play_fair_corner(low, scratch, slab)
            elif low < high and fair != ZERO:
                fill_other_rows(oracle, n, low, high, fair, scratch, lanes)
                _play_tile(low, high, fair, scratch, slab)
            else:
                fill_tile(oracle, n, low, high, scratch, lanes)
                if low == high:
                    mirror_tile(scratch.tile)
                _add_tile(scratch.tile, low, high, slab)
    _flush_pending(slab)


def play_slab(oracle, n, first_class, stream, first_word, slab, lanes):
    """Set `slab` to the games among classes first_class .. n - 1 in the slab of trials that starts at `first_word`.

    `lanes` must be LANES: as an argument it keeps LLVM from unrolling the loops before it can make them vector code.
    """
    _play_slab(oracle, n, first_class, stream, first_word, slab, lanes, *own_scratch())


@bare_inner
def _ripple(counters, at, slices, carry):
    """Add a carry to the counter at `at`, slice after slice."""
    for _ in range(slices):
        have = load(counters, at)
        store(counters, at, have ^ carry)
        carry = carry & have
        at += U_LANES


@bare_jit
def _play_class_zero(oracle, n, stream, first_word, others, slab, answers, lanes, *buffers):
    scratch = Scratch(*buffers)
    row, counters = scratch.tile, slab.counters
    for k in range(np.uint64(counters.size)):
        counters[k] = others.counters[k]
    write_slab_keys(stream, first_word, scratch.words, scratch.digits)
    for high in range(1, n, TILE):
        fill_row(oracle, n, high, scratch, lanes)
        for half in range(ZERO, U_LANES, U_WIDTH):
            carry = add_lost(row, half, ROW_STRIDE, counters, half)
            _ripple(counters, FIRST_WAITING + half, slab.slices - FIRST_PENDING, carry)
            for j in range(high, min(high + TILE, n)):
                won = load(row, np.uint64(j - high) * U_LANES + half)
                _ripple(counters, np.uint64(j * slab.slices) * U_LANES + half, slab.slices, won)
        for j in range(high, min(high + TILE, n)):
            for w in range(U_LANES):
                answers[w, j] = row[np.uint64(j - high) * U_LANES + w]


def play_class_zero(oracle, n, stream, first_word, others, slab, answers, lanes):
    """Set `slab` to `others` (games of classes 1 .. n - 1) plus the games of class 0.

    Their answers are written, too, answers[word, j]: bit 1 where class j beats class 0.
    """
    _play_class_zero(oracle, n, stream, first_word, others, slab, answers, lanes, *own_scratch())
