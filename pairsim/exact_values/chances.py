"""What exact values need to know of an oracle: its chances, and whether they have the symmetry that makes it easy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairsim.oracles import Matrix, Oracle, Similarity, Uniform

INDEPENDENT = (Uniform, Similarity, Matrix)  # oracles whose pairs are answered independently, with known chances


def true_row(oracle: Oracle) -> NDArray[np.float64]:
    """Return the chances with which class 0 beats classes 1 .. n-1, without the n x n table.

    Examples
    --------
    >>> true_row(Similarity([0.5, 0.3, 0.2]))
    array([0.625     , 0.71428571])
    """
    if isinstance(oracle, Similarity):
        return np.asarray(oracle.r[0] / (oracle.r[0] + oracle.r[1:]))
    if isinstance(oracle, Matrix):
        return oracle.chances[0, 1:]
    return np.full(oracle.n - 1, oracle.p)


def constant_chance(oracle: Oracle) -> float | None:
    """Return the chance with which class 0 beats every other class where that is one number, else None.

    Examples
    --------
    >>> constant_chance(Similarity.profile("uniform-rest:0.5", 6)), constant_chance(Similarity([0.5, 0.3, 0.2]))
    (0.8333333333333334, None)
    """
    if isinstance(oracle, Uniform):
        return oracle.p
    row = true_row(oracle)
    return float(row[0]) if (row == row[0]).all() else None


def uniform_chance(oracle: Oracle) -> float | None:
    """Return p where the oracle is uniform-p in all but name: the row of class 0 constant, all other pairs coins.

    Examples
    --------
    >>> uniform_chance(Matrix(Uniform(4, 0.75).matrix()))
    0.75
    """
    p = constant_chance(oracle)
    if p is not None and isinstance(oracle, Matrix):
        coins = all((oracle.chances[i, i + 1 :] == 0.5).all() for i in range(1, oracle.n))
        return p if coins else None
    return p  # of a similarity: equal rows mean equal r, so the other pairs are coins
