"""Dual coordinate descent for the machine of Crammer and Singer, one row at a time.

A row divides C among the classes: at first all of it is on its own class. The weights of class r are the sum over rows
of (C where r is the row's own, else 0, less its share of r) times the row. The dual's gradient in a share is the score
of the class, and 1 more unless the class is the row's own; here it is 1 less in all of them, which changes no
difference and keeps the digits of tiny scores. Given all other rows, the best shares are a projection on a simplex. All
is well when no class has a higher gradient than one that has a share.
"""

from __future__ import annotations

import numpy as np
from numba.extending import overload

from pairsim.kernels.jit import BARE_INNER, bare_inner, bare_jit, inner
from pairsim.kernels.stream import draw_below
from pairsim.learn.compiled.feature_rows import DenseRows, SparseRows

WORTH = 0.1  # a row is left alone while it violates optimality by less than this times the worst row of the last sweep


@bare_inner
def shuffle(rows, size, key, sweep):
    """Put the first `size` rows in an order that key and sweep determine."""
    for k in range(size - 1, 0, -1):
        other = draw_below(key, sweep, k, k + 1)
        kept = rows[k]
        rows[k] = rows[other]
        rows[other] = kept


@bare_inner
def divide(size, curvature, total, top, gradient, held, wanted):
    """Write the best shares of `total` for classes that hold some now: held + gradient / curvature, less a constant.

    All is multiplied by the curvature, so that it may be 0: then the class with the highest gradient has it all.
    """
    curvature = max(curvature, 0.0)
    best = 0
    for a in range(size):
        wanted[a] = gradient[a] - top + curvature * held[a]
        if wanted[a] > wanted[best]:
            best = a
    level, left = -np.inf, size + 1
    while True:  # of those above the level: the level that leaves them the total; it rises until all stay above
        above, count = 0.0, 0
        for a in range(size):
            if wanted[a] > level:
                above += wanted[a]
                count += 1
        if count == 0 or count >= left:
            break
        level, left = (above - curvature * total) / count, count
    if left == 1 or count == 0:  # exactly all, so that nothing is ever almost on a bound
        for a in range(size):
            wanted[a] = total if a == best else 0.0
    else:
        for a in range(size):
            wanted[a] = max(wanted[a] - level, 0.0) / curvature


@bare_inner
def set_aside(i, size, bottom, active, gradient, held):
    """Move classes without a share and below all that have one behind the others; return how many are left."""
    a = 0
    while a < size:
        if held[a] == 0.0 and gradient[a] < bottom:
            size -= 1
            r = active[i, a]
            active[i, a] = active[i, size]
            active[i, size] = r
            gradient[a], held[a] = gradient[size], held[size]
        else:
            a += 1
    return size


def _dot(points, i, weights, r, size):
    total = 0.0
    for f in range(size):
        total += points[i, f] * weights[r, f]
    return total


dot = inner(_dot, _nrt=False, fastmath={"reassoc", "contract", "nsz"})


def _score_dense(rows, i, constant, weights, active, size, scores):
    last = np.uint64(weights.shape[1] - 1)
    for a in range(size):
        r = np.uint64(active[i, a])
        scores[a] = dot(rows.points, i, weights, r, last) + constant * weights[r, last]


def _score_sparse(rows, i, constant, weights, active, size, scores):
    data, features, last = rows.data, rows.features, np.uint64(weights.shape[0] - 1)
    first, end = np.uint64(rows.starts[i]), np.uint64(rows.starts[i + np.uint64(1)])
    if size == weights.shape[1]:  # all classes, in order
        for r in range(np.uint64(size)):
            scores[r] = constant * weights[last, r]
        for place in range(first, end):
            f, value = np.uint64(features[place]), data[place]
            for r in range(np.uint64(size)):
                scores[r] += value * weights[f, r]
        return
    for a in range(size):
        scores[a] = constant * weights[last, np.uint64(active[i, a])]
    for place in range(first, end):
        f, value = np.uint64(features[place]), data[place]
        for a in range(size):
            scores[a] += value * weights[f, np.uint64(active[i, a])]


def _add_dense(rows, i, constant, weights, active, size, steps):
    last = np.uint64(weights.shape[1] - 1)
    for a in range(size):
        r, step = np.uint64(active[i, a]), steps[a]
        if step != 0.0:
            for f in range(last):
                weights[r, f] += step * rows.points[i, f]
            weights[r, last] += step * constant


def _add_sparse(rows, i, constant, weights, active, size, steps):
    data, features, last = rows.data, rows.features, np.uint64(weights.shape[0] - 1)
    for place in range(np.uint64(rows.starts[i]), np.uint64(rows.starts[i + np.uint64(1)])):
        f, value = np.uint64(features[place]), data[place]
        for a in range(size):
            if steps[a] != 0.0:
                weights[f, np.uint64(active[i, a])] += steps[a] * value
    for a in range(size):
        weights[last, np.uint64(active[i, a])] += steps[a] * constant


