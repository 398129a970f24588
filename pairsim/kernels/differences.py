"""Every two of some decoders side by side, without an array for each two.

What is known of two decoders is a row of five numbers: in how many trials only the first failed, and only the second;
mean, second and third central moment (sums) of the first's failure less the second's, nan where both were counted.
"""

from __future__ import annotations

import numpy as np

from pairsim.kernels.jit import bare_inner, bare_jit

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
    """Write the moments of a - b: four sums at a time, or each addition would wait for the one before it."""
    count = a.size
    whole = count - count % 4
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for t in range(0, whole, 4):
        s0 += a[t] - b[t]
        s1 += a[t + 1] - b[t + 1]
        s2 += a[t + 2] - b[t + 2]
        s3 += a[t + 3] - b[t + 3]
    for t in range(whole, count):
        s0 += a[t] - b[t]
    mean = ((s0 + s1) + (s2 + s3)) / count
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    c0, c1, c2, c3 = 0.0, 0.0, 0.0, 0.0
    for t in range(0, whole, 4):
        g0 = a[t] - b[t] - mean
        g1 = a[t + 1] - b[t + 1] - mean
        g2 = a[t + 2] - b[t + 2] - mean
        g3 = a[t + 3] - b[t + 3] - mean
        s0 += g0 * g0
        s1 += g1 * g1
        s2 += g2 * g2
        s3 += g3 * g3
        c0 += g0 * g0 * g0
        c1 += g1 * g1 * g1
        c2 += g2 * g2 * g2
        c3 += g3 * g3 * g3
    for t in range(whole, count):
        g0 = a[t] - b[t] - mean
        s0 += g0 * g0
        c0 += g0 * g0 * g0
    out[FIRST_ONLY] = 0.0
    out[SECOND_ONLY] = 0.0
    out[MEAN] = mean
    out[SECOND] = (s0 + s1) + (s2 + s3)
    out[THIRD] = (c0 + c1) + (c2 + c3)


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
    """Write what is known of both samples together, as `Moments.plus` does, digit for digit."""
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
