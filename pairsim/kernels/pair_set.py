"""Counting different pairs: a set of pairs by open addressing, whose size follows the queries and not n * n."""

from __future__ import annotations

import numpy as np

from pairsim.kernels.jit import bare_inner, inner
from pairsim.kernels.stream import GOLDEN, SHIFT_32, ZERO, mix


@inner
def new_pair_set(queries):
    """Return an empty set with room for `queries` pairs at a load of at most one half."""
    size = 4
    while size < 2 * queries:
        size *= 2
    return np.zeros(size, np.uint64)


@bare_inner
def add_pair(pairs, i, j):
    """Add the unordered pair {i, j}; return 1 if it is new, else 0; 0 marks an empty slot, as no pair has that code."""
    low, high = (i, j) if i < j else (j, i)
    code = (np.uint64(low) << SHIFT_32) | np.uint64(high)
    mask = np.uint64(pairs.size - 1)
    slot = mix(code * GOLDEN) & mask
    while pairs[slot] != ZERO:
        if pairs[slot] == code:
            return 0
        slot = (slot + np.uint64(1)) & mask
    pairs[slot] = code
    return 1
