"""Two means: Lloyd's algorithm with two clusters on points of which only inner products are needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

RUNS = 300  # of reassigning points, at most

Numbers = NDArray[np.float64]


class TwoClusters(NamedTuple):
    """The cluster of each point, 1 or -1, and the sum of squared distances from centres, less all squared lengths."""

    signs: NDArray[np.int64]
    scatter: float


def two_means(product: Callable[[Numbers], Numbers], count: int, rng: np.random.Generator) -> TwoClusters:
    """Return two clusters of points, from two random points as the first centres (Forgy).

    Parameters
    ----------
    product : callable
        From weights of the points, shape (count, 2), to the points' inner products with the weighted sums.
    count : int
        Points, at least two. Both clusters have one at least.
    rng : Generator
        What chooses the first centres.

    Examples
    --------
    >>> import numpy as np
    >>> from pairsim.learn.trees.two_means import two_means
    >>> points = np.array([0.0, 1.0, 9.0])
    >>> found = two_means(np.outer(points, points).dot, 3, np.random.default_rng(0))
    >>> found.signs.tolist(), found.scatter + float(points @ points)
    ([1, 1, -1], 0.5)
    """
    shares = np.zeros((count, 2))
    shares[rng.choice(count, 2, replace=False), [0, 1]] = 1.0
    signs = np.zeros(count, np.int64)
    for _ in range(RUNS):
        across = product(shares)
        distances = (shares * across).sum(axis=0) - 2.0 * across
        found = np.where(distances[:, 0] <= distances[:, 1], 1, -1)
        if found.min() == found.max():  # equal points: one goes to the other side
            found[np.argmax(found * (distances[:, 0] - distances[:, 1]))] *= -1
        settled = bool((found == signs).all())
        signs = found
        if settled:
            break
        members = np.column_stack([signs > 0, signs < 0])
        shares = members / members.sum(axis=0)
    return TwoClusters(signs, float(np.where(signs > 0, distances[:, 0], distances[:, 1]).sum()))
