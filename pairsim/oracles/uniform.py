"""uniform(n, p): every classifier that knows the true class is right with the same probability (POLL paper, 2.2)."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsim.checks import check_classes, check_number
from pairsim.errors import parameter_error
from pairsim.oracles.base import Oracle, define_drawn, fair_matrix
from pairsim.oracles.options import Option
from pairsim.oracles.probabilities import PairProbabilities


class UniformKernel(NamedTuple):
    """Compiled form of `Uniform`."""

    p: float


def _probability(oracle, i, j):
    return oracle.p if i == 0 else 0.5


define_drawn(UniformKernel, _probability)


class UniformProbabilities(PairProbabilities):
    """Those of `Uniform`, for any number of classes."""

    @property
    def first_row(self) -> NDArray[np.float64]:
        return np.full(self.n - 1, self.oracle.p)

    @property
    def constant(self) -> float | None:
        return self.oracle.p

    @property
    def rest_is_fair(self) -> bool:
        return True


class Uniform(Oracle):
    """Pairs that hold the true class (class 0) answer it with probability p; all other pairs are fair coins.

    Class numbers carry no information: decoders that read them (`ties="first"`, `order="given"`) act as if the classes
    were numbered at random in each trial. `Matrix(Uniform(n, p).matrix())` has the same answers and keeps the numbers.

    Parameters
    ----------
    n : int
        Number of classes, at least 2.
    p : float
        Probability of a right answer, in [0, 1].

    Examples
    --------
    >>> from pairsim import Uniform
    >>> Uniform(3, 0.9).matrix()
    array([[0.5, 0.9, 0.9],
           [0.1, 0.5, 0.5],
           [0.1, 0.5, 0.5]])
    """

    name: ClassVar[str] = "uniform"
    options: ClassVar[tuple[Option, ...]] = (Option("p", help="given, for example --p 0.7"),)
    uniform: ClassVar[bool] = True
    exchangeable: ClassVar[bool] = True
    summary: ClassVar[str] = "pairs with the true class are correct with probability p; other pairs are fair coins"

    def __init__(self, n: int, p: float) -> None:
        self.n = check_classes("Uniform", n)
        self._p = check_number("Uniform", "p", p, "a number in [0, 1]")
        if not 0.0 <= self._p <= 1.0:
            raise parameter_error("Uniform", "p", "a number in [0, 1]", p)
        self._seal()

    @property
    def p(self) -> float:
        return self._p

    def kernel(self) -> UniformKernel:
        return UniformKernel(self._p)

    def matrix(self) -> NDArray[np.float64]:
        probabilities = fair_matrix(type(self).__name__, self.n)
        probabilities[0, 1:] = self._p
        probabilities[1:, 0] = 1.0 - self._p
        return probabilities

    def probabilities(self) -> PairProbabilities:
        return UniformProbabilities(self)

    def _identity(self) -> tuple[object, ...]:
        return (self.n, self._p)

    def __repr__(self) -> str:
        return f"Uniform({self.n}, {self._p!r})"
