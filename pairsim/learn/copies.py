"""The copies of the single-binary reductions: their binary labels, and where an earlier fit left their variables."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from pairsim.learn.codes.code_tables import Code, default_code, read_code
from pairsim.learn.codes.decoding import decode_scores

Numbers = NDArray[np.float64]


def has_code(extension: Any) -> bool:
    """Return whether there is a copy per column of a code, and not one per class."""
    return isinstance(extension, str) and extension == "ecoc"


def copy_labels(extension: Any, code: str | ArrayLike | None, count: int, random_state: Any) -> Code:
    """Return the binary labels of each class's copies: +1 for the class's own, or the rows of the code."""
    if not has_code(extension):
        return 2 * np.eye(count, dtype=np.int64) - 1
    if code is None:
        return default_code(count, check_random_state(random_state))
    return read_code("SingleBinaryClassifier", code, count, random_state)


def copies_to_classes(extension: Any, scores: Numbers, code: Code, decode: str) -> Numbers:
    """Return a score per class, given those of the copies."""
    return decode_scores(scores, code, decode) if has_code(extension) else scores


class EarlierFit(NamedTuple):
    """What a warm start needs: the copies' labels, the kind of bias, the upper limit of the variables, and these."""

    signs: Numbers
    bias: str
    box: float
    beta: Numbers

    def start(self, signs: Numbers, bias: str, box: float) -> Numbers | None:
        """Return where another fit may start; None where nothing can be taken over."""
        # what balances for one bias does not for one per class
        if bias != self.bias or not np.array_equal(self.signs, signs) or not 0.0 < box / self.box < math.inf:
            return None
        return np.asarray(self.beta * (box / self.box))
