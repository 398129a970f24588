"""Scores of whole tournaments for a slab of trials at once, in bit-sliced counters.

A class's score in 64 * LANES trials is a stack of slices: slice s holds bit s of the score, one bit a trial. Pairs
are visited in tiles of 16 x 16; the 16 answers of a class in a tile are added by a tree of carry-save adders, whose
one carry of weight 16 waits ("pending") until a second one comes: so every level is touched half as often as the
one below it, and a pair costs about two full adders in all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pairsim.kernels.bits import ALL, LANES, U_LANES, aligned_words, write_slab_keys
from pairsim.kernels.jit import bare_inner, bare_jit, inline_always
from pairsim.kernels.stream import ONE, ZERO
from pairsim.kernels.tiles import (
    SLICE_1,
    SLICE_2,
    SLICE_3,
    TILE,
    Scratch,
    fill_row,
    fill_tile,
    mirror_tile,
    own_scratch,
)

FIRST_PENDING = 4  # a tile's carry weighs 16 = 2**4
OFFSETS = tuple(np.uint64(k) for k in range(TILE))
ROW_STRIDE = np.uint64(LANES)
COLUMN_STRIDE = np.uint64(TILE * LANES)


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


@bare_inner
def _carry(a, b, c):
    """Return the carry of a + b + c, in terms that it shares with the sum."""
    return (a & b) | ((a ^ b) & c)


@bare_inner
def _sum(a, b, c):
    return (a ^ b) ^ c


@inline_always
def _settle_carry(slab, c, carry, lanes):
    """Add a carry of weight 16 to class c: pair it with a pending one, level by level, until a place is free."""
    at = np.uint64(c) * np.uint64(slab.slices) * U_LANES + np.uint64(FIRST_PENDING) * U_LANES
    added = slab.added[c]
    slab.added[c] = added + ONE
    while added & ONE:
        for w in range(lanes):
            have = slab.counters[at + w]
            other = slab.pending[at + w]
            new = carry[w]
            slab.counters[at + w] = _sum(have, other, new)
            carry[w] = _carry(have, other, new)
        at += U_LANES
        added >>= ONE
    for w in range(lanes):
        slab.pending[at + w] = carry[w]


@inline_always
def _add_sixteen(tile, start, stride, flip, counters, at, carry, lanes):
    """Add 16 answers to the counter at `at`; what overflows slice 3 is left in `carry`.

    Inlined before compilation: the strides must be constants for the loop to become vector code.
    """
    for w in range(lanes):
        o = start + w
        x0 = tile[o] ^ flip
        x1 = tile[o + OFFSETS[1] * stride] ^ flip
        x2 = tile[o + OFFSETS[2] * stride] ^ flip
        x3 = tile[o + OFFSETS[3] * stride] ^ flip
        x4 = tile[o + OFFSETS[4] * stride] ^ flip
        x5 = tile[o + OFFSETS[5] * stride] ^ flip
        x6 = tile[o + OFFSETS[6] * stride] ^ flip
        x7 = tile[o + OFFSETS[7] * stride] ^ flip
        x8 = tile[o + OFFSETS[8] * stride] ^ flip
        x9 = tile[o + OFFSETS[9] * stride] ^ flip
        x10 = tile[o + OFFSETS[10] * stride] ^ flip
        x11 = tile[o + OFFSETS[11] * stride] ^ flip
        x12 = tile[o + OFFSETS[12] * stride] ^ flip
        x13 = tile[o + OFFSETS[13] * stride] ^ flip
        x14 = tile[o + OFFSETS[14] * stride] ^ flip
        x15 = tile[o + OFFSETS[15] * stride] ^ flip
        ones = counters[at + w]
        twos = counters[at + SLICE_1 + w]
        fours = counters[at + SLICE_2 + w]
        eights = counters[at + SLICE_3 + w]
        two_a, ones = _carry(x0, x1, ones), _sum(x0, x1, ones)
        two_b, ones = _carry(x2, x3, ones), _sum(x2, x3, ones)
        four_a, twos = _carry(two_a, two_b, twos), _sum(two_a, two_b, twos)
        two_a, ones = _carry(x4, x5, ones), _sum(x4, x5, ones)
        two_b, ones = _carry(x6, x7, ones), _sum(x6, x7, ones)
        four_b, twos = _carry(two_a, two_b, twos), _sum(two_a, two_b, twos)
        eight_a, fours = _carry(four_a, four_b, fours), _sum(four_a, four_b, fours)
        two_a, ones = _carry(x8, x9, ones), _sum(x8, x9, ones)
        two_b, ones = _carry(x10, x11, ones), _sum(x10, x11, ones)
        four_a, twos = _carry(two_a, two_b, twos), _sum(two_a, two_b, twos)
        two_a, ones = _carry(x12, x13, ones), _sum(x12, x13, ones)
        two_b, ones = _carry(x14, x15, ones), _sum(x14, x15, ones)
        four_b, twos = _carry(two_a, two_b, twos), _sum(two_a, two_b, twos)
        eight_b, fours = _carry(four_a, four_b, fours), _sum(four_a, four_b, fours)
        carry[w] = _carry(eight_a, eight_b, eights)
        counters[at + w] = ones
        counters[at + SLICE_1 + w] = twos
        counters[at + SLICE_2 + w] = fours
        counters[at + SLICE_3 + w] = _sum(eight_a, eight_b, eights)


@bare_jit
def _play_slab(oracle, n, first_class, stream, first_word, slab, lanes, *room):
    # the scratch comes in pieces: numba takes 3 us to find the type of a NamedTuple that Python passes
    scratch = Scratch(*room)
    tile, carry = scratch.tile, scratch.carry
    write_slab_keys(stream, first_word, scratch.words, scratch.digits)
    depth = np.uint64(slab.slices) * U_LANES
    for low in range(first_class, n, TILE):
        for high in range(low, n, TILE):
            fill_tile(oracle, n, low, high, scratch, lanes)
            if low == high:
                mirror_tile(tile)
            for a in range(TILE):
                start = np.uint64(a) * COLUMN_STRIDE
                at = np.uint64(low + a) * depth
                _add_sixteen(tile, start, ROW_STRIDE, ALL, slab.counters, at, carry, lanes)
                _settle_carry(slab, low + a, carry, lanes)
            if low != high:
                for b in range(TILE):
                    start = np.uint64(b) * ROW_STRIDE
                    at = np.uint64(high + b) * depth
                    _add_sixteen(tile, start, COLUMN_STRIDE, ZERO, slab.counters, at, carry, lanes)
                    _settle_carry(slab, high + b, carry, lanes)


def play_slab(oracle, n, first_class, stream, first_word, slab, lanes):
    """Add to `slab` all games among classes first_class .. n - 1 in the slab that starts at `first_word`.

    `lanes` must be LANES: as an argument it keeps LLVM from unrolling the loops before it can make them vector code.
    """
    _play_slab(oracle, n, first_class, stream, first_word, slab, lanes, *own_scratch())


@inline_always
def _flush_class(slab, c, carry):
    """Add class c's pending carries, so that its counter alone is its score."""
    added = slab.added[c]
    slab.added[c] = ZERO
    for w in range(U_LANES):
        carry[w] = ZERO
    for s in range(FIRST_PENDING, slab.slices):
        at = np.uint64(c * slab.slices + s) * U_LANES
        other = ALL if added & ONE else ZERO
        added >>= ONE
        for w in range(U_LANES):
            have = slab.counters[at + w]
            wait = slab.pending[at + w] & other
            slab.counters[at + w] = _sum(have, wait, carry[w])
            carry[w] = _carry(have, wait, carry[w])


