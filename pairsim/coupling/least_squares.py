"""Coupling by a quadratic form: Wu, Lin and Weng's second approach, solved exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsim.checks import check_classes
from pairsim.coupling.compiled.pairs import solve_quadratic_forms
from pairsim.coupling.inputs import PROBABILITY, chunks, pair_table


def wu_lin_weng(r: ArrayLike, n: int) -> NDArray[np.float64]:
    """Return the p that minimises the sum over i != j of (r_ji p_i - r_ij p_j)**2 among those that sum to 1.

    The form is p'Qp with Q_ii = sum of r_si**2 and Q_ij = -r_ij r_ji. At its minimum Qp is a multiple of the vector e
    of ones, so p is the solution of (Q + ee') x = e, scaled to sum to 1. That matrix is positive definite for every r
    in [0, 1]: a vector that sums to 0 has entries x_i > 0 > x_j, and r_ji x_i - r_ij x_j is at least the smaller of
    their sizes. So nothing needs clipping, and the solution has no negative entries (theorem of the paper).

    The order can surprise: a class that does at least as well as another against everybody, and beats it, may get the
    smaller p (not with `pkpd`, nor with `hastie_tibshirani` and equal weights). It is rare, and the gap is small.

    LIBSVM minimises the same form by a fixed-point iteration that it stops at a residual of 0.005 / n, after raising
    probabilities below 1e-7 to that; its figures differ from these in the third digit.

    Parameters
    ----------
    r : array of shape (rows, pairs)
        Probabilities of the lower class of each pair, in [0, 1].
    n : int
        Classes.

    Returns
    -------
    array of shape (rows, n)
        Rows sum to 1.

    References
    ----------
    T.-F. Wu, C.-J. Lin, R. C. Weng, "Probability estimates for multi-class classification by pairwise coupling",
    Journal of Machine Learning Research 5, 2004, section 4.

    Examples
    --------
    >>> wu_lin_weng([[5 / 8, 5 / 7, 3 / 5]], 3).round(12)
    array([[0.5, 0.3, 0.2]])
    >>> wu_lin_weng([[1.0, 0.0, 1.0]], 3).round(12)  # 0 beats 1 beats 2 beats 0
    array([[0.33333333, 0.33333333, 0.33333333]])
    """
    n = check_classes("wu_lin_weng", n)
    table = pair_table("wu_lin_weng", "r", r, n)
    out = np.empty((len(table), n))
    for rows, part in chunks("wu_lin_weng", "r", table, PROBABILITY):
        solve_quadratic_forms(part, n, out[rows])
    return out
