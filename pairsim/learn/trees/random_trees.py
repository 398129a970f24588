"""Random systems of nested dichotomies: uniform ones, and those that halve the classes or the rows at every node.

Sides are unordered: the one with the lowest class is written on the left, so that equal systems are equal trees.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsim.learn.trees.class_tree import Classes, ClassTree

Rows = NDArray[np.int64]
Draw = Callable[[Rows, np.random.RandomState], ClassTree]  # rows of each class to a tree


def draw_uniform(rows: Rows, rng: np.random.RandomState) -> ClassTree:
    """Return any of the (2n - 3)!! systems with the same probability.

    A tree of j classes has 2j - 1 places for the next one: beside every node, leaf or inner. Each tree of all classes
    comes from one sequence of places only, and there are 1 * 3 * ... * (2n - 3) sequences.

    Examples
    --------
    >>> rng = np.random.RandomState(0)
    >>> draw_uniform(np.ones(5, np.int64), rng).nested
    ((((0, 1), 4), 2), 3)
    """
    trunk: list[Any] = [0]
    places = [(trunk, 0)]
    for c in range(1, len(rows)):
        holder, side = places[rng.randint(len(places))]
        holder[side] = [holder[side], c]  # what stands there has lower classes than c, and only higher ones will come
        places += [(holder[side], 0), (holder[side], 1)]
    return ClassTree.of_nested(trunk[0])


def draw_class_balanced(rows: Rows, rng: np.random.RandomState) -> ClassTree:
    """Return any of the systems whose every dichotomy halves the number of classes, up to one."""

    def split(classes: Classes) -> tuple[list[int], list[int]]:
        dealt = rng.permutation(classes).tolist()
        return _lowest_first(dealt[: len(dealt) // 2], dealt[len(dealt) // 2 :])

    return ClassTree.grow(len(rows), split)


def draw_data_balanced(rows: Rows, rng: np.random.RandomState) -> ClassTree:
    """Return a system whose dichotomies halve the rows roughly.

    Classes in random order are dealt to both sides in turn, until one has half of the node's rows; the others join the
    other side.
    """

    def split(classes: Classes) -> tuple[list[int], list[int]]:
        dealt = rng.permutation(classes).tolist()
        half = rows[list(classes)].sum() / 2.0
        sides: tuple[list[int], list[int]] = ([], [])
        held, turn = [0, 0], 0
        for c in dealt:
            full = [turn for turn in (0, 1) if held[turn] >= half]
            turn = 1 - full[0] if full else turn
            sides[turn].append(c)
            held[turn] += rows[c]
            turn = 1 - turn
        return _lowest_first(*sides)

    return ClassTree.grow(len(rows), split)


def _lowest_first(one: list[int], two: list[int]) -> tuple[list[int], list[int]]:
    return (one, two) if min(one) < min(two) else (two, one)


SPLITS: dict[str, Draw] = {
    "random": draw_uniform,
    "class-balanced": draw_class_balanced,
    "data-balanced": draw_data_balanced,
}
