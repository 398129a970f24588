"""Floors: how many queries every decoder needs, whatever it does.

The floor of the budget bounds the *most* queries of a decoder; it is proven in `uniform_floor` for uniform-p and in
`matrix_floor` for other probabilities. The floor of the mean is another theorem and bounds the *mean* number of
queries: `mean_floor`. Compare budgets with the first and means with the second only.
"""

from __future__ import annotations

import functools
import math

from pairsim.bounds.floor_base import Floor
from pairsim.bounds.matrix_floor import MatrixFloor, check_size
from pairsim.bounds.uniform_floor import UniformFloor
from pairsim.checks import check_instance, check_number, check_whole
from pairsim.errors import parameter_error, shown
from pairsim.oracles import Oracle

SUCCESS = "a number in [0, 1)"


def least_queries(oracle: Oracle, success: float) -> int | float:
    """Return the floor of the budget: every decoder with this success may ask at least so many queries.

    Proven in `pairsim.bounds.uniform_floor` and `pairsim.bounds.matrix_floor`. It holds for every decoder to which
    class numbers mean nothing, adaptive or not, with any draws of its own; it may know the probabilities.

    Parameters
    ----------
    oracle : Uniform, Similarity, Matrix
        Or any other whose pairs are answered independently of each other, with `probabilities()`.
    success : float
        In [0, 1).

    Returns
    -------
    int, or inf where all n (n - 1) / 2 pairs are proven not to be enough

    Examples
    --------
    >>> from pairsim import Similarity, Uniform
    >>> from pairsim.bounds import least_queries
    >>> least_queries(Uniform(512, 0.9), 0.99), least_queries(Uniform(9, 0.6), 0.99)
    (2341, inf)
    >>> least_queries(Similarity.profile("zipf:0.5", 512), 0.9)
    649
    """
    floor = floor_of("least_queries", oracle)
    needed = least(floor, check_success("least_queries", success))
    return math.ceil(needed) if math.isfinite(needed) else math.inf


def most_success(oracle: Oracle, queries: int) -> float:
    """Return the most success of a budget: no decoder that never asks more queries is correct more often.

    Parameters
    ----------
    oracle : Uniform, Similarity, Matrix
        As for `least_queries`.
    queries : int

    Examples
    --------
    >>> from pairsim import Uniform
    >>> from pairsim.bounds import most_success
    >>> round(most_success(Uniform(512, 0.9), 2341), 4)
    0.99
    """
    floor = floor_of("most_success", oracle)
    return _most(floor, check_whole("most_success", "queries", queries, 0, 1 << 62))


def floor_of(owner: str, oracle: Oracle) -> Floor:
    """Return the floor of the budget for an oracle, kept for the next call."""
    check_instance(owner, "oracle", oracle, Oracle, "an oracle such as Uniform(16, 0.9)")
    probabilities = oracle.probabilities()
    if probabilities is None:
        must_be = "one with independent pairs, such as a uniform, similarity or matrix oracle, to have a floor"
        raise parameter_error(owner, "oracle", must_be, oracle.label)
    p = probabilities.uniform
    if p is not None:
        return _uniform(oracle.n, p)
    check_size(owner, oracle.n)
    return _of_matrix(oracle)


def check_success(owner: str, success: float) -> float:
    """Return a success probability that floors are asked about."""
    success = check_number(owner, "success", success, SUCCESS)
    if not 0.0 <= success < 1.0:
        raise parameter_error(owner, "success", SUCCESS, shown(success))
    return success


@functools.lru_cache(maxsize=256)
def _uniform(n: int, p: float) -> Floor:
    return UniformFloor(n, p)


@functools.lru_cache(maxsize=2)
def _of_matrix(oracle: Oracle) -> Floor:
    probabilities = oracle.probabilities()
    assert probabilities is not None
    return MatrixFloor(probabilities.matrix())


@functools.lru_cache(maxsize=4096)
def least(floor: Floor, success: float) -> float:
    """Return `floor.least(success)`, kept for the next call."""
    return floor.least(success)


@functools.lru_cache(maxsize=4096)
def _most(floor: Floor, queries: int) -> float:
    return floor.most(queries)
