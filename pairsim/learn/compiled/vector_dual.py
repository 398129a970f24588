"""Passes over the rows of vector-labelled data: dual coordinate ascent, and the perceptron with a margin.

A label is a class number and the inner products of the classes' vectors. Where these are 1 for equal classes and one
constant, `other`, for different ones (0 for indicator vectors, -1 / (classes - 1) for the corners of a simplex), the
constant is all that is needed; for other vectors `other` is nan.
"""

from __future__ import annotations

import numpy as np

from pairsim.kernels.jit import bare_jit, inner, jit
from pairsim.learn.compiled.feature_rows import add_row as add_features
from pairsim.learn.compiled.feature_rows import score_row


@inner
def add_row(margins, kernel, classes, own, step, other, products):
    """Add step * kernel * <label, label> to all margins."""
    if other == other:  # a select is vector code, a look-up is twice as slow
        beside = step * other
        for j in range(margins.size):
            margins[j] += kernel[j] * (step if classes[j] == own else beside)
    else:
        for j in range(margins.size):
            margins[j] += kernel[j] * (step * products[own, classes[j]])


@jit
def ascend(gram, classes, other, products, push, offsets, targets, upper, alpha, margins, order):
    """Maximise over one dual variable after the other in the given order; return the largest violation afterwards.

    `margins` are <label, W phi> of the rows and follow every change of alpha. `offsets` are <label, b + push v> of the
    classes, with v the sum of all labels times their variables: the augmented Lagrangian of the constraint v = 0. With
    push = 0 they never change, and without a bias they are 0.
    """
    for k in range(order.size):
        i = order[k]
        own = classes[i]
        gradient = targets[i] - margins[i] - offsets[own]
        curvature = (gram[i, i] + push) * products[own, own]
        if curvature > 0.0:
            moved = min(max(alpha[i] + gradient / curvature, 0.0), upper[i])
        else:  # a row without length gains nothing from its own change: as far as the box allows
            moved = upper[i] if gradient > 0.0 and upper[i] < 1e300 else 0.0
        if moved != alpha[i]:
            change = moved - alpha[i]
            add_row(margins, gram[i], classes, own, change, other, products)
            if push > 0.0:
                for t in range(offsets.size):
                    offsets[t] += push * change * products[own, t]
            alpha[i] = moved
    worst = 0.0
    for i in range(alpha.size):
        gradient = targets[i] - margins[i] - offsets[classes[i]]
        if (gradient > 0.0 and alpha[i] < upper[i]) or (gradient < 0.0 and alpha[i] > 0.0):
            worst = max(worst, abs(gradient))
    return worst


@jit
def kernel_epoch(gram, classes, other, products, step, margin, order, seen, coef, late, margins):
    """Visit the rows in order and add each whose margin is below `margin`; return the number of updates.

    `late` sums step * (visits before the update), `seen` of which came before this epoch: what averaging leaves out.
    """
    updates = 0
    for k in range(order.size):
        i = order[k]
        if margins[i] < margin:
            coef[i] += step
            late[i] += step * (seen + k)
            add_row(margins, gram[i], classes, classes[i], step, other, products)
            updates += 1
    return updates


@jit
def add_known(gram, known, coef, classes, other, products, margins):
    """Add what the known rows give to the margins of new ones, in the order in which the known ones were added."""
    for k in range(known.size):
        add_row(margins, gram[k], classes, known[k], coef[k], other, products)


@bare_jit
def label_epoch(rows, classes, vectors, step, margin, order, seen, weights, late, scores):
    """Visit rows with explicit features and any label vectors; `weights` has a column for each of their dimensions."""
    updates = 0
    for k in range(order.size):
        i = np.uint64(order[k])
        own = classes[i]
        score_row(rows, i, 0.0, weights, scores)
        score = 0.0
        for d in range(vectors.shape[1]):
            score += vectors[own, d] * scores[d]
        if score < margin:
            for d in range(vectors.shape[1]):
                if vectors[own, d] != 0.0:
                    add_features(rows, i, 0.0, weights, np.uint64(d), step * vectors[own, d])
                    add_features(rows, i, 0.0, late, np.uint64(d), step * vectors[own, d] * np.float64(seen + k))
            updates += 1
    return updates


@jit
def linear_epoch(points, classes, other, step, margin, order, seen, sums, late):
    """Do the same with explicit features: sums[t] is the sum of the added rows of class t, its last row that of all."""
    updates, total = 0, sums.shape[0] - 1
    for k in range(order.size):
        i = order[k]
        own = classes[i]
        score = 0.0
        for f in range(points.shape[1]):
            score += points[i, f] * ((1.0 - other) * sums[own, f] + other * sums[total, f])
        if score < margin:
            for f in range(points.shape[1]):
                added = step * points[i, f]
                sums[own, f] += added
                sums[total, f] += added
                late[own, f] += added * (seen + k)
            updates += 1
    return updates


@jit
def sparse_epoch(data, indices, starts, classes, other, step, margin, order, seen, sums, late):
    """Do as `linear_epoch` on compressed sparse rows."""
    updates, total = 0, sums.shape[0] - 1
    for k in range(order.size):
        i = order[k]
        own = classes[i]
        score = 0.0
        for place in range(starts[i], starts[i + 1]):
            f = indices[place]
            score += data[place] * ((1.0 - other) * sums[own, f] + other * sums[total, f])
        if score < margin:
            for place in range(starts[i], starts[i + 1]):
                f, added = indices[place], step * data[place]
                sums[own, f] += added
                sums[total, f] += added
                late[own, f] += added * (seen + k)
            updates += 1
    return updates
