"""What decoders did in some trials, added up: failures counted or probabilities measured, and agreements."""

from __future__ import annotations

import numpy as np

from pairsim.kernels.differences import MEAN, NUMBERS, SECOND, THIRD
from pairsim.kernels.jit import bare_inner, bare_jit
from pairsim.kernels.stream import ZERO
from pairsim.kernels.vectors import U_WIDTH, add_up, load, repeat

FAILED, AGREEMENTS = range(2)  # the other places are those of two decoders side by side
NOT_KNOWN, BY_NAMES, BY_PROBABILITIES, ALWAYS = range(4)  # how it is known whether a decoder agrees with the reference


@bare_inner
def _sum(values):
    """Return the sum of an array, eight numbers at a time."""
    size = np.uint64(values.size)
    whole = size - size % U_WIDTH
    eight = repeat(0.0)
    for t in range(ZERO, whole, U_WIDTH):
        eight = eight + load(values, t)
    total = add_up(0.0, eight)
    for t in range(whole, size):
        total += values[t]
    return total


@bare_inner
def _measure(values, out):
    """Write the mean of an array, and the sums of squares and cubes of what its numbers differ from it."""
    size = np.uint64(values.size)
    whole = size - size % U_WIDTH
    mean = _sum(values) / values.size
    squares, cubes = repeat(0.0), repeat(0.0)
    for t in range(ZERO, whole, U_WIDTH):
        gap = load(values, t) - mean
        square = gap * gap
        squares = squares + square
        cubes = cubes + square * gap
    second, third = add_up(0.0, squares), add_up(0.0, cubes)
    for t in range(whole, size):
        gap = values[t] - mean
        second += gap * gap
        third += gap * gap * gap
    out[MEAN] = mean
    out[SECOND] = second
    out[THIRD] = third


@bare_jit
def add_up_outcomes(named, truth, reference, counted, agreeing, lost, agreed, out):
    """Write a row of numbers for each decoder.

    Where a decoder's failures are `counted`, its row of `lost` is set from whom it named (-1 is nobody), else it has
    the probabilities to fail already. `agreeing` says how its agreements with decoder `reference` are known: by whom
    both named, or by the probabilities in its row of `agreed`.
    """
    trials = truth.size
    for d in range(named.shape[0]):
        own, missed, numbers = named[d], lost[d], out[d]
        for k in range(NUMBERS):
            numbers[k] = np.nan
        if counted[d]:
            failed = 0
            for t in range(trials):
                wrong = own[t] != truth[t]
                failed += wrong
                missed[t] = wrong
            numbers[FAILED] = failed
        else:
            numbers[FAILED] = 0
            _measure(missed, numbers)
        if agreeing[d] == BY_NAMES:
            other = named[reference]
            same = 0
            for t in range(trials):
                same += (own[t] == other[t]) & (own[t] >= 0)
            numbers[AGREEMENTS] = same
        elif agreeing[d] == BY_PROBABILITIES:
            numbers[AGREEMENTS] = _sum(agreed[d])
        elif agreeing[d] == ALWAYS:
            numbers[AGREEMENTS] = trials
