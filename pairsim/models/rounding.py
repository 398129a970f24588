"""Votes that rounding could change: found by a bound on the error, and put to the model's own arithmetic.

Matrix products add in another order than the library that trained the model. That moves a margin by a few units in
its last place, which matters only where the margin is nearly 0; but there a vote, and with it a prediction, could
differ from the library's. So a margin that is not larger than the bound on its error is computed again by `Settle`.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pairsim.models.base import Margins, Places
from pairsim.models.compiled.margins import count_doubtful, list_doubtful

EPSILON = float(np.finfo(np.float64).eps)


class Settle(Protocol):
    """Computes margins as the model's own library does."""

    def __call__(self, points: Any, rows: Places, pairs: Places) -> Margins:
        """Return the margin of pair pairs[k] on points[rows[k]], for each k."""


class Slack(NamedTuple):
    """The error of margin (row, pair) is at most row[r] * weight[k] + base[k]."""

    row: NDArray[np.float64]
    weight: NDArray[np.float64]
    base: NDArray[np.float64]


def settle_all(margins: Margins, slack: Slack, settle: Settle | None, points: Any) -> Margins:
    """Replace, in place, the margins whose sign is in doubt; the rows of `margins` are those of `points`."""
    if settle is None:
        return margins
    found = count_doubtful(margins, *slack)
    if found:
        rows, pairs = np.empty(found, np.int64), np.empty(found, np.int64)
        list_doubtful(margins, *slack, rows, pairs)
        margins[rows, pairs] = settle(points, rows, pairs)
    return margins


def settle_some(
    margins: Margins, slack: Slack, settle: Settle | None, points: Any, rows: Places, pairs: Places
) -> Margins:
    """Replace, in place, what is in doubt among margins[k] of pair pairs[k] on rows[k]; `slack.row` is by k."""
    if settle is None:
        return margins
    doubtful = np.flatnonzero(~(np.abs(margins) > slack.row * slack.weight[pairs] + slack.base[pairs]))
    if doubtful.size:
        margins[doubtful] = settle(points, rows[doubtful], pairs[doubtful])
    return margins
