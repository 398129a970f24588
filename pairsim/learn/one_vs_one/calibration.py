"""What data say about trained pairs: how often each is wrong, and how much a margin is worth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.optimize
import scipy.special
from numpy.typing import NDArray

from pairsim.learn.one_vs_one.margin_decoders import Link
from pairsim.models import PairModel
from pairsim.models.base import count_rows, pair_numbers, take_rows

QUERIES = 1 << 21  # asked at a time
ENOUGH_MARGINS = 1_000_000  # to find one slope with

Train = Callable[[Any, NDArray[Any]], PairModel]  # data points and class numbers to a model


class Evidence(NamedTuple):
    """Margins of data points in the pairs that hold their class, positive for it; and right and wrong votes a pair."""

    margins: NDArray[np.float64]
    asked: NDArray[np.int64]
    wrong: NDArray[np.int64]

    def errors(self) -> NDArray[np.float64]:
        """Return the share of wrong votes of each pair, by Laplace's rule: (wrong + 1) / (asked + 2)."""
        return (self.wrong + 1.0) / (self.asked + 2.0)

    def link(self) -> Link:
        """Return the logistic link that makes the margins most likely: one slope for all pairs, and no offset.

        Which class of a pair is the lower one is a matter of naming, so an offset that all pairs share would favour
        classes by their names. As in Platt's method the targets are not 1 but (N + 1) / (N + 2): perfectly separated
        data would ask for an infinite slope.
        """
        own = self.margins[:: max(1, len(self.margins) // ENOUGH_MARGINS)]
        scale = float(np.abs(own).mean()) if len(own) else 0.0
        if scale == 0.0 or not np.isfinite(scale):
            return Link()
        doubt = len(own) / (len(own) + 2.0)  # the sum of the targets of the other class, N / (N + 2)
        own = own / scale
        mean = float(own.mean())

        def loss(log_slope: float) -> float:
            slope = np.exp(log_slope)
            return float(-scipy.special.log_expit(slope * own).sum() + doubt * slope * mean)

        found = scipy.optimize.minimize_scalar(loss, bounds=(-12.0, 12.0), method="bounded")
        return Link(-float(np.exp(found.x)) / scale)


def add_evidence(parts: list[Evidence], pairs: int) -> Evidence:
    """Return all evidence together."""
    none = np.zeros(pairs, np.int64)
    margins = np.concatenate([part.margins for part in parts]) if parts else np.empty(0)
    asked = sum((part.asked for part in parts), none)
    return Evidence(margins, np.asarray(asked), np.asarray(sum((part.wrong for part in parts), none)))


def gather(model: PairModel, X: Any, numbers: NDArray[np.int64]) -> Evidence:
    """Ask the n - 1 pairs that hold its class about each data point; `numbers` are the numbers of their classes."""
    points, n = model._check(X), model.n
    parts = []
    step = max(1, QUERIES // (n - 1))
    for first in range(0, count_rows(points), step):
        own = np.repeat(numbers[first : first + step], n - 1)
        rows = np.repeat(np.arange(len(own) // (n - 1)), n - 1)
        other = np.tile(np.arange(n - 1), len(own) // (n - 1))
        other += other >= own
        low, high = np.minimum(own, other), np.maximum(own, other)
        margins = model._some_margins(take_rows(points, slice(first, first + step)), rows, low, high)
        wrong = (margins > 0.0) != (own == low)
        pairs = pair_numbers(low, high, n)
        counts = (np.bincount(pairs, minlength=model.pairs), np.bincount(pairs[wrong], minlength=model.pairs))
        parts.append(Evidence(np.where(own == low, margins, -margins), *counts))
    return add_evidence(parts, model.pairs)


def gather_left_out(
    train: Train, X: Any, numbers: NDArray[np.int64], folds: int, seed: int, pairwise: bool
) -> Evidence:
    """Train without one fold at a time and ask about that; `pairwise` data are square, a column a training point.

    Each class is dealt to the folds in turn, so none is missing from a training set; a class of one data point is never
    left out.
    """
    fold = deal_folds(numbers, folds, seed)
    n = int(numbers.max()) + 1
    parts = []
    for left_out in (fold == number for number in range(folds)):
        if not left_out.any():
            continue
        kept = np.flatnonzero(~left_out)
        asked = np.flatnonzero(left_out)
        inside, outside = take_rows(X, kept), take_rows(X, asked)
        if pairwise:
            inside, outside = inside[:, kept], outside[:, kept]
        parts.append(gather(train(inside, numbers[kept]), outside, numbers[asked]))
    return add_evidence(parts, n * (n - 1) // 2)


def deal_folds(numbers: NDArray[np.int64], folds: int, seed: int) -> NDArray[np.int64]:
    """Return the fold of each data point, -1 for the only one of its class."""
    shuffled = np.random.RandomState(seed).permutation(len(numbers))
    order = shuffled[np.argsort(numbers[shuffled], kind="stable")]
    sizes = np.bincount(numbers)
    places = np.arange(len(numbers)) - np.repeat(np.cumsum(sizes) - sizes, sizes)  # within the class
    fold = np.empty(len(numbers), np.int64)
    fold[order] = np.where(np.repeat(sizes, sizes) > 1, places % folds, -1)
    return fold
