"""Numbering pairs."""

from __future__ import annotations

import numpy as np

from pairsim.kernels.jit import bare_inner


@bare_inner
def triangle_pair(k):
    """Return pair k in the order (0,1) (0,2) (1,2) (0,3) ...: j is the triangular root of k."""
    j = np.int64((1.0 + np.sqrt(1.0 + 8.0 * k)) * 0.5)
    # corrected where the square root rounds across an integer
    if j * (j - 1) // 2 > k:
        j -= 1
    elif j * (j + 1) // 2 <= k:
        j += 1
    return k - j * (j - 1) // 2, j
