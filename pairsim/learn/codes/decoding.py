"""From the margins of an output code's columns to classes: how far each class's row of the code is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_expit, logsumexp

from pairsim.errors import parameter_error
from pairsim.learn.codes.code_tables import Code

Numbers = NDArray[np.float64]

ROUNDING = 1e-12  # distances that differ by less, relatively, are equal
LARGEST = 1e100  # what an infinite margin counts as
NO_UNDERFLOW = 300.0  # margins whose exponentials and their sums are all normal numbers
CHUNK = 1 << 22  # numbers at a time where every class and column of a row is looked at


def _sum_losses(loss: Callable[[Numbers], Numbers], margins: Numbers, code: Code) -> Numbers:
    """Return the sum of loss(entry * margin) over the columns, for each row and class."""
    total = loss(margins) @ (code == 1).T + loss(-margins) @ (code == -1).T
    return np.asarray(total + loss(np.zeros(1)) * (code == 0).sum(axis=1))


def _hamming(margins: Numbers, code: Code) -> Numbers:
    return np.asarray(0.5 * (code.shape[1] - np.sign(margins) @ code.T))


def _euclid(margins: Numbers, code: Code) -> Numbers:
    """Return half the squared distance, less what all classes share."""
    return np.asarray(0.5 * (code**2).sum(axis=1) - margins @ code.T)


def _inverse_hamming(margins: Numbers, code: Code) -> Numbers:
    """Return minus the weights with which the distances between rows add up to those of the margins' signs."""
    between = 0.5 * (code.shape[1] - code @ code.T)
    return np.asarray(-_hamming(margins, code) @ np.linalg.pinv(between))


def _hinge(margins: Numbers, code: Code) -> Numbers:
    return _sum_losses(lambda z: np.maximum(0.0, 1.0 - z), margins, code)


def _logistic(margins: Numbers, code: Code) -> Numbers:
    return _sum_losses(lambda z: -log_expit(z), margins, code)