SCORE = {DenseRows: _score_dense, SparseRows: _score_sparse}
ADD = {DenseRows: _add_dense, SparseRows: _add_sparse}


def score_active(rows, i, constant, weights, active, size, scores):
    """Write the scores of the row's first `size` active classes.

    Weights of dense rows have a row per class, its intercept last; those of sparse rows a column per class.
    """
    return SCORE[type(rows)](rows, i, constant, weights, active, size, scores)


def add_active(rows, i, constant, weights, active, size, steps):
    """Add the row to the weights of its first `size` active classes, times their steps."""
    return ADD[type(rows)](rows, i, constant, weights, active, size, steps)


@overload(score_active, jit_options=BARE_INNER)
def _score_active(rows, i, constant, weights, active, size, scores):
    return SCORE[rows.instance_class]


@overload(add_active, jit_options=BARE_INNER)
def _add_active(rows, i, constant, weights, active, size, steps):
    return ADD[rows.instance_class]


@bare_jit
def descend_rows(
    rows, classes, constant, penalty, lengths, weights, shares, active, sizes, queue, key, sweep, goal, most, buffers
):
    """Sweep over the rows until what they add to the duality gap is at most `goal`, or `most` scores are computed.

    Returns (sweeps, scores), `sweep` sweeps having gone before. Row i has the classes active[i, :sizes[i]]; one that
    has nothing to choose is left out from then on. Gaps are those that rows have when they are visited. `buffers` has
    three rows, as long as there are classes.
    """
    gradient, held, wanted = buffers
    waiting, computed, first = queue.size, 0, sweep
    while True:
        shuffle(queue, waiting, key, sweep)
        gap, k = 0.0, 0
        while k < waiting:
            i = np.uint64(queue[k])
            size, own = sizes[i], classes[i]
            score_active(rows, i, constant, weights, active, size, gradient)
            computed += size
            top, bottom = -np.inf, np.inf
            for a in range(size):
                r = np.uint64(active[i, a])
                held[a] = shares[i, r]
                gradient[a] -= 1.0 if r == own else 0.0
                top = max(top, gradient[a])
                bottom = min(bottom, gradient[a]) if held[a] > 0.0 else bottom
            size = set_aside(i, size, bottom, active, gradient, held)
            sizes[i] = size
            if size <= 1:
                waiting -= 1
                queue[k] = queue[waiting]
                queue[waiting] = np.int64(i)
                continue
            k += 1
            if top <= bottom:
                continue
            divide(size, lengths[i], penalty, top, gradient, held, wanted)
            for a in range(size):
                gap += held[a] * (top - gradient[a])
                shares[i, np.uint64(active[i, a])] = wanted[a]
                wanted[a] = held[a] - wanted[a]
            add_active(rows, i, constant, weights, active, size, wanted)
        sweep += 1
        if gap <= goal or computed >= most or waiting == 0:
            return sweep - first, computed


@bare_inner
def add_kernel(gram, i, scores, r, step):
    """Add step times the kernel values of row i to the scores of class r."""
    for j in range(np.uint64(gram.shape[1])):
        scores[r, j] += step * gram[i, j]


@bare_jit
def descend_gram(gram, classes, penalty, scores, shares, queue, key, sweep, sweeps, worst, buffers):
    """Sweep over the rows `sweeps` times; return the largest violation seen in the last sweep, and how many steps.

    `scores` has a row per class and follows every step. `worst` is the largest violation of the sweep before.
    """
    gradient, held, wanted = buffers
    count, steps = scores.shape[0], 0
    for each in range(sweep, sweep + sweeps):
        shuffle(queue, queue.size, key, each)
        least, worst = WORTH * worst, 0.0
        for k in range(queue.size):
            i = np.uint64(queue[k])
            own, top, bottom = classes[i], -np.inf, np.inf
            for r in range(np.uint64(count)):
                held[r] = shares[i, r]
                gradient[r] = scores[r, i] - (1.0 if r == own else 0.0)
                top = max(top, gradient[r])
                bottom = min(bottom, gradient[r]) if held[r] > 0.0 else bottom
            worst = max(worst, top - bottom)
            if top - bottom <= least:
                continue
            steps += 1
            divide(count, gram[i, i], penalty, top, gradient, held, wanted)
            for r in range(np.uint64(count)):
                if wanted[r] != held[r]:
                    add_kernel(gram, i, scores, r, held[r] - wanted[r])
                    shares[i, r] = wanted[r]
    return worst, steps
