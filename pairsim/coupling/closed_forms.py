"""Couplings of pairwise probabilities that need one pass over the pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsim.checks import check_classes
from pairsim.coupling.compiled.pairs import find_worst, sum_odds_against
from pairsim.coupling.inputs import PROBABILITY, SMALLEST_PROBABILITY, check_clip, chunks, number_table, pair_table
from pairsim.errors import parameter_error


def pkpd(r: ArrayLike, n: int, *, clip: float = SMALLEST_PROBABILITY) -> NDArray[np.float64]:
    """Return p_i proportional to 1 / (sum over j of 1/r_ij - (n - 2)).

    For an r that some p explains this is p. Otherwise it is dominated by a class's worst duels: one r_ij near 0 is
    enough to rule class i out.

    Parameters
    ----------
    r : array of shape (rows, pairs)
        Probabilities of the lower class of each pair, in [0, 1].
    n : int
        Classes.
    clip : float
        With three classes or more, r_ij and r_ji below it are raised to it; else, where every class loses a duel for
        certain, p would be 0 / 0.

    Returns
    -------
    array of shape (rows, n)
        Rows sum to 1.

    References
    ----------
    D. Price, S. Knerr, L. Personnaz, G. Dreyfus, "Pairwise neural network classifiers with probabilistic outputs",
    NIPS 7, 1995.

    Examples
    --------
    >>> p = [0.5, 0.3, 0.2]
    >>> pkpd([[5 / 8, 5 / 7, 3 / 5]], 3).round(12)
    array([[0.5, 0.3, 0.2]])
    """
    n = check_classes("pkpd", n)
    clip = check_clip("pkpd", clip)
    table = pair_table("pkpd", "r", r, n)
    out = np.zeros((len(table), n))
    for rows, part in chunks("pkpd", "r", table, PROBABILITY):
        if n == 2:  # nothing to couple: r is the answer, 0 and 1 included
            out[rows] = np.hstack((part, 1.0 - part))
        else:
            sum_odds_against(part, n, clip, out[rows])
            out[rows] = 1.0 / (1.0 + out[rows])
            out[rows] /= out[rows].sum(axis=1, keepdims=True)
    return out


def non_dominance(r: ArrayLike, n: int, *, against: ArrayLike | None = None) -> NDArray[np.float64]:
    """Return how little each class is dominated: 1 minus the strongest strict preference for another class over it.

    The fuzzy preference relation is R(i, j) = r_ij, its strict part P(i, j) = max(R(i, j) - R(j, i), 0), and the score
    of class i is 1 - max over j of P(j, i), that is min(1, 2 min over j of r_ij). A class that nobody beats has score
    1; the scores do not sum to 1.

    Parameters
    ----------
    r : array of shape (rows, pairs)
        Probabilities of, or confidences in, the lower class of each pair, in [0, 1].
    n : int
        Classes.
    against : None or array of shape (rows, pairs)
        Confidences in the higher class, for classifiers whose two confidences do not sum to 1; the relation is then
        normalised, R(i, j) = r / (r + against), and 1/2 where both are 0. None is 1 - r.

    References
    ----------
    A. Fernández, M. Calderón, E. Barrenechea, H. Bustince, F. Herrera, "Solving multi-class problems with linguistic
    fuzzy rule based classification systems based on pairwise learning and preference relations", Fuzzy Sets and
    Systems 161, 2010.

    Examples
    --------
    >>> non_dominance([[0.6, 0.9, 0.7]], 3).round(12)
    array([[1. , 0.8, 0.2]])
    >>> non_dominance([[0.3]], 2, against=[[0.1]])
    array([[1. , 0.5]])
    """
    n = check_classes("non_dominance", n)
    table = pair_table("non_dominance", "r", r, n)
    out = np.ones((len(table), n))
    if against is None:
        for rows, part in chunks("non_dominance", "r", table, PROBABILITY):
            find_worst(part, n, out[rows])
    else:
        other = number_table("non_dominance", "against", against, table.shape[1], "an array of the shape of r")
        if len(other) != len(table):
            raise parameter_error(
                "non_dominance", "against", f"an array of shape {table.shape}, as r", f"shape {other.shape}"
            )
        both = zip(
            chunks("non_dominance", "r", table, PROBABILITY),
            chunks("non_dominance", "against", other, PROBABILITY),
            strict=True,
        )
        for (rows, part), (_, rival) in both:
            find_worst(normalised(part, rival), n, out[rows])
    return np.minimum(1.0, 2.0 * out, out=out)


def normalised(lower: NDArray[np.float64], higher: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return lower / (lower + higher), 1/2 where both are 0."""
    both = lower + higher
    return np.divide(lower, both, out=np.full_like(lower, 0.5), where=both > 0.0)
