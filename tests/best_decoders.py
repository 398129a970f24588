"""The best decoders that exist for a few classes, by dynamic programming over all states of all answers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.float64]


class Game:
    """A few classes of which one is the true one: each world has a true class and the probabilities of the pairs.

    A state says of each pair whether it was not asked (0), or answered for the lower (1) or the higher class (2): the
    axes of a table with three places each.
    """

    def __init__(self, n: int, worlds: list[tuple[int, Table]]) -> None:
        self.axes = n * (n - 1) // 2
        weights = np.zeros((n, *(3,) * self.axes))
        for truth, probabilities in worlds:
            likelihood = np.ones(())
            for i, j in itertools.combinations(range(n), 2):
                likelihood = np.multiply.outer(likelihood, [1.0, probabilities[i, j], 1.0 - probabilities[i, j]])
            weights[truth] += likelihood / len(worlds)
        self.right = weights.max(axis=0)  # the probability of the state, the best prediction being correct
        self.state = weights.sum(axis=0)

    def best_successes(self) -> list[float]:
        """Return the success of the best decoder with at most 0, 1, 2 ... all pairs."""
        value = self.right
        found = [float(value.flat[0])]
        for _ in range(self.axes):
            better = value.copy()
            for asked, low, high in self._children(better, value):
                np.maximum(asked, low + high, out=asked)
            value = better
            found.append(float(value.flat[0]))
        return found

    def best_mean(self, penalty: float) -> tuple[float, float]:
        """Return the success and the mean queries of the decoder with the least mean queries + penalty * failures."""
        cost, right, queries = penalty * (self.state - self.right), self.right, np.zeros_like(self.state)
        for _ in range(self.axes):
            tables = cost.copy(), right.copy(), queries.copy()
            views = zip(*(list(self._children(new, old)) for new, old in
                          zip(tables, (cost, right, queries), strict=True)), strict=True)  # fmt: skip
            states = (each[0] for each in self._children(self.state.copy(), self.state))
            for (of_cost, of_right, of_queries), state in zip(views, states, strict=True):
                asking = state + of_cost[1] + of_cost[2]
                better = asking < of_cost[0]
                of_cost[0][better] = asking[better]
                of_right[0][better] = (of_right[1] + of_right[2])[better]
                of_queries[0][better] = (state + of_queries[1] + of_queries[2])[better]
            cost, right, queries = tables
        return float(right.flat[0]), float(queries.flat[0])

    def _children(self, new: Table, old: Table) -> Iterator[tuple[Table, Table, Table]]:
        """Yield, for each pair, the states of `new` where it is open, and those of `old` after its two answers."""
        for axis in range(self.axes):
            before = (slice(None),) * axis
            yield new[(*before, 0, ...)], old[(*before, 1, ...)], old[(*before, 2, ...)]


def uniform_game(n: int, p: float) -> Game:
    """Return that of uniform(n, p): any class may be the true one."""
    worlds = []
    for truth in range(n):
        probabilities = np.full((n, n), 0.5)
        probabilities[truth], probabilities[:, truth] = p, 1.0 - p
        worlds.append((truth, probabilities))
    return Game(n, worlds)


def dealt_game(probabilities: Table) -> Game:
    """Return that of a matrix whose rows are dealt to the classes at random."""
    n = len(probabilities)
    deals = [list(deal) for deal in itertools.permutations(range(n))]
    return Game(n, [(deal.index(0), probabilities[np.ix_(deal, deal)]) for deal in deals])
