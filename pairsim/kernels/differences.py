"""Moments of differences: many decoders side by side, without an array for each two."""

from __future__ import annotations

from pairsim.kernels.jit import bare_jit


@bare_jit
def difference_moments(table, firsts, seconds, moments):
    """Write mean, second and third central moment (sums) of table[firsts[k]] - table[seconds[k]] to moments[k].

    Four sums at a time, or each addition would wait for the one before it.
    """
    count = table.shape[1]
    whole = count - count % 4
    for k in range(firsts.size):
        a, b = table[firsts[k]], table[seconds[k]]
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
        moments[k, 0] = mean
        moments[k, 1] = (s0 + s1) + (s2 + s3)
        moments[k, 2] = (c0 + c1) + (c2 + c3)
