"""The probabilities of an oracle whose pairs are answered independently of each other: what can be computed exactly."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pairsim.oracles.base import Oracle


class PairProbabilities:
    """The probabilities with which an oracle answers its pairs, independently of each other; class 0 is the true one.

    Everything follows from `matrix`; an oracle whose numbers of classes may be large overrides the rest.

    Examples
    --------
    >>> from pairsim import Uniform
    >>> found = Uniform(4, 0.75).probabilities()
    >>> found.uniform, found.first_row
    (0.75, array([0.75, 0.75, 0.75]))
    """

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.n, self.label = oracle.n, oracle.label

    def kernel(self) -> Any:
        """Return the compiled form of the oracle."""
        return self.oracle.kernel()

    def matrix(self) -> NDArray[np.float64]:
        """Return P, where P[i, j] is the probability that i wins pair {i, j} (1/2 on the diagonal)."""
        return self.oracle.matrix()

    @functools.cached_property
    def first_row(self) -> NDArray[np.float64]:
        """The probabilities with which class 0 beats classes 1 .. n-1."""
        return self.matrix()[0, 1:]

    @functools.cached_property
    def constant(self) -> float | None:
        """The probability with which class 0 beats every other class where that is one number, else None."""
        row = self.first_row
        return float(row[0]) if (row == row[0]).all() else None

    @functools.cached_property
    def rest_is_fair(self) -> bool:
        """Whether all pairs of wrong classes are fair coins."""
        return bool((self.matrix()[1:, 1:] == 0.5).all())

    @property
    def uniform(self) -> float | None:
        """P where the oracle is uniform-p in all but name: the row of class 0 constant, all other pairs fair coins.

        Examples
        --------
        >>> from pairsim import Matrix, Similarity, Uniform
        >>> Matrix(Uniform(4, 0.75).matrix()).probabilities().uniform
        0.75
        >>> print(Similarity([0.5, 0.3, 0.2]).probabilities().uniform)
        None
        """
        p = self.constant
        return p if p is not None and self.rest_is_fair else None
