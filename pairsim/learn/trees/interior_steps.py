"""Compiled steps of an interior-point method for a linear support vector machine with few features.

Minimise |w|^2 / 2 + sum_i c_i max(0, 1 - y_i (w x_i + b)). A point has a dual variable a in (0, c) and multipliers s of
a >= 0 and t of a <= c. Optimal are y (w x + b) - 1 = s - t, w = sum of y a x, sum of y a = 0, a s = 0, (c - a) t = 0.
Newton's equations have as many unknowns as there are features, and one for the bias, because the matrix of the dual is
that of the points' products plus a diagonal (Ferris and Munson, "Interior-point methods for massive support vector
machines", 2002); predictor and corrector are Mehrotra's (1992).

`columns` holds a feature per row, a point per column, so that loops run over points; the last feature is 1, and its
weight is the bias.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pairsim.kernels.jit import inner, jit
from pairsim.learn.compiled.extremes import larger

ANY_ORDER = {"reassoc", "contract", "nsz", "nnan"}
SHORTEN = 0.995  # of the way to the boundary
SMALLEST = 1e-14  # a pivot, as a part of the diagonal
SCRATCH = 8  # rows of it


def _dot(left: Any, right: Any) -> Any:
    total = 0.0
    for i in range(left.size):
        total += left[i] * right[i]
    return total


def _dot_four(left: Any, first: Any, second: Any, third: Any, fourth: Any) -> Any:
    p, q, r, s = 0.0, 0.0, 0.0, 0.0
    for i in range(left.size):
        value = left[i]
        p += value * first[i]
        q += value * second[i]
        r += value * third[i]
        s += value * fourth[i]
    return p, q, r, s


def _multiply(result: Any, left: Any, right: Any) -> None:
    for i in range(result.size):
        result[i] = left[i] * right[i]


def _add(result: Any, factor: Any, column: Any) -> None:
    for i in range(result.size):
        result[i] += factor * column[i]


def _invert(alpha: Any, room: Any, boxes: Any, lower: Any, upper: Any, by_alpha: Any, by_room: Any, shares: Any) -> Any:
    """Set the reciprocals and the inverse of the diagonal; return the sum of the complementarity products."""
    total = 0.0
    for i in range(alpha.size):
        room[i] = boxes[i] - alpha[i]
        by_alpha[i], by_room[i] = 1.0 / alpha[i], 1.0 / room[i]
        shares[i] = 1.0 / (lower[i] * by_alpha[i] + upper[i] * by_room[i])
        total += alpha[i] * lower[i] + room[i] * upper[i]
    return total


def _predict(
    margins: Any, turn: Any, shares: Any, by_alpha: Any, by_room: Any, lower: Any, upper: Any, down: Any, above: Any
) -> Any:
    """Set the products of the predictor's changes; return the reciprocal of the step to the boundary, and their sum."""
    worst, total = 1.0, 0.0
    for i in range(margins.size):
        move = shares[i] * (1.0 - margins[i] - turn[i])
        p, q = move * by_alpha[i], move * by_room[i]
        worst = larger(larger(larger(worst, -p), larger(1.0 + p, q)), 1.0 - q)
        down[i], above[i] = move * lower[i] * (1.0 + p), -move * upper[i] * (1.0 - q)
        total += down[i] + above[i]
    return worst, total


def _aim(margins: Any, shares: Any, by_alpha: Any, by_room: Any, goal: Any, down: Any, above: Any, moves: Any) -> None:
    """Add the goal of the products; set what the corrector's changes would be with weights that do not change."""
    for i in range(margins.size):
        down[i] += goal
        above[i] += goal
        moves[i] = shares[i] * (1.0 - margins[i] + down[i] * by_alpha[i] - above[i] * by_room[i])


def _correct(
    moves: Any, turn: Any, shares: Any, by_alpha: Any, by_room: Any, lower: Any, upper: Any, down: Any, above: Any
) -> Any:
    """Set the changes of the variables; return the reciprocal of the step to the boundary."""
    worst = SHORTEN
    for i in range(moves.size):
        move = moves[i] - shares[i] * turn[i]
        fall = (down[i] - lower[i] * move) * by_alpha[i] - lower[i]
        rise = (above[i] + upper[i] * move) * by_room[i] - upper[i]
        worst = larger(larger(worst, -move * by_alpha[i]), move * by_room[i])
        worst = larger(larger(worst, -fall / lower[i]), -rise / upper[i])
        moves[i], down[i], above[i] = move, fall, rise
    return worst


def _loss(margins: Any, boxes: Any) -> Any:
    total = 0.0
    for i in range(margins.size):
        total += boxes[i] * larger(0.0, 1.0 - margins[i])
    return total


dot = inner(_dot, _nrt=False, fastmath=ANY_ORDER)
dot_four = inner(_dot_four, _nrt=False, fastmath=ANY_ORDER)
multiply = inner(_multiply, _nrt=False)
add = inner(_add, _nrt=False)
invert = inner(_invert, _nrt=False, fastmath=ANY_ORDER)
predict = inner(_predict, _nrt=False, fastmath=ANY_ORDER)
aim = inner(_aim, _nrt=False)
correct = inner(_correct, _nrt=False, fastmath=ANY_ORDER)
loss_of = inner(_loss, _nrt=False, fastmath=ANY_ORDER)


