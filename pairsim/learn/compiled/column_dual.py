"""Sequential minimal optimisation of one support vector machine on some of the points of a shared Gram matrix.

The variables are signed and bounded, and `up` and `low` hold errors, as in `kronecker_smo`. The points of the machine
are given as runs, from `first[k]` to before `last[k]`: where points stand class by class, a machine that leaves classes
out has few of them, and needs no copy of its part of the matrix.
"""

from __future__ import annotations

from typing import Any

from pairsim.kernels.jit import inner, jit
from pairsim.learn.compiled.extremes import larger, smaller

BIG = 1e300
FLAT = 1e-12  # the curvature that a direction is given at least, as in LIBSVM
ANY_ORDER = {"reassoc", "contract", "nsz", "nnan"}  # largest and smallest of a row may be found side by side
STRIDE = 64  # places of a row that are searched at a time


def _widest(up: Any, low: Any) -> Any:
    """Return the largest of `up` and the smallest of `low`."""
    top, bottom = -BIG, BIG
    for j in range(up.size):
        top, bottom = larger(top, up[j]), smaller(bottom, low[j])
    return top, bottom


def _move(up: Any, low: Any, gained: Any, lost: Any, step: Any) -> Any:
    """Take step * (gained - lost) from the errors of a run; return the largest of `up` and the smallest of `low`."""
    top, bottom = -BIG, BIG
    for j in range(up.size):
        change = step * (gained[j] - lost[j])
        rise, fall = up[j] - change, low[j] - change
        up[j], low[j] = rise, fall
        top, bottom = larger(top, rise), smaller(bottom, fall)
    return top, bottom


def _rate(low: Any, kernel: Any, diagonal: Any, error: Any, own: Any, gains: Any) -> Any:
    """Set gains[j] to twice the gain of the best unbounded step with point j of a run; return the largest."""
    best = 0.0
    for j in range(low.size):
        violation = larger(error - low[j], 0.0)
        gain = violation * violation / larger(own + diagonal[j] - 2.0 * kernel[j], FLAT)
        gains[j] = gain
        best = larger(best, gain)
    return best


def _count_in(row: Any, value: Any) -> Any:
    found = 0
    for j in range(row.size):
        found += row[j] == value
    return found


widest = inner(_widest, fastmath=ANY_ORDER)
move = inner(_move, fastmath=ANY_ORDER)
rate = inner(_rate, fastmath=ANY_ORDER)
count_in = inner(_count_in)


@inner
def place_of(row: Any, value: Any, first: Any, last: Any) -> Any:
    """Return the first place of `value` in the runs of a row."""
    for k in range(first.size):
        start = first[k]
        while start < last[k]:
            end = min(start + STRIDE, last[k])
            if count_in(row[start:end], value):
                for j in range(start, end):
                    if row[j] == value:
                        return j
            start = end
    return first[0]


@jit
def minimise_column(
    gram: Any,
    diagonal: Any,
    first: Any,
    last: Any,
    beta: Any,
    lower: Any,
    upper: Any,
    up: Any,
    low: Any,
    gains: Any,
    tol: Any,
    most: Any,
    value: Any,
    ceiling: Any,
) -> Any:
    """Take steps until errors violate optimality by less than `tol`, `most` of them, or the dual objective is too high.

    A pair is chosen by the largest error that can rise, then by the largest gain to second order. `value` is the dual
    objective of the variables as they are. Return (steps, violation, dual objective).
    """
    top, bottom = -BIG, BIG
    for k in range(first.size):
        highest, lowest = widest(up[first[k] : last[k]], low[first[k] : last[k]])
        top, bottom = max(top, highest), min(bottom, lowest)
    steps = 0
    while top - bottom >= tol and steps < most and value <= ceiling:
        i = place_of(up, top, first, last)
        row, own = gram[i], diagonal[i]
        best = 0.0
        for k in range(first.size):
            a, b = first[k], last[k]
            best = max(best, rate(low[a:b], row[a:b], diagonal[a:b], top, own, gains[a:b]))
        if best == 0.0:  # gains too small to be told from 0
            break
        j = place_of(gains, best, first, last)
        partner = low[j]
        step = (top - partner) / max(own + diagonal[j] - 2.0 * row[j], FLAT)
        room, depth = upper[i] - beta[i], beta[j] - lower[j]
        step = min(step, room, depth)
        value += step * (top - partner - 0.5 * step * (own + diagonal[j] - 2.0 * row[j]))
        # a bound that is reached is written as it is, so that nothing is ever almost on it
        beta[i] = upper[i] if step == room else beta[i] + step
        beta[j] = lower[j] if step == depth else beta[j] - step
        up[i], low[i] = (-BIG if step == room else top), top
        up[j], low[j] = partner, (BIG if step == depth else partner)
        top, bottom = -BIG, BIG
        for k in range(first.size):
            a, b = first[k], last[k]
            highest, lowest = move(up[a:b], low[a:b], row[a:b], gram[j, a:b], step)
            top, bottom = max(top, highest), min(bottom, lowest)
        steps += 1
    return steps, top - bottom, value


def _take_row(errors: Any, row: Any, change: Any) -> None:
    for j in range(errors.size):
        errors[j] -= change * row[j]


take_row = inner(_take_row, fastmath=ANY_ORDER)


@jit
def take_rows(errors: Any, gram: Any, points: Any, changes: Any) -> None:
    """Take from `errors` the rows of these points, times the changes of their variables."""
    for k in range(points.size):
        take_row(errors, gram[points[k]], changes[k])
