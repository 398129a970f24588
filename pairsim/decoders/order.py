"""The order in which an elimination decoder lists the classes."""

from __future__ import annotations

from pairsim.kernels.jit import bare_inner
from pairsim.kernels.stream import draw_below


@bare_inner
def deal(order, shuffled, key):
    """Write 0 .. n-1 to `order`, in a uniformly random order where `shuffled` (Fisher-Yates)."""
    for c in range(order.size):
        order[c] = c
    if shuffled:
        for c in range(order.size - 1, 0, -1):
            other = draw_below(key, c, 0, c + 1)
            order[c], order[other] = order[other], order[c]
