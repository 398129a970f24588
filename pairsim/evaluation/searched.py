"""The parameters that searches are for: the width of a kernel and the regularisation parameter."""

from __future__ import annotations

from typing import NamedTuple

WIDE = ("rbf", "poly", "sigmoid", "laplacian")  # kernels that have a width


class Searched(NamedTuple):
    """A parameter, the first value and the factor of a greedy search, and a grid for those who give none."""

    key: str
    start: float
    factor: float
    grid: tuple[float, ...]


# the papers double the width s of exp(-|x - y|**2 / (2 s**2)), from 1: gamma is 1 / (2 s**2)
WIDTH = Searched("gamma", 0.5, 0.25, (2.0**-7, 2.0**-5, 2.0**-3, 2.0**-1, 2))
COST = Searched("C", 1.0, 2.0, (0.125, 1, 8, 64))
# of the vector SVM, whose dual variables do not exceed 1 with a Gaussian kernel
SMALL_COST = Searched("C", 1.0, 2.0, (0.01, 0.03, 0.1, 0.3, 1))
RIDGE = Searched("alpha", 1.0, 2.0, (0.1, 1, 10, 100))
DECAY = Searched("alpha", 1e-4, 2.0, (1e-5, 1e-4, 1e-3, 1e-2))
