"""Perceptrons of all pairs of classes, step for step what scikit-learn's `Perceptron` does.

For one pair: w = 0 and b = 0; in each epoch the rows of the two classes come in a shuffled order, and a row that is not
on its side, y (w . x + b) <= 0, adds eta y x to w and eta y to b. An epoch's objective is the mean of -y (w . x + b)
over the rows that were wrong when they came.

Two things make it fast without changing a bit of the result. A product w . x matters only by its sign unless the row is
wrong, so it is added up in the order that is fastest, and again one by one (as scikit-learn does) where the row is
wrong or so near that rounding could decide. And an epoch without a wrong row is the last that changes anything.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pairsim.kernels.jit import bare_inner, inner, jit

LEAST_GAP = 1e-290  # products below the normal numbers lose digits: a sum this small is always added up one by one


class Rows(NamedTuple):
    """Data points, class by class, each class in the order of the data."""

    points: np.ndarray  # float64[rows, features]
    places: np.ndarray  # int64[rows]: where each stood before they were sorted by class
    borders: np.ndarray  # int64[n + 1]: class c has the rows borders[c] .. borders[c + 1] - 1
    sums: np.ndarray  # float64[rows]: of sizes of a row's numbers, with the slack for rounding on it
    largest: np.ndarray  # float64[rows]: of sizes of a row's numbers


class Course(NamedTuple):
    """How to train; the fields are the parameters of `Perceptron`, with tol = -inf for None."""

    eta: float
    fit_intercept: bool
    max_iter: int
    tol: float
    patience: int  # n_iter_no_change
    shuffle: bool


def _dot(a, b):
    total = 0.0
    for k in range(a.size):
        total += a[k] * b[k]
    return total


fast_dot = inner(_dot, fastmath={"reassoc", "contract", "nsz"})


@bare_inner
def dot_in_order(a, b):
    """Add up the products one by one (a function of its own: how one is compiled belongs to the function)."""
    total = 0.0
    for k in range(a.size):
        total += a[k] * b[k]
    return total


@bare_inner
def list_members(rows, low, high, members):
    """Write the rows of the two classes in the order of the data; return how many."""
    places, borders = rows.places, rows.borders
    a, a_end, b, b_end = borders[low], borders[low + 1], borders[high], borders[high + 1]
    size = 0
    while a < a_end or b < b_end:
        if b == b_end or (a < a_end and places[a] < places[b]):
            members[size] = a
            a += 1
        else:
            members[size] = b
            b += 1
        size += 1
    return size


@bare_inner
def write_turns(seed, size, turns):
    """Write scikit-learn's shuffle of `size` rows: Fisher-Yates by a 32-bit xorshift generator."""
    for k in range(size):
        turns[k] = k
    state = seed if seed != np.uint32(0) else np.uint32(1)
    for k in range(size - 1):
        state ^= np.uint32(state << np.uint32(13))
        state ^= np.uint32(state >> np.uint32(17))
        state ^= np.uint32(state << np.uint32(5))
        other = k + np.int64(state & np.uint32(0x7FFFFFFF)) % (size - k)
        turns[k], turns[other] = turns[other], turns[k]


@bare_inner
def count_epochs(course, epoch, best, quiet):
    """Return the number of epochs when all after number `epoch` (the last one counted in `quiet`) are without errors.

    The rule of the stop is scikit-learn's: `patience` epochs in a row that are not better than the best by `tol`.
    """
    if course.tol == -np.inf:
        return course.max_iter
    while epoch < course.max_iter and quiet < course.patience:
        if best == 0.0 and course.tol == 0.0:
            return course.max_iter
        quiet = quiet + 1 if best - course.tol < 0.0 else 0
        best = 0.0
        epoch += 1
    return epoch


@inner
def fit_pair(rows, course, border, members, turns, order, spare, size, w, intercept):
    """Train w and intercept[0] from 0 on `size` rows; return the epochs, negative where numbers became infinite.

    Rows before `border` are of the lower class. `order` starts as 0 .. size - 1.
    """
    points, sums, largest = rows.points, rows.sums, rows.largest
    b = 0.0
    reach = 0.0  # no entry of w is larger
    best = np.inf
    quiet = 0
    for epoch in range(course.max_iter):
        if course.shuffle:
            for k in range(size):  # every epoch shuffles by the same seed what the last one left
                spare[k] = order[turns[k]]
            order, spare = spare, order
        objective = 0.0
        wrong = 0
        for k in range(size):
            row = members[order[k]]
            x = points[row]
            y = -1.0 if row < border else 1.0
            if y * (fast_dot(w, x) + b) > reach * sums[row] + LEAST_GAP:
                continue
            z = (dot_in_order(w, x) + b) * y
            if z <= 0.0:
                objective += 0.0 - z
                step = course.eta * y
                for feature in range(w.size):
                    w[feature] += x[feature] * step
                if course.fit_intercept:
                    b += step
                reach += course.eta * largest[row] * 1.001
                wrong += 1
        intercept[0] = b
        total = b
        for feature in range(w.size):
            total += w[feature] * 0.0
        if not np.isfinite(total):
            return -(epoch + 1)
        objective /= size
        quiet = quiet + 1 if course.tol > -np.inf and objective > best - course.tol else 0
        best = min(best, objective)
        if quiet >= course.patience:
            return epoch + 1
        if wrong == 0:
            return count_epochs(course, epoch + 1, best, quiet)
    return course.max_iter


@jit
def fit_pairs(rows, course, low, high, seeds, coef, intercept, epochs):
    """Train the pairs (low[k], high[k]); write the epochs that each took, negative where numbers became infinite.

    `coef` and `intercept` start at 0 and speak for the higher class of the pair, as in scikit-learn.
    """
    most = 0
    for c in range(rows.borders.size - 1):
        most = max(most, rows.borders[c + 1] - rows.borders[c])
    members, turns = np.empty(2 * most, np.int64), np.empty(2 * most, np.int64)
    order, spare = np.empty(2 * most, np.int64), np.empty(2 * most, np.int64)
    known_size, known_seed = -1, np.uint32(0)
    for k in range(coef.shape[0]):
        i, j = low[k], high[k]
        size = list_members(rows, i, j, members)
        if course.shuffle and (size != known_size or seeds[k] != known_seed):
            known_size, known_seed = size, seeds[k]
            write_turns(known_seed, size, turns)
        for place in range(size):
            order[place] = place
        epochs[k] = fit_pair(
            rows, course, rows.borders[i + 1], members, turns, order, spare, size, coef[k], intercept[k : k + 1]
        )
