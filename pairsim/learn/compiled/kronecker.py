"""Sequential minimal optimisation on a Kronecker product of two Gram matrices that is never formed.

Rows of every table are replicas (classes, or columns of a code), columns are data points, so that the long loops run
along a row of the data's Gram matrix and become vector code. Variables are signed (label times dual variable), with
signed bounds: a label appears nowhere else. `up` holds the error (label less score) of each variable that can still
rise and -BIG elsewhere, `low` that of each that can still fall and BIG elsewhere; adding a step to BIG leaves it BIG.
"""

from __future__ import annotations

from pairsim.kernels.jit import inner, jit
from pairsim.learn.compiled.extremes import larger, smaller

BIG = 1e300
FLAT = 1e-12  # the curvature that a direction is given at least, as in LIBSVM
ANY_ORDER = {"reassoc", "contract", "nsz", "nnan"}  # largest and smallest of a row may be found side by side


def _largest(row):
    best = -BIG
    for j in range(row.size):
        best = larger(best, row[j])
    return best


def _smallest(row):
    best = BIG
    for j in range(row.size):
        best = smaller(best, row[j])
    return best


def _move(up, low, first, second, p, q):
    """Take p * first - q * second from a row's errors; return the largest of `up` and the smallest of `low`."""
    top, bottom = -BIG, BIG
    for j in range(up.size):
        step = p * first[j] - q * second[j]
        rise, fall = up[j] - step, low[j] - step
        up[j], low[j] = rise, fall
        top, bottom = larger(top, rise), smaller(bottom, fall)
    return top, bottom


def _rate(low, kernel, diagonal, error, own, other, cross, gains):
    """Set gains[j] to twice the gain of the best unbounded step with point j; return the largest."""
    best = 0.0
    for j in range(low.size):
        violation = larger(error - low[j], 0.0)
        curvature = larger(own + other * diagonal[j] - cross * kernel[j], FLAT)
        gain = violation * violation / curvature
        gains[j] = gain
        best = larger(best, gain)
    return best


largest = inner(_largest, fastmath=ANY_ORDER)
smallest = inner(_smallest, fastmath=ANY_ORDER)
move = inner(_move, fastmath=ANY_ORDER)
rate = inner(_rate, fastmath=ANY_ORDER)


@inner
def place_of(row, value):
    """Return the first place of `value` in `row`."""
    for j in range(row.size):
        if row[j] == value:
            return j
    return 0


@inner
def widest_row(tops, bottoms):
    """Return the row whose own errors violate optimality most, and by how much."""
    row = 0
    for q in range(1, tops.size):
        if tops[q] - bottoms[q] > tops[row] - bottoms[row]:
            row = q
    return row, tops[row] - bottoms[row]


@inner
def highest_row(tops, bottoms):
    """Return the row with the largest error that can rise, and by how much all errors violate optimality."""
    row, least = 0, bottoms[0]
    for q in range(1, tops.size):
        if tops[q] > tops[row]:
            row = q
        least = min(least, bottoms[q])
    return row, tops[row] - least


@jit
def minimise(gram, diagonal, labels_gram, beta, lower, upper, up, low, own_bias, tol, most, tops, bottoms, gains):
    """Take steps until errors violate optimality by less than `tol`, or `most` of them; return (steps, violation).

    A pair is chosen by the largest error that can rise, then by the largest gain to second order. With `own_bias` each
    row of beta keeps its own sum (both variables of a step are in one row), else only the sum of all is kept.
    """
    rows = tops.size
    for q in range(rows):
        tops[q], bottoms[q] = largest(up[q]), smallest(low[q])
    steps = 0
    while True:
        r, violation = widest_row(tops, bottoms) if own_bias else highest_row(tops, bottoms)
        if violation < tol or steps == most:
            return steps, violation
        error = tops[r]
        i = place_of(up[r], error)
        own = diagonal[i] * labels_gram[r, r]
        best, s, j = 0.0, -1, 0
        for q in range(r if own_bias else 0, r + 1 if own_bias else rows):
            if bottoms[q] < error:
                found = rate(low[q], gram[i], diagonal, error, own, labels_gram[q, q], 2.0 * labels_gram[r, q], gains)
                if found > best:
                    best, s, j = found, q, place_of(gains, found)
        if s < 0:  # gains too small to be told from 0
            return steps, violation
        partner = low[s, j]
        step = (error - partner) / max(
            own + diagonal[j] * labels_gram[s, s] - 2.0 * labels_gram[r, s] * gram[i, j], FLAT
        )
        room, depth = upper[r, i] - beta[r, i], beta[s, j] - lower[s, j]
        step = min(step, room, depth)
        # a bound that is reached is written as it is, so that nothing is ever almost on it
        beta[r, i] = upper[r, i] if step == room else beta[r, i] + step
        beta[s, j] = lower[s, j] if step == depth else beta[s, j] - step
        up[r, i], low[r, i] = (-BIG if step == room else error), error
        up[s, j], low[s, j] = partner, (BIG if step == depth else partner)
        for q in range(rows):
            p1, p2 = step * labels_gram[r, q], step * labels_gram[s, q]
            # rows r and s even after a step of 0, which rounding can make of one that only settles who is on a bound
            if p1 != 0.0 or p2 != 0.0 or q == r or q == s:  # noqa: PLR1714, SIM109
                tops[q], bottoms[q] = move(up[q], low[q], gram[i], gram[j], p1, p2)
        steps += 1
