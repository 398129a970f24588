"""uniform(n, p): every classifier that knows the true class is right with the same chance (POLL paper, 2.2)."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsim.checks import check_classes, check_number
from pairsim.errors import refusal
from pairsim.oracles.base import Oracle, register_drawn


class UniformKernel(NamedTuple):
    """Compiled form of `Uniform`."""

    p: float


def _chance(oracle, i, j):
    return oracle.p if i == 0 else 0.5


register_drawn(UniformKernel, _chance)


class Uniform(Oracle):
    """Pairs that hold the true class (class 0) answer it with chance p; all other pairs are fair coins.

    Parameters
    ----------
    n : int
        Number of classes, at least 2.
    p : float
        Chance of a right answer, in [0, 1].

    Examples
    --------
    >>> from pairsim import Uniform
    >>> Uniform(3, 0.9).matrix()
    array([[0.5, 0.9, 0.9],
           [0.1, 0.5, 0.5],
           [0.1, 0.5, 0.5]])
    """

    name: ClassVar[str] = "uniform"
    summary: ClassVar[str] = "a pair with the true class answers it with chance p, every other pair is a fair coin"

    def __init__(self, n: int, p: float) -> None:
        self.n = check_classes("Uniform", n)
        self._p = check_number("Uniform", "p", p, "a number in [0, 1]")
        if not 0.0 <= self._p <= 1.0:
            raise refusal("Uniform", "p", "a number in [0, 1]", p)
        self._seal()

    @property
    def p(self) -> float:
        return self._p

    def kernel(self) -> UniformKernel:
        return UniformKernel(self._p)

    def matrix(self) -> NDArray[np.float64]:
        chances = np.full((self.n, self.n), 0.5)
        chances[0, 1:] = self._p
        chances[1:, 0] = 1.0 - self._p
        return chances

    def _identity(self) -> tuple[object, ...]:
        return (self.n, self._p)

    def __repr__(self) -> str:
        return f"Uniform({self.n}, {self._p!r})"