def _log_exponential(margins: Numbers, code: Code) -> Numbers:
    """Return the logarithm of the summed exponential loss: large margins neither overflow nor vanish."""
    if np.abs(margins).max(initial=0.0) < NO_UNDERFLOW:
        return np.asarray(np.log(_sum_losses(lambda z: np.exp(-z), margins, code)))
    step = max(1, CHUNK // code.size)
    pieces = (margins[first : first + step, None] for first in range(0, len(margins), step))
    return np.concatenate([logsumexp(piece * -code, axis=2) for piece in pieces])


# what the smallest value of names a class by; "exponential" and "euclid" in a form of the same order
DECODINGS: dict[str, Callable[[Numbers, Code], Numbers]] = {
    "hamming": _hamming,
    "euclid": _euclid,
    "inverse-hamming": _inverse_hamming,
    "hinge": _hinge,
    "exponential": _log_exponential,
    "logistic": _logistic,
    "probability": _logistic,
}


def _read(owner: str, margins: ArrayLike, code: ArrayLike, decoding: str) -> tuple[Numbers, Code]:
    if decoding not in DECODINGS:
        raise parameter_error(owner, "decoding", "one of " + ", ".join(map(repr, DECODINGS)), repr(decoding))
    return np.clip(np.asarray(margins, np.float64), -LARGEST, LARGEST), np.asarray(code, np.int64)


def code_distances(margins: ArrayLike, code: ArrayLike, decoding: str) -> Numbers:
    """Return how far each class's row of the code is from the margins of the columns.

    Parameters
    ----------
    margins : array_like, shape (rows, columns)
        What the columns' classifiers say, positive for the classes with a 1.
    code : array_like, shape (classes, columns)
        Entries -1, 0 and 1.
    decoding : str
        "hamming": wrong signs, a half for a 0 of the code or of the margins. "euclid": the distance of the row from the
        margins. "hinge", "exponential", "logistic": the loss of entry times margin, max(0, 1 - z), exp(-z) or
        log(1 + exp(-z)), summed over all columns; a 0 of the code has the loss of 0. "probability": minus the logarithm
        of the class's probability (`code_probabilities`). "inverse-hamming": minus the weight of the class when the
        Hamming distances are written as a sum of those that the classes' own rows have (Windeatt and Ghaderi).

    References
    ----------
    E. L. Allwein, R. E. Schapire, Y. Singer, "Reducing multiclass to binary: a unifying approach for margin
    classifiers", 2000.

    Examples
    --------
    >>> from pairsim.learn.codes.decoding import code_distances
    >>> code_distances([[0.5, -2.0]], [[1, 1], [1, -1], [-1, 0]], "hamming").tolist()
    [[1.0, 0.0, 1.5]]
    """
    table, matrix = _read("code_distances", margins, code, decoding)
    if decoding == "probability":
        return np.asarray(-_log_probabilities(table, matrix))
    found = DECODINGS[decoding](table, matrix)
    if decoding == "euclid":
        return np.asarray(np.sqrt(np.maximum(0.0, 2.0 * found + (table**2).sum(axis=1, keepdims=True))))
    if decoding == "exponential":  # the largest number there is stands for larger ones
        return np.asarray(np.exp(np.minimum(found, np.log(np.finfo(np.float64).max))))
    return found


def _log_probabilities(margins: Numbers, code: Code) -> Numbers:
    losses = _logistic(margins, code)
    return np.asarray(-losses - logsumexp(-losses, axis=1, keepdims=True))


def code_probabilities(margins: ArrayLike, code: ArrayLike) -> Numbers:
    """Return the probability of each class: the product of what its columns believe, made to add up to 1.

    A column's probability of its classes with a 1 is 1 / (1 + exp(-margin)). It counts for classes with an entry of 1
    or -1, and against an even probability, so that a column with a margin of 0 changes nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from pairsim.learn.codes.decoding import code_probabilities
    >>> code_probabilities([[0.0, np.log(3.0)]], [[1, 0], [-1, 1], [0, -1]]).round(3).tolist()
    [[0.333, 0.5, 0.167]]
    """
    table, matrix = _read("code_probabilities", margins, code, "probability")
    return np.asarray(np.exp(_log_probabilities(table, matrix)))


def decode_scores(margins: ArrayLike, code: ArrayLike, decoding: str) -> Numbers:
    """Return for each class how near its row of the code is, the highest for the class that is named.

    Scores are minus the distances: for "euclid" in the form margins . row - |row|**2 / 2, for "exponential" the
    logarithm's; those of "hamming" have less than a quarter from the summed margins added. Where classes are equally
    near, the one with the highest sum of entry times margin is named, and of equals the first: its score is one unit in
    the last place above the others'.

    Examples
    --------
    >>> import numpy as np
    >>> from pairsim.learn.codes.decoding import decode_scores
    >>> code = np.array([[1, 1, 1], [-1, -1, 1]])
    >>> decode_scores(np.array([[0.5, -2.0, 1.0]]), code, "euclid").tolist()
    [[-2.0, 1.0]]
    """
    table, matrix = _read("decode_scores", margins, code, decoding)
    scores = -DECODINGS[decoding](table, matrix)
    sums, size = table @ matrix.T, np.abs(table).sum(axis=1, keepdims=True)
    nearest = _highest(scores, size if decoding == "euclid" else 0.0)
    winners = _highest(np.where(nearest, sums, -np.inf), size).argmax(axis=1)
    if decoding == "hamming":
        scores += 0.2 * sums / (np.abs(sums) + 1.0)
    rows = np.flatnonzero(scores.argmax(axis=1) != winners)
    scores[rows, winners[rows]] = np.nextafter(scores[rows].max(axis=1), np.inf)
    return np.asarray(scores)


def _highest(values: Numbers, size: Numbers | float) -> NDArray[np.bool_]:
    """Return where a row has its largest value, up to rounding of numbers of this size."""
    top = values.max(axis=1, keepdims=True)
    return np.asarray(values >= top - ROUNDING * (1.0 + np.abs(top) + size))
