"""Coupling by likelihood: Hastie and Tibshirani's pairwise coupling.

The fit depends on r through each class's expected number of wins alone, W_i = sum over j of n_ij r_ij: at the optimum
the fitted wins, sum over j of n_ij p_i / (p_i + p_j), equal W_i for every class. It is the maximum-likelihood fit of
the Bradley-Terry model to fractional wins.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsim.checks import check_classes, check_number, check_whole
from pairsim.coupling.compiled.likelihood import fit_rows
from pairsim.coupling.compiled.pairs import sum_probabilities
from pairsim.coupling.inputs import PROBABILITY, SMALLEST_PROBABILITY, check_clip, chunks, pair_table
from pairsim.errors import parameter_error, shown


def _pair_weights(weights: ArrayLike | None, n: int) -> NDArray[np.float64]:
    """Return the weights, scaled to a largest one of 1: the fit does not depend on their scale."""
    pairs = n * (n - 1) // 2
    must_be = f"None or {pairs} positive numbers, of which none is beyond 1e12 times another"
    if weights is None:
        return np.ones(pairs)
    try:
        given = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise parameter_error("hastie_tibshirani", "weights", must_be, shown(weights)) from None
    if given.shape != (pairs,) or not np.isfinite(given).all() or not (given > 0.0).all():
        raise parameter_error("hastie_tibshirani", "weights", must_be, shown(weights))
    given /= given.max()
    if given.min() < 1e-12:
        raise parameter_error("hastie_tibshirani", "weights", must_be, shown(weights))
    return given


def _check_tol(tol: Any) -> float:
    value = check_number("hastie_tibshirani", "tol", tol, "a number above 0 and below 1")
    if not 0.0 < value < 1.0:
        raise parameter_error("hastie_tibshirani", "tol", "a number above 0 and below 1", tol)
    return value


def hastie_tibshirani(
    r: ArrayLike,
    n: int,
    *,
    weights: ArrayLike | None = None,
    tol: float = 1e-12,
    max_iter: int = 20,
    clip: float = SMALLEST_PROBABILITY,
) -> NDArray[np.float64]:
    """Return the p whose p_i / (p_i + p_j) are closest to r_ij, in weighted Kullback-Leibler divergence.

    Sweeps of the paper's algorithm come first: each class in turn has its p_i multiplied by (expected wins) / (fitted
    wins), which never increases the divergence. Where r is nearly certain they slow down to a crawl; rows that
    `max_iter` sweeps have not settled are finished by Newton's method on log p. The divergence is convex there and has
    one minimum, so both end in the same place. With equal weights, p is ordered as the sums over j of r_ij.

    Parameters
    ----------
    r : array of shape (rows, pairs)
        Probabilities of the lower class of each pair, in [0, 1].
    n : int
        Classes.
    weights : None or array of shape (pairs,)
        The paper's n_ij, for example the number of training examples of the pair. None: all alike.
    tol : float
        A row is settled when, for each class, expected and fitted wins differ by less than `tol` of its games.
    max_iter : int
        Sweeps before Newton's method.
    clip : float
        With three classes or more, r is kept in [clip, 1 - clip]; else the fit need not exist.

    Returns
    -------
    array of shape (rows, n)
        Rows sum to 1.

    References
    ----------
    T. Hastie, R. Tibshirani, "Classification by pairwise coupling", Annals of Statistics 26, 1998. That the sweeps
    converge: D. R. Hunter, "MM algorithms for generalized Bradley-Terry models", Annals of Statistics 32, 2004.

    Examples
    --------
    >>> hastie_tibshirani([[5 / 8, 5 / 7, 3 / 5]], 3).round(9)
    array([[0.5, 0.3, 0.2]])
    >>> hastie_tibshirani([[0.9, 0.4, 0.7]], 3, weights=[1.0, 10.0, 1.0]).round(3)
    array([[0.326, 0.248, 0.426]])
    """
    n = check_classes("hastie_tibshirani", n)
    tol, clip = _check_tol(tol), check_clip("hastie_tibshirani", clip)
    max_iter = check_whole("hastie_tibshirani", "max_iter", max_iter, 0, (1 << 31) - 1)
    table = pair_table("hastie_tibshirani", "r", r, n)
    pair_weights = _pair_weights(weights, n)
    square = np.zeros((n, n))
    square[np.triu_indices(n, 1)] = pair_weights
    square += square.T
    out = np.empty((len(table), n))
    for rows, part in chunks("hastie_tibshirani", "r", table, PROBABILITY):
        if n == 2:  # nothing to couple: r is the answer, 0 and 1 included
            out[rows] = np.hstack((part, 1.0 - part))
        else:
            wins = np.zeros((len(part), n))
            sum_probabilities(part, pair_weights, n, clip, wins)
            fit_rows(wins, square, tol, max_iter, out[rows])
    return out
