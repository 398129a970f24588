"""A set of ranks 0 .. 262,143 as bits in three levels: entering, dropping and finding the next one take a few steps.

Word 0 says which of the 64 words after it have a bit set, and each of these which of 64 words of the lowest level.
"""

from __future__ import annotations

import numpy as np

from pairsim.kernels.jit import bare_inner
from pairsim.kernels.top_scores import lowest_bit

MOST_RANKS = 1 << 18
LOWEST_LEVEL = 65  # where the words begin whose bits are ranks
ONE = np.uint64(1)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
ZERO = np.uint64(0)
IN_WORD = 63


@bare_inner
def rank_words(ranks):
    """Return the words that a set of so many ranks takes."""
    return LOWEST_LEVEL + (ranks + IN_WORD) // 64


@bare_inner
def clear_ranks(words):
    """Leave no rank in the set."""
    for w in range(words.size):
        words[w] = ZERO


@bare_inner
def enter_rank(words, rank):
    """Enter a rank."""
    words[LOWEST_LEVEL + (rank >> 6)] |= ONE << np.uint64(rank & IN_WORD)
    words[1 + (rank >> 12)] |= ONE << np.uint64((rank >> 6) & IN_WORD)
    words[0] |= ONE << np.uint64(rank >> 12)


@bare_inner
def drop_rank(words, rank):
    """Take a rank out."""
    words[LOWEST_LEVEL + (rank >> 6)] &= ~(ONE << np.uint64(rank & IN_WORD))
    if words[LOWEST_LEVEL + (rank >> 6)] == ZERO:
        words[1 + (rank >> 12)] &= ~(ONE << np.uint64((rank >> 6) & IN_WORD))
        if words[1 + (rank >> 12)] == ZERO:
            words[0] &= ~(ONE << np.uint64(rank >> 12))


@bare_inner
def has_rank(words, rank):
    """Say whether a rank is in the set."""
    return words[LOWEST_LEVEL + (rank >> 6)] >> np.uint64(rank & IN_WORD) & ONE != ZERO


@bare_inner
def _after(word, bit):
    """Return the bits of a word above number `bit`."""
    return word & ((ALL << np.uint64(bit)) << ONE)


@bare_inner
def next_rank(words, rank):
    """Return the lowest rank above `rank`, -1 where there is none; the lowest of all where `rank` is -1."""
    if rank >= 0:
        low = _after(words[LOWEST_LEVEL + (rank >> 6)], rank & IN_WORD)
        if low != ZERO:
            return (rank & ~IN_WORD) | lowest_bit(low)
        middle = _after(words[1 + (rank >> 12)], (rank >> 6) & IN_WORD)
        top = rank >> 12
        if middle == ZERO:
            highest = _after(words[0], rank >> 12)
            if highest == ZERO:
                return -1
            top = lowest_bit(highest)
            middle = words[1 + top]
    else:
        if words[0] == ZERO:
            return -1
        top = lowest_bit(words[0])
        middle = words[1 + top]
    place = (top << 6) | lowest_bit(middle)
    return (place << 6) | lowest_bit(words[LOWEST_LEVEL + place])
