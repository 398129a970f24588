"""Who is on top, read from bit-sliced counters: winners, the size of the tie, and plain scores where needed."""

from __future__ import annotations

import numpy as np

from pairsim.kernels.bits import ALL, LANES, SLAB_TRIALS, U_LANES
from pairsim.kernels.jit import bare_inner, bare_jit
from pairsim.kernels.stream import ONE, TRIALS_PER_WORD, ZERO, draw_below, draw_key
from pairsim.kernels.ties import BY_MAX_WIN, FIRST, LOSE, SETTLE_DRAW
from pairsim.kernels.vectors import U_WIDTH, load, repeat, store

_DE_BRUIJN = 0x03F79D71B4CB0A89  # its 64 shifts begin with 64 different 6-bit numbers: a table finds a lone bit's place
BIT_PLACE = np.zeros(64, np.int64)
for _k in range(64):
    BIT_PLACE[((_DE_BRUIJN << _k) & 0xFFFFFFFFFFFFFFFF) >> 58] = _k
DE_BRUIJN = np.uint64(_DE_BRUIJN)
BYTE = np.uint64(0xFF)
SPREAD = np.array([sum((b >> k & 1) << 8 * k for k in range(8)) for b in range(256)], np.uint64)  # bit k to byte k
SHIFT_58 = np.uint64(58)


@bare_inner
def lowest_bit(word):
    """Return the place of the lowest 1 of a word that is not 0."""
    return BIT_PLACE[((word & (ZERO - word)) * DE_BRUIJN) >> SHIFT_58]


def score_slices(n):
    """Return how many slices the scores of n classes fill; those above are 0."""
    slices = 1
    while 1 << slices < n:
        slices += 1
    return slices


@bare_inner
def _raise_best(counters, at, slices, best, half):
    """Put a class's score, whose lowest slice is at `at`, to `best` in the trials in which it is higher."""
    above, level = repeat(ZERO), repeat(ALL)
    for s in range(slices - ONE, ALL, ALL):  # from the highest slice down to 0; ALL is -1
        have, most = load(counters, at + s * U_LANES), load(best, s * U_LANES + half)
        differ = have ^ most
        above = above | (level & differ & have)
        level = level & (differ ^ ALL)
    for s in range(slices):
        have, most = load(counters, at + s * U_LANES), load(best, s * U_LANES + half)
        store(best, s * U_LANES + half, most ^ ((have ^ most) & above))


@bare_inner
def _mask_equal(counters, at, slices, target, half):
    """Return in which trials a class's score is the one whose slices are in `target`."""
    equal = repeat(ALL)
    for s in range(slices):
        equal = equal & (load(counters, at + s * U_LANES) ^ load(target, s * U_LANES + half) ^ ALL)
    return equal


@bare_inner
def equal_masks(slab, first_class, n, target, masks):
    """Write which classes have the score whose slices are in `target`, one bit per trial."""
    counters, goal, out = slab.counters, target.reshape(-1), masks.reshape(-1)
    slices, depth = np.uint64(target.shape[0]), np.uint64(slab.slices) * U_LANES
    for half in range(ZERO, U_LANES, U_WIDTH):
        for c in range(np.uint64(first_class), np.uint64(n)):
            store(out, c * U_LANES + half, _mask_equal(counters, c * depth + half, slices, goal, half))


@bare_inner
def _top_masks(slab, first_class, n, masks, best):
    """Write which classes have the highest score, one bit per trial, and that score's slices to `best`."""
    highest = best.reshape(-1)
    slices, depth = np.uint64(best.shape[0]), np.uint64(slab.slices) * U_LANES
    for half in range(ZERO, U_LANES, U_WIDTH):
        for s in range(slices):
            store(highest, s * U_LANES + half, repeat(ZERO))
        for c in range(np.uint64(first_class), np.uint64(n)):
            _raise_best(slab.counters, c * depth + half, slices, highest, half)
    equal_masks(slab, first_class, n, best, masks)


