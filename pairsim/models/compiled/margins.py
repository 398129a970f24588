"""Loops over margins of trained pairs: the few things that matrix products do not do."""

from __future__ import annotations

import numpy as np

from pairsim.kernels.jit import inner, jit

LINEAR, POLY, RBF, SIGMOID = 0, 1, 2, 3


@jit
def scatter_class(sums, c, n, out):
    """Add column t of `sums`, the part of class c in its t-th pair, to that pair's column of `out`."""
    for row in range(sums.shape[0]):
        for t in range(n - 1):
            low, high = (t, c) if t < c else (c, t + 1)
            out[row, (2 * n - low - 1) * low // 2 + high - low - 1] += sums[row, t]


@jit
def count_doubtful(margins, row_slack, pair_weight, pair_slack):
    """Count the margins that are not larger than their rounding error."""
    found = 0
    for row in range(margins.shape[0]):
        for k in range(margins.shape[1]):
            # written so that a nan counts as well
            found += not (abs(margins[row, k]) > row_slack[row] * pair_weight[k] + pair_slack[k])
    return found


@jit
def list_doubtful(margins, row_slack, pair_weight, pair_slack, rows, pairs):
    """List the places that `count_doubtful` counts."""
    found = 0
    for row in range(margins.shape[0]):
        for k in range(margins.shape[1]):
            if not (abs(margins[row, k]) > row_slack[row] * pair_weight[k] + pair_slack[k]):
                rows[found] = row
                pairs[found] = k
                found += 1


@inner
def dot(x, w):
    """Return x . w; four sums side by side keep the adders busy."""
    even = x.size - x.size % 4
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for m in range(0, even, 4):
        a += x[m] * w[m]
        b += x[m + 1] * w[m + 1]
        c += x[m + 2] * w[m + 2]
        d += x[m + 3] * w[m + 3]
    for m in range(even, x.size):
        a += x[m] * w[m]
    return (a + b) + (c + d)


@jit
def dot_questions(points, rows, coef, pairs, out):
    """Set out[k] to points[rows[k]] . coef[pairs[k]]."""
    for k in range(rows.size):
        out[k] = dot(points[rows[k]], coef[pairs[k]])


@jit
def dot_sparse_questions(data, indices, starts, rows, coef, pairs, out):
    """Set out[k] to the product of sparse row rows[k] and coef[pairs[k]]."""
    for k in range(rows.size):
        total = 0.0
        for m in range(starts[rows[k]], starts[rows[k] + 1]):
            total += data[m] * coef[pairs[k], indices[m]]
        out[k] = total


@jit
def sum_questions(values, count, rows, dual, borders, low, high, out):
    """Set out[k] to the part of pair (low[k], high[k]) that its two classes' support vectors give.

    `values` holds one block a class, each with `count` rows of that class's kernel values.
    """
    for k in range(rows.size):
        i, j = low[k], high[k]
        first, last = borders[i], borders[i + 1]
        place = count * first + rows[k] * (last - first)
        total = dot(values[place : place + last - first], dual[j - 1, first:last])
        first, last = borders[j], borders[j + 1]
        place = count * first + rows[k] * (last - first)
        out[k] = total + dot(values[place : place + last - first], dual[i, first:last])


@jit
def sum_in_order(values, dual, borders, i, j):
    """Return the same for one data point, added up one by one: the lower class, then the higher, as LIBSVM does."""
    total = 0.0
    for s in range(borders[i], borders[i + 1]):
        total += values[s] * dual[j - 1, s]
    for s in range(borders[j], borders[j + 1]):
        total += values[s] * dual[i, s]
    return total


@jit
def square_distances(points, vectors, out):
    """Set out[r, s] to the squared distance, from differences: nothing cancels."""
    for r in range(points.shape[0]):
        for s in range(vectors.shape[0]):
            total = 0.0
            for m in range(points.shape[1]):
                gap = points[r, m] - vectors[s, m]
                total += gap * gap
            out[r, s] = total


@jit
def square_sparse_distances(x_data, x_indices, x_starts, s_data, s_indices, s_starts, out):
    """Set out[r, s] to the squared distance of sparse rows with sorted indices."""
    for r in range(x_starts.size - 1):
        for s in range(s_starts.size - 1):
            a, a_end = x_starts[r], x_starts[r + 1]
            b, b_end = s_starts[s], s_starts[s + 1]
            total = 0.0
            while a < a_end or b < b_end:
                if b == b_end or (a < a_end and x_indices[a] < s_indices[b]):
                    gap = x_data[a]
                    a += 1
                elif a == a_end or x_indices[a] > s_indices[b]:
                    gap = s_data[b]
                    b += 1
                else:
                    gap = x_data[a] - s_data[b]
                    a += 1
                    b += 1
                total += gap * gap
            out[r, s] = total


@jit
def libsvm_kernel(x, data, indices, starts, kind, gamma, coef0, degree, buffer, out):
    """Set out[s] to the kernel of x with vector s, in LIBSVM's own order of additions."""
    for s in range(out.size):
        buffer[:] = 0.0
        for m in range(starts[s], starts[s + 1]):
            buffer[indices[m]] = data[m]
        total = 0.0
        for m in range(x.size):
            if kind == RBF:
                gap = x[m] - buffer[m]
                total += gap * gap
            else:
                total += x[m] * buffer[m]
        if kind == RBF:
            out[s] = np.exp(-gamma * total)
        elif kind == SIGMOID:
            out[s] = np.tanh(gamma * total + coef0)
        elif kind == POLY:
            power, base, left = 1.0, gamma * total + coef0, degree
            while left > 0:
                if left % 2 == 1:
                    power *= base
                base *= base
                left //= 2
            out[s] = power
        else:
            out[s] = total
