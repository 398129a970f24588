"""Every two of some decoders side by side, without an array for each two.

What is known of two decoders is a row of five numbers: in how many trials only the first failed, and only the second;
mean, second and third central moment (sums) of the first's failure less the second's, nan where both were counted.
"""

from __future__ import annotations

import numpy as np

from pairsim.kernels.jit import bare_inner, bare_jit
from pairsim.kernels.stream import ZERO
from pairsim.kernels.vectors import U_WIDTH, add_up, load, repeat

FIRST_ONLY, SECOND_ONLY, MEAN, SECOND, THIRD = range(5)
NUMBERS = 5


@bare_inner
def _count_differences(a, b, out):
    """Count where numbers that are 0 or 1 differ."""
    first, second = 0.0, 0.0
    for t in range(a.size):
        first += a[t] * (1.0 - b[t])
        second += b[t] * (1.0 - a[t])
    out[FIRST_ONLY] = first
    out[SECOND_ONLY] = second
    for k in range(MEAN, NUMBERS):
        out[k] = np.nan


@bare_inner
def _measure_differences(a, b, out):
    """Write the moments of a - b, eight numbers at a time."""
    size = np.uint64(a.size)
    whole = size - size % U_WIDTH
    gaps = repeat(0.0)
    for t in range(ZERO, whole, U_WIDTH):
        gaps = gaps + (load(a, t) - load(b, t))
    total = add_up(0.0, gaps)
    for t in range(whole, size):
        total += a[t] - b[t]
    mean = total / a.size
    squares, cubes = repeat(0.0), repeat(0.0)
    for t in range(ZERO, whole, U_WIDTH):
        gap = load(a, t) - load(b, t) - mean
        square = gap * gap
        squares = squares + square
        cubes = cubes + square * gap
    second, third = add_up(0.0, squares), add_up(0.0, cubes)
    for t in range(whole, size):
        rest = a[t] - b[t] - mean
        second += rest * rest
        third += rest * rest * rest
    out[FIRST_ONLY] = 0.0
    out[SECOND_ONLY] = 0.0
    out[MEAN] = mean
    out[SECOND] = second
    out[THIRD] = third


@bare_jit
def compare_rows(table, counted, out):
    """Write what is known of every two rows a < b of `table`, which are 0 or 1 where `counted`, to rows of `out`."""
    k = 0
    for a in range(table.shape[0]):
        for b in range(a + 1, table.shape[0]):
            if counted[a] and counted[b]:
                _count_differences(table[a], table[b], out[k])
            else:
                _measure_differences(table[a], table[b], out[k])
            k += 1


@bare_jit
def merge_rows(old, old_count, new, new_count, out):
    """Write what is known of both samples together, as `Moments.plus` does, digit for digit.

    Rows are those of two decoders side by side, or those of `add_up_outcomes`, which have their counts in the same
    places.
    """
    total = old_count + new_count
    cross = old_count * new_count / total
    for k in range(old.shape[0]):
        out[k, FIRST_ONLY] = old[k, FIRST_ONLY] + new[k, FIRST_ONLY]
        out[k, SECOND_ONLY] = old[k, SECOND_ONLY] + new[k, SECOND_ONLY]
        gap = new[k, MEAN] - old[k, MEAN]
        third = old[k, THIRD] + new[k, THIRD] + gap * gap * gap * cross * (old_count - new_count) / total
        third += 3.0 * gap * (old_count * new[k, SECOND] - new_count * old[k, SECOND]) / total
        out[k, MEAN] = old[k, MEAN] + gap * new_count / total
        out[k, SECOND] = old[k, SECOND] + new[k, SECOND] + gap * gap * cross
        out[k, THIRD] = third
