"""A kernel that solves symmetric positive definite systems, without LAPACK.

For the sizes met here it is faster than a stack of LAPACK calls, and its result does not depend on the number of
threads that a linear-algebra library may take.
"""

from __future__ import annotations

import numpy as np

from pairsim.kernels.jit import jit

SINGULAR = 1e-15  # of a diagonal entry; a pivot below it is all rounding


@jit
def eliminate_four(matrix, vector, k):
    """Subtract multiples of rows k .. k + 3 from all later ones: four at a time, for less memory traffic."""
    n = vector.size
    top, second, third, fourth = matrix[k], matrix[k + 1], matrix[k + 2], matrix[k + 3]
    for i in range(k + 4, n):
        a, b = top[i] / top[k], second[i] / second[k + 1]
        c, d = third[i] / third[k + 2], fourth[i] / fourth[k + 3]
        row = matrix[i]
        for j in range(i, n):
            row[j] -= (a * top[j] + b * second[j]) + (c * third[j] + d * fourth[j])
        vector[i] -= (a * vector[k] + b * vector[k + 1]) + (c * vector[k + 2] + d * vector[k + 3])


@jit
def solve_positive(matrix, vector):
    """Replace `vector` by the solution for the leading block; the upper triangle is read, and overwritten."""
    n = vector.size
    least = SINGULAR * np.diag(matrix) + 1e-100
    for first in range(0, n, 4):
        last = min(first + 4, n)
        for k in range(first, last):
            matrix[k, k] = max(matrix[k, k], least[k])  # as in modified Cholesky: the result stays a descent direction
            for i in range(k + 1, last):
                share = matrix[k, i] / matrix[k, k]
                for j in range(i, n):
                    matrix[i, j] -= share * matrix[k, j]
                vector[i] -= share * vector[k]
        if last < n:
            eliminate_four(matrix, vector, first)
    for k in range(n - 1, -1, -1):
        total = vector[k]
        for j in range(k + 1, n):
            total -= matrix[k, j] * vector[j]
        vector[k] = total / matrix[k, k]
