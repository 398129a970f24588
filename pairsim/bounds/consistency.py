"""Lemma 4.2 of the single-binary paper: on which data minimising its loss leads to the likeliest class."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsim.checks import as_array
from pairsim.errors import parameter_error


class Consistency(NamedTuple):
    """What Lemma 4.2 says of known class probabilities.

    Attributes
    ----------
    consistent : bool
        True where the likeliest class has more than 1/2 in every row.
    least : float
        p, the smallest of the rows' largest probabilities.
    failing : ndarray of int
        Rows in which the likeliest class has at most 1/2.
    outputs : ndarray of shape (rows, classes)
        Outputs of the least expected loss: +1 for a class with more than 1/2, -1 for the others (at 1/2 exactly,
        anything between is as good). A row of -1 only says nothing about the likeliest class.
    """

    consistent: bool
    least: float
    failing: NDArray[np.int64]
    outputs: NDArray[np.float64]


def sbc_consistency(probabilities: ArrayLike) -> Consistency:
    """Say whether minimising the single-binary loss finds the likeliest class, from known class probabilities.

    The loss of an example of class y is (1 - f_y)_+ plus (1 + f_r)_+ for every other class r, so the expected loss in
    a row with the probabilities q is the sum over classes of q_r (1 - f_r)_+ + (1 - q_r)(1 + f_r)_+, least at f_r = +1
    where q_r > 1/2 and at -1 where q_r < 1/2. If the likeliest class has more than 1/2 everywhere, the largest output
    is its own; in any row where it has not, all outputs may be -1 and any class be named (El-Yaniv, Pechyony and
    Yom-Tov, "Better multiclass classification via a margin-optimized single binary problem", Lemma 4.2).

    With two classes some class has more than 1/2 unless both are equal. The lemma is about minimising the loss over all
    functions: a learner with a penalty on the norm, or with too few functions, may fail where it holds.

    Parameters
    ----------
    probabilities : array_like of shape (rows, classes)
        Of each class given the features, at each point that the data can have; rows add up to 1.

    Examples
    --------
    >>> sbc_consistency([[0.6, 0.2, 0.2], [0.1, 0.1, 0.8]]).consistent
    True
    >>> found = sbc_consistency([[0.6, 0.2, 0.2], [0.4, 0.3, 0.3]])
    >>> found.consistent, found.least, found.failing.tolist(), found.outputs[1].tolist()
    (False, 0.4, [1], [-1.0, -1.0, -1.0])
    """
    owner, must_be = "sbc_consistency", "rows of at least 2 probabilities, each row with the sum 1"
    given = as_array(owner, "probabilities", probabilities, must_be)
    if given.ndim != 2 or given.shape[0] == 0 or given.shape[1] < 2 or given.dtype.kind not in "fiu":
        raise parameter_error(
            owner, "probabilities", must_be, f"an array of shape {given.shape} and type {given.dtype}"
        )
    rows = given.astype(np.float64)
    if not (rows >= 0.0).all() or not (np.abs(rows.sum(axis=1) - 1.0) <= 1e-9).all():
        raise parameter_error(owner, "probabilities", must_be, "other numbers")
    largest = rows.max(axis=1)
    return Consistency(
        consistent=bool((largest > 0.5).all()),
        least=float(largest.min()),
        failing=np.flatnonzero(largest <= 0.5),
        outputs=np.where(rows > 0.5, 1.0, -1.0),
    )