@inner
def factorise(matrix: Any) -> Any:
    """Put the lower Cholesky factor into the place of a symmetric matrix's lower half; return whether that worked."""
    for a in range(matrix.shape[0]):
        own = matrix[a, a]
        for b in range(a):
            matrix[a, b] = (matrix[a, b] - dot(matrix[a, :b], matrix[b, :b])) / matrix[b, b]
        pivot = max(own - dot(matrix[a, :a], matrix[a, :a]), SMALLEST * own)
        if not pivot > 0.0:
            return False
        matrix[a, a] = np.sqrt(pivot)
    return True


@inner
def solve(factor: Any, right: Any) -> None:
    """Replace the right side by the solution."""
    size = right.size
    for a in range(size):
        right[a] = (right[a] - dot(factor[a, :a], right[:a])) / factor[a, a]
    for a in range(size - 1, -1, -1):
        right[a] /= factor[a, a]
        add(right[:a], -right[a], factor[a, :a])


@inner
def gather(columns: Any, signs: Any, values: Any, signed: Any, total: Any) -> None:
    """Set `total` to the sum of the points, each times its sign and value; `signed` is scratch."""
    multiply(signed, signs, values)
    for f in range(total.size):
        total[f] = dot(columns[f], signed)


@inner
def scatter(columns: Any, signs: Any, weights: Any, result: Any) -> None:
    """Set `result` to the products of the points with the weights, times their signs."""
    result[:] = 0.0
    for f in range(weights.size):
        add(result, weights[f], columns[f])
    multiply(result, result, signs)


@inner
def weigh(columns: Any, shares: Any, scaled: Any, matrix: Any) -> None:
    """Set the lower half of a matrix to the sum of the points' products with themselves, times their shares."""
    for a in range(matrix.shape[0]):
        multiply(scaled, shares, columns[a])
        whole = (a + 1) // 4 * 4
        for b in range(0, whole, 4):
            p, q, r, s = dot_four(scaled, columns[b], columns[b + 1], columns[b + 2], columns[b + 3])
            matrix[a, b], matrix[a, b + 1], matrix[a, b + 2], matrix[a, b + 3] = p, q, r, s
        for b in range(whole, a + 1):
            matrix[a, b] = dot(scaled, columns[b])


@jit
def start_inside(columns: Any, signs: Any, boxes: Any, variables: Any, made: Any, scratch: Any) -> None:
    """Set the variables to a point inside all limits, for weights 0; `made` are the weights that they would make."""
    alpha, lower, upper = variables[0], variables[1], variables[2]
    plus, minus = 0.0, 0.0
    for i in range(signs.size):
        if signs[i] > 0.0:
            plus += boxes[i]
        else:
            minus += boxes[i]
    least = 0.5 * min(plus, minus)
    for i in range(signs.size):
        alpha[i] = boxes[i] * least / (plus if signs[i] > 0.0 else minus)
    lower[:] = 1.0
    upper[:] = 2.0
    gather(columns, signs, alpha, scratch[0], made)


@jit
def step_inside(
    columns: Any,
    signs: Any,
    boxes: Any,
    variables: Any,
    margins: Any,
    weights: Any,
    made: Any,
    matrix: Any,
    change: Any,
    scratch: Any,
) -> Any:
    """Take one step of predictor and corrector; return the primal objective and the highest dual one there.

    `variables` are a, s and t; `made` are the weights that the dual variables make, which the weights approach. The
    dual objective is that of the variables times the best factor up to 1. `matrix` (weights, weights), `change` and
    `scratch` (SCRATCH, points) are scratch. The dual objective is nan where the step failed.
    """
    alpha, lower, upper = variables[0], variables[1], variables[2]
    shares, moves, down, above = scratch[0], scratch[1], scratch[2], scratch[3]
    room, by_alpha, by_room, turn = scratch[4], scratch[5], scratch[6], scratch[7]
    size = weights.size
    total = invert(alpha, room, boxes, lower, upper, by_alpha, by_room, shares)
    weigh(columns, shares, turn, matrix)
    for f in range(size - 1):
        matrix[f, f] += 1.0
    if not factorise(matrix):
        return np.inf, np.nan
    for i in range(alpha.size):
        moves[i] = shares[i] * (1.0 - margins[i])
    gather(columns, signs, moves, turn, change)
    for f in range(size):
        change[f] += made[f] - (weights[f] if f < size - 1 else 0.0)  # the last is the sum of the signed variables
    solve(matrix, change)
    scatter(columns, signs, change, turn)
    worst, products = predict(margins, turn, shares, by_alpha, by_room, lower, upper, down, above)
    # after a step, products of complementary variables are (1 - step) times themselves and step^2 times the changes'
    ahead = (1.0 - 1.0 / worst) - products / total / worst**2
    aim(margins, shares, by_alpha, by_room, max(ahead, 0.0) ** 3 * total / (2.0 * alpha.size), down, above, moves)
    gather(columns, signs, moves, turn, change)
    for f in range(size):
        change[f] += made[f] - (weights[f] if f < size - 1 else 0.0)
    solve(matrix, change)
    scatter(columns, signs, change, turn)
    step = SHORTEN / correct(moves, turn, shares, by_alpha, by_room, lower, upper, down, above)
    add(alpha, step, moves)
    add(lower, step, down)
    add(upper, step, above)
    add(weights, step, change)
    gather(columns, signs, alpha, turn, made)
    scatter(columns, signs, weights, margins)
    square, other, sum_ = dot(weights[:-1], weights[:-1]), dot(made[:-1], made[:-1]), 0.0
    for i in range(alpha.size):
        sum_ += alpha[i]
    factor = min(1.0, sum_ / other) if other > 0.0 else 1.0
    return 0.5 * square + loss_of(margins, boxes), factor * (sum_ - 0.5 * factor * other)
