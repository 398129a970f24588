"""From margins to pairwise probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsim.coupling.inputs import MARGIN, chunks, number_table
from pairsim.errors import parameter_error, shown


def _coefficients(name: str, values: ArrayLike | None, default: float, pairs: int) -> NDArray[np.float64]:
    must_be = f"None, a finite number, or {pairs} of them"
    try:
        given = np.asarray(default if values is None else values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise parameter_error("probabilities_of", name, must_be, shown(values)) from None
    if given.shape not in ((), (pairs,)) or not np.isfinite(given).all():
        raise parameter_error("probabilities_of", name, must_be, shown(values))
    return np.broadcast_to(given, (pairs,))


def probabilities_of(
    margins: ArrayLike,
    A: ArrayLike | None = None,  # noqa: N803 (Platt's and LIBSVM's name)
    B: ArrayLike | None = None,  # noqa: N803
) -> NDArray[np.float64]:
    """Return r = 1 / (1 + exp(A * margin + B)), the probability of the lower class of each pair.

    Nothing overflows: a margin of infinity gives 0 or 1, or 1 / (1 + exp(B)) where A is 0. A large margin rounds r to
    1 while its negative gives a small number, so keep to r >= 1/2 or clip where relative errors matter.

    Parameters
    ----------
    margins : array of shape (rows, pairs)
        Numbers, infinite ones included.
    A : None, number or array of shape (pairs,)
        Negative for a classifier that is any good; None is -1: r grows with slope 1.
    B : None, number or array of shape (pairs,)
        None is 0.

    References
    ----------
    J. Platt, "Probabilistic outputs for support vector machines and comparisons to regularized likelihood methods",
    1999. A and B are LIBSVM's `probA` and `probB`.

    Examples
    --------
    >>> probabilities_of([[0.0, 1.0, -float("inf")]]).round(3)
    array([[0.5  , 0.731, 0.   ]])
    >>> probabilities_of([[1.0]], A=-2.0, B=0.5).round(3)
    array([[0.818]])
    """
    from scipy.special import expit  # imported here: the other functions do without scipy

    table = number_table(
        "probabilities_of", "margins", margins, None, "an array of real numbers, of shape (rows, pairs)"
    )
    pairs = table.shape[1]
    slope, offset = _coefficients("A", A, -1.0, pairs), _coefficients("B", B, 0.0, pairs)
    flat = slope == 0.0
    out = np.empty(table.shape)
    for rows, part in chunks("probabilities_of", "margins", table, MARGIN):
        with np.errstate(over="ignore", invalid="ignore"):  # an infinite product is what it should be, 0 * inf is not
            exponent = slope * part
        exponent[:, flat] = 0.0
        exponent += offset
        out[rows] = expit(np.negative(exponent, out=exponent))
    return out
