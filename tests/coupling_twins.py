"""Plain Python twins of `pairsim.coupling`, written from the papers' formulas: one row, nested lists, no tricks."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Square = list[list[float]]


def square(row: Sequence[float], n: int) -> Square:
    """Return r_ij for both orders of a pair, from the probabilities of the lower classes."""
    r = [[0.0] * n for _ in range(n)]
    values = iter(row)
    for i in range(n):
        for j in range(i + 1, n):
            r[i][j] = float(next(values))
            r[j][i] = 1.0 - r[i][j]
    return r


def others(i: int, n: int) -> list[int]:
    return [j for j in range(n) if j != i]


def scaled(p: list[float]) -> list[float]:
    return [x / math.fsum(p) for x in p]


def votes(row: Sequence[float], n: int) -> list[int]:
    won = [0] * n
    values = iter(row)
    for i in range(n):
        for j in range(i + 1, n):
            won[i if next(values) > 0 else j] += 1
    return won


def margin_sums(row: Sequence[float], n: int) -> list[float]:
    terms: list[list[float]] = [[] for _ in range(n)]
    values = iter(row)
    for i in range(n):
        for j in range(i + 1, n):
            margin = float(next(values))
            terms[i].append(margin)
            terms[j].append(-margin)
    return [math.fsum(each) for each in terms]


def settle(scores: Sequence[float], row: Sequence[float], n: int, rule: str) -> int:
    tied = [i for i in range(n) if scores[i] == max(scores)]
    if rule == "margin":
        second = margin_sums(row, n)
    elif rule == "head-to-head":
        duel = dict(zip([(i, j) for i in range(n) for j in range(i + 1, n)], row, strict=True))
        second = [sum(duel[i, j] > 0 if i < j else duel[j, i] <= 0 for j in tied if j != i) for i in range(n)]
    else:
        second = [0.0] * n
    return max(tied, key=lambda i: (second[i], -i))


def price_and_others(row: Sequence[float], n: int) -> list[float]:
    r = square(row, n)
    return scaled([1 / (sum(1 / r[i][j] for j in others(i, n)) - (n - 2)) for i in range(n)])


def non_dominance(row: Sequence[float], n: int) -> list[float]:
    r = square(row, n)
    strict = [[max(r[i][j] - r[j][i], 0.0) for j in range(n)] for i in range(n)]
    return [1 - max(strict[j][i] for j in others(i, n)) for i in range(n)]


def divergence(row: Sequence[float], weights: Sequence[float], p: Sequence[float]) -> float:
    """Return the weighted Kullback-Leibler divergence of the fitted probabilities from r, all inside (0, 1)."""
    n = len(p)
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    terms = []
    for (i, j), r, weight in zip(pairs, row, weights, strict=True):
        terms.append(weight * r * math.log(r * (p[i] + p[j]) / p[i]))
        terms.append(weight * (1 - r) * math.log((1 - r) * (p[i] + p[j]) / p[j]))
    return math.fsum(terms)


def hastie_and_tibshirani(row: Sequence[float], n: int, weights: Sequence[float], sweeps: int) -> list[float]:
    """Sweep as the paper has it: scale p_i by observed over fitted wins, normalise, recompute the fit."""
    r, games = square(row, n), square(weights, n)
    for i in range(n):
        for j in range(i):
            games[i][j] = games[j][i]
    p, before = [1 / n] * n, [0.0] * n
    for _ in range(sweeps):
        if max(abs(new - old) for new, old in zip(p, before, strict=True)) < 1e-14:
            break
        before = p
        for i in range(n):
            fitted = sum(games[i][j] * p[i] / (p[i] + p[j]) for j in others(i, n))
            won = sum(games[i][j] * r[i][j] for j in others(i, n))
            p = scaled([p[j] * (won / fitted if j == i else 1.0) for j in range(n)])
    return p


def form(row: Sequence[float], n: int) -> Square:
    """Return the matrix Q of Wu, Lin and Weng's second approach."""
    r = square(row, n)
    return [
        [sum(r[s][i] ** 2 for s in others(i, n)) if i == j else -r[j][i] * r[i][j] for j in range(n)] for i in range(n)
    ]


def quadratic(row: Sequence[float], n: int, p: Sequence[float]) -> float:
    """Return the sum that the second approach minimises, term by term."""
    r = square(row, n)
    return math.fsum((r[j][i] * p[i] - r[i][j] * p[j]) ** 2 for i in range(n) for j in others(i, n))


def wu_and_others(row: Sequence[float], n: int, residual: float, most: int) -> list[float]:
    """Iterate as the paper (and LIBSVM) does: solve for one entry at a time, normalise, until Qp is nearly constant."""
    q = form(row, n)
    p = [1 / n] * n
    for _ in range(most):
        product = [sum(q[t][j] * p[j] for j in range(n)) for t in range(n)]
        value = sum(p[t] * product[t] for t in range(n))
        if max(abs(entry - value) for entry in product) < residual:
            break
        for t in range(n):
            value = sum(p[a] * q[a][b] * p[b] for a in range(n) for b in range(n))
            p[t] = (value - sum(q[t][j] * p[j] for j in others(t, n))) / q[t][t]
            p = scaled(p)
    return p


def relabelled(row: NDArray[np.float64], n: int, order: Sequence[int], *, probabilities: bool) -> NDArray[np.float64]:
    """Return the row of the same data point when class order[k] is called k."""
    full = np.zeros((n, n))
    upper = np.triu_indices(n, 1)
    full[upper] = row
    full.T[upper] = 1.0 - row if probabilities else -row
    return full[np.ix_(order, order)][upper]
