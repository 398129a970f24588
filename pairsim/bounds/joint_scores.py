"""The joint distribution of a few scores of a random tournament, as a table of monomials.

Take r of the m wrong classes of uniform(n, p). Each plays the m - r others in independent fair games, and the r play
each other. So, for any function h of a score, with

    g[k] = E h(k + Bin(m - r, 1/2)),

the expectation of the product of h over the r scores is a sum over the r classes' own sub-tournaments of a product
of g's: a class with d wins inside gives g[d], or g[d + 1] when it also beat class 0. The 2**(r(r-1)/2)
sub-tournaments fall into few products, which depend on nothing but r and on how many of the r beat class 0.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ORDER = 7  # 1,108 products in all; each further order costs about five times as much


class JointScores(NamedTuple):
    """One row a product, orders ascending: weight[i] times g[places[i, 0]] ... g[places[i, order[i] - 1]]."""

    order: NDArray[np.int64]
    slot: NDArray[np.int64]  # which (order, number that beat class 0) the row adds to
    weight: NDArray[np.float64]
    places: NDArray[np.int64]  # [row, ORDER]


def slot_of(order: int, beat: int) -> int:
    """Return the place of (order, beat), beat = 0 .. order, in a row of moments.

    Examples
    --------
    >>> slot_of(1, 0), slot_of(1, 1), slot_of(2, 0)
    (0, 1, 2)
    """
    return order * (order + 1) // 2 - 1 + beat


def _add_class(vectors: NDArray[np.int64], counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the score vectors of tournaments with one class more, and how many tournaments have each."""
    size = vectors.shape[1]
    outcomes = (np.arange(1 << size)[:, None] >> np.arange(size)) & 1  # 1: the old class beats the new one
    older = vectors[:, None, :] + outcomes[None, :, :]
    newest = np.broadcast_to(size - outcomes.sum(axis=1), older.shape[:2])
    grown = np.concatenate((older, newest[:, :, None]), axis=2).reshape(-1, size + 1)
    return _merge(grown, np.repeat(counts, 1 << size))


def _merge(rows: NDArray[np.int64], counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the different rows (numbers below 16) and their summed counts."""
    digits = 16 ** np.arange(rows.shape[1])
    keys, inverse = np.unique(rows @ digits, return_inverse=True)
    sums = np.zeros(keys.size, np.int64)
    np.add.at(sums, inverse, counts)
    return (keys[:, None] // digits) % 16, sums


@functools.cache
def joint_scores() -> JointScores:
    """Return the table for every order up to `ORDER`.

    Examples
    --------
    >>> table = joint_scores()
    >>> pair = table.slot == slot_of(2, 0)  # two classes that both lost to class 0: one of them has won a game
    >>> table.places[pair, :2].tolist(), table.weight[pair].tolist()
    ([[1, 0]], [1.0])
    """
    vectors, counts = np.zeros((1, 1), np.int64), np.ones(1, np.int64)
    orders, slots, weights, places = [], [], [], []
    for order in range(1, ORDER + 1):
        if order > 1:
            vectors, counts = _add_class(vectors, counts)
        for beat in range(order + 1):
            raised = vectors + (np.arange(order) < beat)
            rows, sums = _merge(-np.sort(-raised, axis=1), counts)
            orders.append(np.full(len(rows), order))
            slots.append(np.full(len(rows), slot_of(order, beat)))
            weights.append(sums / 2.0 ** math.comb(order, 2))
            places.append(np.pad(rows, ((0, 0), (0, ORDER - order))))
    return JointScores(np.concatenate(orders), np.concatenate(slots), np.concatenate(weights), np.concatenate(places))