@bare_jit
def _flush_pending(slab, carry):
    for c in range(slab.added.size):
        _flush_class(slab, c, carry)


def flush_pending(slab):
    """Add all pending carries, so that the counters alone are the scores."""
    _flush_pending(slab, own_scratch().carry)


def clear_slab(slab):
    """Forget all games."""
    slab.counters[:] = ZERO
    slab.added[:] = ZERO


@bare_inner
def _ripple(counters, at, slices, carry):
    """Add a carry to the counter at `at`, slice after slice."""
    for _ in range(slices):
        for w in range(U_LANES):
            have = counters[at + w]
            counters[at + w] = have ^ carry[w]
            carry[w] &= have
        at += U_LANES


@bare_jit
def _play_class_zero(oracle, n, stream, first_word, slab, lanes, *room):
    scratch = Scratch(*room)
    row, carry = scratch.tile, scratch.carry
    write_slab_keys(stream, first_word, scratch.words, scratch.digits)
    start = np.uint64(0)
    for high in range(1, n, TILE):
        fill_row(oracle, n, high, scratch, lanes)
        _add_sixteen(row, start, ROW_STRIDE, ALL, slab.counters, start, carry, lanes)
        _ripple(slab.counters, np.uint64(FIRST_PENDING) * U_LANES, slab.slices - FIRST_PENDING, carry)
        for j in range(high, min(high + TILE, n)):
            answers = np.uint64(j - high) * U_LANES
            for w in range(U_LANES):
                carry[w] = row[answers + w]
            _ripple(slab.counters, np.uint64(j * slab.slices) * U_LANES, slab.slices, carry)


def play_class_zero(oracle, n, stream, first_word, others, slab, lanes):
    """Set `slab` to `others` (flushed, games of classes 1 .. n - 1) plus the games of class 0."""
    slab.counters[:] = others.counters
    slab.added[:] = ZERO
    _play_class_zero(oracle, n, stream, first_word, slab, lanes, *own_scratch())
