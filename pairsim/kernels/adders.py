"""Carry-save adders: sixteen words of answers added to a bit-sliced counter, eight words wide.

One tree serves Python and the compiler, for which it is built of instructions directly: numba would take half a second
to understand it, once for each place where it is pasted.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.imputils import lower_builtin

from pairsim.kernels.bits import U_LANES
from pairsim.kernels.vectors import (
    EIGHT_WORDS,
    load,
    lower_load,
    lower_majority,
    lower_majority_two_not,
    lower_parity,
    lower_store,
    majority,
    majority_two_not,
    parity,
    store,
    type_as,
)

LEVELS = 4  # sixteen answers fill so many slices, and a carry of weight 16 is left


def _add_tree(answer, slices, level, first, add, carry, first_carry):
    """Add 2**level answers from number `first` on to the lowest slices; return the carry of weight 2**level."""
    if level == 0:
        return answer(first)
    one = _add_tree(answer, slices, level - 1, first, add, carry, first_carry)
    two = _add_tree(answer, slices, level - 1, first + 2 ** (level - 1), add, carry, first_carry)
    have = slices[level - 1]
    slices[level - 1] = add(one, two, have)
    return (first_carry if level == 1 else carry)(one, two, have)


def _add_plainly(tile, start, stride, counters, at, first_carry):
    slices = [load(counters, at + np.uint64(s) * U_LANES) for s in range(LEVELS)]
    left = _add_tree(
        lambda k: load(tile, start + np.uint64(k) * stride), slices, LEVELS, 0, parity, majority, first_carry
    )
    for s in range(LEVELS):
        store(counters, at + np.uint64(s) * U_LANES, slices[s])
    return left


def add_won(tile, start, stride, counters, at):
    """Add 16 answers that lie `stride` apart in a tile to the counter at `at`; return the carry of weight 16."""
    return _add_plainly(tile, start, stride, counters, at, majority)


def add_lost(tile, start, stride, counters, at):
    """Add the opposites of 16 answers; the sum of two is the same, only the carry from it is not."""
    return _add_plainly(tile, start, stride, counters, at, majority_two_not)


def _lower_adder(function, first_carry):
    type_as(function, lambda tile, start, stride, counters, at: EIGHT_WORDS)

    @lower_builtin(function, types.Array, types.Integer, types.Integer, types.Array, types.Integer)
    def lower(context, builder, sig, args):
        tile, start, stride, counters, at = args
        tiles, counts = sig.args[0], sig.args[3]

        def constant(number):
            return ir.Constant(start.type, number)

        def answer(k):
            return lower_load(context, builder, tiles, tile, builder.add(start, builder.mul(stride, constant(k))))

        def ternary(lowered):
            return lambda a, b, c: lowered(context, builder, a, b, c)

        places = [builder.add(at, constant(s * int(U_LANES))) for s in range(LEVELS)]
        slices = [lower_load(context, builder, counts, counters, place) for place in places]
        left = _add_tree(
            answer, slices, LEVELS, 0, ternary(lower_parity), ternary(lower_majority), ternary(first_carry)
        )
        for place, one in zip(places, slices, strict=True):
            lower_store(context, builder, counts, counters, place, one)
        return left

    return lower


_lower_adder(add_won, lower_majority)
_lower_adder(add_lost, lower_majority_two_not)