@bare_inner
def _settle_masks(masks, n, ties, stream, first_trial, winners, tied, several):
    """Name a winner in each trial of a slab from its top masks; equal to `settle` on the scores."""
    for t in range(SLAB_TRIALS):
        winners[t] = -1
        tied[t] = 0
    for w in range(LANES):
        several[w] = ZERO
    for c in range(n):
        for w in range(LANES):
            word = masks[c, w]
            while word != ZERO:
                lane = lowest_bit(word)
                t = w * TRIALS_PER_WORD + lane
                tied[t] += 1
                if tied[t] == 1:
                    winners[t] = c
                else:
                    several[w] |= ONE << np.uint64(lane)
                word &= word - ONE
    if ties == FIRST:
        return
    for w in range(LANES):
        word = several[w]
        while word != ZERO:
            t = w * TRIALS_PER_WORD + lowest_bit(word)
            winners[t] = -1
            if ties != LOSE:
                tied[t] = draw_below(draw_key(stream, first_trial + t), SETTLE_DRAW, BY_MAX_WIN, tied[t])
            word &= word - ONE
    if ties == LOSE:
        return
    for c in range(n):
        for w in range(LANES):
            word = masks[c, w] & several[w]
            while word != ZERO:
                t = w * TRIALS_PER_WORD + lowest_bit(word)
                if tied[t] == 0:
                    winners[t] = c
                tied[t] -= 1
                word &= word - ONE


@bare_jit
def name_winners(slab, n, ties, stream, first_trial, masks, best, tied, several, winners):
    """Write max-win's winner in each trial of a slab; what comes before `winners` is room to work in."""
    _top_masks(slab, 0, n, masks, best)
    _settle_masks(masks, n, ties, stream, first_trial, winners, tied, several)


@bare_inner
def count_masks(masks, first_class, n, counts):
    """Count, in each trial of a slab, the classes whose bit is set."""
    for t in range(SLAB_TRIALS):
        counts[t] = 0
    for c in range(first_class, n):
        for w in range(LANES):
            word = masks[c, w]
            while word != ZERO:
                counts[w * TRIALS_PER_WORD + lowest_bit(word)] += 1
                word &= word - ONE


@bare_inner
def read_slices(sliced, values):
    """Write the numbers whose slices are in `sliced` (slices, LANES), one per trial."""
    for t in range(SLAB_TRIALS):
        value = np.int64(0)
        for s in range(sliced.shape[0]):
            value |= np.int64((sliced[s, t // TRIALS_PER_WORD] >> np.uint64(t % TRIALS_PER_WORD)) & ONE) << s
        values[t] = value


@bare_jit
def top_two(slab, n, masks, best, heights, at_top, below_top):
    """Write, for classes 1 .. n - 1 in each trial, the top score, how many have it, and how many have one less.

    `masks` and `best` are room to work in.
    """
    _top_masks(slab, 1, n, masks, best)
    count_masks(masks, 1, n, at_top)
    read_slices(best, heights)
    for w in range(U_LANES):  # best -= 1; a top score is 0 only when n = 2, and then nobody has one less
        borrow = ALL
        for s in range(best.shape[0]):
            have = best[s, w]
            best[s, w] = have ^ borrow
            borrow &= ~have
    equal_masks(slab, 1, n, best, masks)
    count_masks(masks, 1, n, below_top)


@bare_jit
def _unpack_scores(slab, scores, slices, low, high, low_bytes, high_bytes):
    for c in range(scores.shape[0]):
        for w in range(LANES):
            for q in range(8):
                low[q] = ZERO
                high[q] = ZERO
            for s in range(slices):
                word = slab.counters[np.uint64(c * slab.slices + s) * U_LANES + np.uint64(w)]
                part = low if s < 8 else high
                shift = np.uint64(s & 7)
                for q in range(8):
                    part[q] |= SPREAD[(word >> np.uint64(8 * q)) & BYTE] << shift
            at = w * TRIALS_PER_WORD
            for lane in range(TRIALS_PER_WORD):
                scores[c, at + lane] = low_bytes[lane] | (np.uint16(high_bytes[lane]) << np.uint16(8))


def unpack_scores(slab, n, scores):
    """Write the scores as plain numbers, scores[class, trial].

    A table turns a byte of a slice (8 trials) into 8 bytes of 0 or 1; shifted into place they make up the low and the
    high byte of 8 scores at once.
    """
    low, high = np.empty((2, 8), np.uint64)
    _unpack_scores(slab, scores, score_slices(n), low, high, low.view(np.uint8), high.view(np.uint8))
