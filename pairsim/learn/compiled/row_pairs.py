"""Products and differences of all rows of two tables, each value a function of its two rows alone, to the last bit.

A matrix product takes other code for other shapes and rounds differently. Here the features of a pair are always added
in their order, whatever rows stand around it; the vector code takes many columns at once.
"""

from __future__ import annotations

import numpy as np

from pairsim.kernels.jit import bare_inner, bare_jit

BLOCK = 512  # columns at a time: with some dozen features they stay in the second cache
U_BLOCK = np.uint64(BLOCK)
FOUR = np.uint64(4)
PRODUCT, SQUARES, SIZES = 0, 1, 2


@bare_inner
def add_term(value, x, y, kind):
    """Return value plus x y, (x - y)**2 or |x - y|; never fused, so that every machine rounds alike."""
    if kind == PRODUCT:
        return value + x * y
    apart = x - y
    return value + (apart * apart if kind == SQUARES else abs(apart))


@bare_jit
def row_pairs(left, columns, kind, values):
    """Add the terms of x = left[i, f] and y = columns[f, j], feature after feature, to values[i, j]."""
    count, features, width = np.uint64(left.shape[0]), np.uint64(left.shape[1]), np.uint64(columns.shape[1])
    fours = features // FOUR * FOUR
    for first in range(np.uint64(0), width, U_BLOCK):
        end = min(first + U_BLOCK, width)
        for i in range(count):
            for f in range(np.uint64(0), fours, FOUR):  # four at a time: a value is loaded and stored once for them
                g, h, k = f + np.uint64(1), f + np.uint64(2), f + np.uint64(3)
                a, b, c, d = left[i, f], left[i, g], left[i, h], left[i, k]
                for j in range(first, end):
                    value = add_term(values[i, j], a, columns[f, j], kind)
                    value = add_term(value, b, columns[g, j], kind)
                    value = add_term(value, c, columns[h, j], kind)
                    values[i, j] = add_term(value, d, columns[k, j], kind)
            for f in range(fours, features):
                for j in range(first, end):
                    values[i, j] = add_term(values[i, j], left[i, f], columns[f, j], kind)
