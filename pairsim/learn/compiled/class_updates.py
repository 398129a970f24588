"""Passes of learners that keep one weight vector per class: the perceptron's two rules, and stochastic subgradients.

Weights are laid out as in `feature_rows`. Averages are lazy: `late` sums each change times what the average must leave
out of it, so that a visit costs no more than its scores and its change.
"""

from __future__ import annotations

import numpy as np

from pairsim.kernels.jit import bare_inner, bare_jit
from pairsim.learn.compiled.feature_rows import add_row, score_row


@bare_inner
def best_other(scores, own, count):
    """Return the first of the highest scoring classes other than `own`."""
    best = 1 if own == 0 else 0
    for r in range(best + 1, count):
        if r != own and scores[r] > scores[best]:
            best = r
    return best


@bare_inner
def change_class(rows, i, constant, r, step, seen, weights, late):
    """Add step times row i to class r, and `seen` times that to `late`."""
    add_row(rows, i, constant, weights, np.uint64(r), step)
    add_row(rows, i, constant, late, np.uint64(r), step * seen)


@bare_jit
def perceptron_epoch(rows, classes, count, constant, spread, order, seen, weights, late, scores):
    """Visit the rows in order and learn from each that another class scores at least as high; return how many.

    The right class has the row added; with `spread` it is taken in equal parts from all those classes, else from the
    first of the best. `late` sums changes times the visits before them, `seen` of which came before this epoch.
    """
    mistakes = 0
    for k in range(order.size):
        i = np.uint64(order[k])
        own = classes[i]
        score_row(rows, i, constant, weights, scores)
        best = best_other(scores, own, count)
        if scores[best] < scores[own]:
            continue
        mistakes += 1
        before = np.float64(seen + k)
        if spread:
            wrong = 0
            for r in range(count):
                wrong += r != own and scores[r] >= scores[own]
            for r in range(count):
                if r != own and scores[r] >= scores[own]:
                    change_class(rows, i, constant, r, -1.0 / wrong, before, weights, late)
        else:
            change_class(rows, i, constant, best, -1.0, before, weights, late)
        change_class(rows, i, constant, own, 1.0, before, weights, late)
    return mistakes


@bare_jit
def gradient_epoch(rows, classes, count, constant, penalty, always, order, seen, half, scale, weights, late, scores):
    """Visit the rows in order with the steps 1 / (penalty t) of W for penalty |W|**2 / 2 + hinge loss, t = 1, 2, ...

    W is scale[0] times `weights`. It shrinks by 1 - 1 / t in every step, or only where the loss is positive if not
    `always`. scale[1] sums scale[0] over the steps after the first `half`, and `late` sums changes times what scale[1]
    was before them: what the average over those steps leaves out. `seen` steps came before this epoch.
    """
    for k in range(order.size):
        i, t = np.uint64(order[k]), np.float64(seen + k + 1)
        own = classes[i]
        score_row(rows, i, constant, weights, scores)
        best = best_other(scores, own, count)
        active = 1.0 + scale[0] * (scores[best] - scores[own]) > 0.0
        if t > 1.0 and (always or active):  # W is 0 before the first step: nothing to shrink
            scale[0] *= 1.0 - 1.0 / t
        if active:
            step = 1.0 / (penalty * t * scale[0])
            change_class(rows, i, constant, own, step, scale[1], weights, late)
            change_class(rows, i, constant, best, -step, scale[1], weights, late)
        if seen + k >= half:
            scale[1] += scale[0]
