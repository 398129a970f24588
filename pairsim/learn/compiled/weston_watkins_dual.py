"""Dual coordinate descent for the SVM of Weston and Watkins, one row at a time.

A row has a share between 0 and C for every class but its own. The weights of class r are the sum over rows of (all
shares of the row where r is its own class, else minus its share of r) times the row. The dual's gradient in a share is
the row's excess there, 1 + (score of the class) - (score of its own): at the optimum it is 0 where the share is between
the limits, at most 0 where the share is 0, and at least 0 where it is C.
"""

from __future__ import annotations

import numpy as np

from pairsim.kernels.jit import bare_inner, bare_jit
from pairsim.learn.compiled.crammer_singer_dual import WORTH, add_active, add_kernel, score_active, shuffle

TRIES = 60  # Newton steps, of which a handful is needed; halving the interval so often is exact


@bare_inner
def divide_freely(count, own, curvature, limit, excess, held, wanted):
    """Write the best shares of a row, given all other rows: each is limited on its own, and all share one sum.

    They are clip(level_r - total, 0, limit) with level_r = excess_r / curvature + held_r + (sum held), where `total` is
    their sum. The sum of the clips falls with `total`, so Newton's method between two ends finds it.
    """
    if not curvature > 0.0:
        for r in range(count):
            wanted[r] = limit if excess[r] > 0.0 else 0.0 if excess[r] < 0.0 else held[r]
        wanted[own] = 0.0
        return
    total = 0.0
    for r in range(count):
        total += held[r]
    high = 0.0
    for r in range(count):
        wanted[r] = excess[r] / curvature + held[r] + total  # the level
        high += min(max(wanted[r], 0.0), limit) if r != own else 0.0
    low = 0.0
    for _ in range(TRIES):
        left, inside = -total, 1
        for r in range(count):
            if r != own:
                share = wanted[r] - total
                left += min(max(share, 0.0), limit)
                inside += 0.0 < share < limit
        if left > 0.0:
            low = total
        else:
            high = total
        better = total + left / inside
        if not low < better < high:
            better = 0.5 * (low + high)
        if left == 0.0 or better == total or not low < high:
            break
        total = better
    for r in range(count):
        wanted[r] = min(max(wanted[r] - total, 0.0), limit)
    wanted[own] = 0.0


@bare_inner
def look(count, own, limit, shares, i, excess, held):
    """Turn scores to excesses and copy the row's shares; return (violation, part of the gap, least distance from it).

    The last says by how much every share that is at a limit is pushed against it, negative if one is not at a limit.
    """
    base, violation, gap, pushed = excess[own] - 1.0, 0.0, 0.0, np.inf
    for r in range(count):
        excess[r] -= base
        share = shares[i, r]
        held[r] = share
        if r == own:
            continue
        above = excess[r]
        gap += limit * max(above, 0.0) - share * above
        if share < limit:
            violation = max(violation, above)
        if share > 0.0:
            violation = max(violation, -above)
        pushed = min(pushed, -above if share == 0.0 else above if share == limit else -1.0)
    return violation, gap, pushed


@bare_inner
def take_shares(count, own, shares, i, held, wanted):
    """Set the row's shares, and write to `wanted` by how much its weight in each class changes."""
    total = 0.0
    for r in range(count):
        if r != own:
            shares[i, r] = wanted[r]
            wanted[r] = held[r] - wanted[r]
            total -= wanted[r]
    wanted[own] = total


@bare_jit
def descend_rows_freely(
    rows, classes, constant, limit, lengths, weights, shares, active, queue, key, sweep, goal, most, buffers
):
    """Sweep over the rows until what they add to the duality gap is at most `goal`, or `most` scores are computed.

    Returns (sweeps, scores), `sweep` sweeps having gone before. A row whose shares are all at their limits, and pushed
    there by more than the worst violation of the sweep before, is left out from then on. `active` lists all classes.
    """
    excess, held, wanted = buffers
    count, waiting, computed, first, worst = active.shape[1], queue.size, 0, sweep, np.inf
    while True:
        shuffle(queue, waiting, key, sweep)
        gap, k, slack, worst = 0.0, 0, worst, 0.0
        while k < waiting:
            i = np.uint64(queue[k])
            own = classes[i]
            score_active(rows, i, constant, weights, active, count, excess)
            computed += count
            violation, part, pushed = look(count, own, limit, shares, i, excess, held)
            if pushed > slack:
                waiting -= 1
                queue[k] = queue[waiting]
                queue[waiting] = np.int64(i)
                continue
            k += 1
            worst = max(worst, violation)
            gap += part
            if violation > 0.0:
                divide_freely(count, own, lengths[i], limit, excess, held, wanted)
                take_shares(count, own, shares, i, held, wanted)
                add_active(rows, i, constant, weights, active, count, wanted)
        sweep += 1
        if gap <= goal or computed >= most or waiting == 0:
            return sweep - first, computed


@bare_jit
def descend_gram_freely(gram, classes, limit, scores, shares, queue, key, sweep, sweeps, worst, buffers):
    """Sweep over the rows `sweeps` times; return the largest violation seen in the last sweep, and how many steps.

    `scores` has a row per class and follows every step. `worst` is the largest violation of the sweep before.
    """
    excess, held, wanted = buffers
    count, steps = scores.shape[0], 0
    for each in range(sweep, sweep + sweeps):
        shuffle(queue, queue.size, key, each)
        least, worst = WORTH * worst, 0.0
        for k in range(queue.size):
            i = np.uint64(queue[k])
            own = classes[i]
            for r in range(np.uint64(count)):
                excess[r] = scores[r, i]
            violation, _, _ = look(count, own, limit, shares, i, excess, held)
            worst = max(worst, violation)
            if violation <= least:
                continue
            steps += 1
            divide_freely(count, own, gram[i, i], limit, excess, held, wanted)
            take_shares(count, own, shares, i, held, wanted)
            for r in range(np.uint64(count)):
                if wanted[r] != 0.0:
                    add_kernel(gram, i, scores, r, wanted[r])
    return worst, steps
