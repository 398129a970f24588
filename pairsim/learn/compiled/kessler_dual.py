"""Dual coordinate ascent for Kessler's construction: all variables of one row at a time.

Row i has a variable for each class r but its own, y: the weight of the difference "i in y's place less i in r's place".
A step d_r adds d_r times the row to the weights of y and takes it from those of r. Given all other rows, the best
variables of a row are where u_r - S stays within the box, u_r being what r's would be if nothing else moved and S the
sum of all that the row moves: one equation in one unknown, decreasing, solved by Newton's method between two ends.
"""

from __future__ import annotations

from pairsim.kernels.jit import bare_inner, bare_jit

WORTH = 0.1  # a row is left alone while it violates optimality by less than this times the worst row of the last sweep
TRIES = 200  # of the equation's solution: an interval of doubles cannot be cut in half more often, to any use
EXACT = 1e-15


@bare_inner
def common_part(size, curvature, box, held, wanted):
    """Return S times the curvature: where the sum of all clipped differences, less what is held, equals S."""
    high = 0.0
    for r in range(size):
        high += curvature * (box - held[r])
    low = 0.0
    for r in range(size):
        low -= curvature * held[r]
    level = 0.0
    for _ in range(TRIES):
        over, slope, size_of_terms = -level, 1.0, abs(level) - low
        for r in range(size):
            value = wanted[r] - level
            if value >= curvature * box:
                value = curvature * box
            elif value <= 0.0:
                value = 0.0
            else:
                slope += 1.0
            over += value - curvature * held[r]
            size_of_terms += value
        if abs(over) <= EXACT * size_of_terms:
            break
        if over > 0.0:
            low = level
        else:
            high = level
        level += over / slope
        if not low < level < high:
            level = 0.5 * (low + high)
            if not low < level < high:
                break
    return level


@bare_inner
def add_row(gram, i, constant, scores, r, step):
    """Add step times the kernel values of row i to the scores of class r."""
    for j in range(gram.shape[1]):
        scores[r, j] += step * (gram[i, j] + constant)


@bare_jit
def ascend_rows(gram, constant, classes, box, scores, alpha, order, worst, wanted):
    """Visit all rows once; return the largest violation seen, and how many rows were solved for.

    `scores` has a row per class and follows every step; `alpha` has a row per data point, 0 in the place of its own
    class. `worst` is the largest violation of the sweep before.
    """
    count, solved = alpha.shape[1], 0
    least, worst = WORTH * worst, 0.0
    for i in order:
        own, held = classes[i], alpha[i]
        curvature = max(gram[i, i] + constant, 0.0)
        violation = 0.0
        for r in range(count):
            gradient = 1.0 - (scores[own, i] - scores[r, i])
            if r == own:
                wanted[r] = -1.0  # stays 0
                continue
            wanted[r] = curvature * held[r] + gradient
            if gradient > 0.0 and held[r] < box:
                violation = max(violation, gradient)
            elif gradient < 0.0 and held[r] > 0.0:
                violation = max(violation, -gradient)
        worst = max(worst, violation)
        if violation <= least or violation == 0.0:
            continue
        solved += 1
        # the own class takes part with nothing wanted and nothing held, so that it takes nothing
        wanted[own] = -1e300
        level = common_part(count, curvature, box, held, wanted)
        total = 0.0
        for r in range(count):
            value = wanted[r] - level
            if value <= 0.0:
                best = 0.0
            elif value >= curvature * box:
                best = box
            else:
                best = value / curvature
            step = best - held[r]
            if r != own and step != 0.0:
                held[r] = best
                total += step
                add_row(gram, i, constant, scores, r, -step)
        add_row(gram, i, constant, scores, own, total)
    return worst, solved
