"""Passes over the rows of vector-labelled data: dual coordinate ascent, and the perceptron with a margin.

Labels are unit vectors whose inner product is 1 for equal classes and `other` for different ones (0 for indicator
vectors, -1 / (classes - 1) for the corners of a simplex), so a label is a class number and one constant.
"""

from __future__ import annotations

from pairsim.kernels.jit import inner, jit


@inner
def add_row(margins, kernel, classes, own, step, other):
    """Add step * kernel * <label, label> to all margins."""
    beside = step * other
    for j in range(margins.size):
        margins[j] += kernel[j] * (step if classes[j] == own else beside)


@jit
def ascend(gram, classes, other, targets, upper, alpha, margins, order):
    """Maximise over one dual variable after the other in the given order; return the largest violation afterwards.

    `margins` are <label, W phi> of the rows and follow every change of alpha.
    """
    for k in range(order.size):
        i = order[k]
        gradient, curvature = targets[i] - margins[i], gram[i, i]
        if curvature > 0.0:
            moved = min(max(alpha[i] + gradient / curvature, 0.0), upper[i])
        else:  # a row without length gains nothing by itself: as far as the box allows
            moved = upper[i] if gradient > 0.0 and upper[i] < 1e300 else 0.0
        if moved != alpha[i]:
            add_row(margins, gram[i], classes, classes[i], moved - alpha[i], other)
            alpha[i] = moved
    worst = 0.0
    for i in range(alpha.size):
        gradient = targets[i] - margins[i]
        if (gradient > 0.0 and alpha[i] < upper[i]) or (gradient < 0.0 and alpha[i] > 0.0):
            worst = max(worst, abs(gradient))
    return worst


@jit
def kernel_epoch(gram, classes, other, step, margin, order, seen, coef, late, margins):
    """Visit the rows in order and add each whose margin is below `margin`; return the number of updates.

    `late` sums step * (visits before the update), `seen` of which came before this epoch: what averaging leaves out.
    """
    updates = 0
    for k in range(order.size):
        i = order[k]
        if margins[i] < margin:
            coef[i] += step
            late[i] += step * (seen + k)
            add_row(margins, gram[i], classes, classes[i], step, other)
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
