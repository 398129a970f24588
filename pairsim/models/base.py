"""What every trained one-vs-one model is here: classes, and a margin for each pair on each data point."""

from __future__ import annotations

import abc
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsim.checks import as_array
from pairsim.errors import parameter_error, shown
from pairsim.oracles import Recorded

Margins = NDArray[np.float64]
Places = NDArray[np.int64]

CACHED = 1 << 18  # doubles of a piece of work that stays in the processor's cache: 2 MB
KEPT = 1 << 22  # doubles that a piece of work may hold at most, where rows are long: 32 MB

# A margin that votes for the lower class without any confidence: still above 0, and far below what rounding leaves.
LEAST = float(np.finfo(np.float64).tiny)


def count_rows(points: Any) -> int:
    """Return the number of data points, of an array, a sparse matrix, a table or a list."""
    return int(points.shape[0]) if hasattr(points, "shape") else len(points)


def take_rows(points: Any, which: Any) -> Any:
    """Return some rows (a slice or numbers) of an array, a sparse matrix, a table or a list."""
    if hasattr(points, "iloc"):
        return points.iloc[which]
    if hasattr(points, "shape"):
        return points[which]
    return points[which] if isinstance(which, slice) else [points[row] for row in which]


def pair_numbers(low: Places, high: Places, n: int) -> Places:
    """Return the column of each pair in the order of `numpy.triu_indices(n, 1)`."""
    return (2 * n - low - 1) * low // 2 + high - low - 1


def check_questions(
    rows: ArrayLike, low: ArrayLike, high: ArrayLike, count: int, n: int
) -> tuple[Places, Places, Places]:
    """Return queries as integers of one length, when every row is below `count` and low < high < n."""
    row, lower, higher = (_whole_numbers(*given) for given in (("rows", rows), ("low", low), ("high", high)))
    if not row.shape == lower.shape == higher.shape:
        got = f"lengths {row.size}, {lower.size}, {higher.size}"
        raise parameter_error("some_margins", "rows, low, high", "of one length", got)
    if row.size and (row.min() < 0 or row.max() >= count):
        raise parameter_error(
            "some_margins", "rows", f"from 0 to {count - 1}", f"values from {row.min()} to {row.max()}"
        )
    wrong = (lower < 0) | (higher >= n) | (lower >= higher)
    if wrong.any():
        bad = int(np.argmax(wrong))
        raise parameter_error(
            "some_margins", "low, high", f"pairs with 0 <= low < high < {n}", f"({lower[bad]}, {higher[bad]})"
        )
    return row, lower, higher


def rows_for(numbers: int) -> int:
    """Return how many rows to work on at a time, when the work on one holds so many doubles."""
    numbers = max(1, numbers)
    return max(1, min(max(256, CACHED // numbers), KEPT // numbers))


class Points(abc.ABC):
    """Data points ready to be asked about: checked once, and whatever is worth keeping between rounds is kept."""

    def __init__(self, model: PairModel, count: int) -> None:
        self._n = model.n
        self.count = count

    def margins(self, rows: ArrayLike, low: ArrayLike, high: ArrayLike) -> Margins:
        """Return the margin of pair (low[k], high[k]) on data point rows[k], for each k."""
        asked = check_questions(rows, low, high, self.count, self._n)
        return self._margins(*asked) if asked[0].size else np.empty(0)

    @abc.abstractmethod
    def _margins(self, rows: Places, low: Places, high: Places) -> Margins:
        """Answer queries that were checked."""


class PairModel(abc.ABC):
    """A trained one-vs-one model in one plain form, whatever library trained it.

    Class i here is `classes_[i]`. The margin of pair (i, j), i < j, is positive exactly when the model votes for i:
    also where its score is 0, which some libraries count for the one class and some for the other. (A vote for i
    without any confidence is the least positive normal number.)

    Attributes
    ----------
    classes_ : numpy.ndarray
        The labels, in the model's own order.
    n : int
        How many there are.
    n_features : int or None
        Columns that X must have; None when the model takes any.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from pairsim import MaxWin, from_model, simulate
    >>> X, y = load_iris(return_X_y=True)
    >>> model = from_model(SVC(C=10).fit(X[::2], y[::2]))
    >>> model.margins(X[1::2]).shape, model.some_margins(X, rows=[0, 0, 149], low=[0, 1, 1], high=[1, 2, 2]).shape
    ((75, 3), (3,))
    >>> recorded = model.record(X[1::2], y[1::2])
    >>> simulate(recorded, MaxWin(ties="first")).success > 0.9
    True
    """

    classes_: NDArray[Any]
    n_features: int | None = None
    _takes_arrays = False  # whether arrays of doubles are what the model computes with

    @property
    def n(self) -> int:
        """The number of classes."""
        return len(self.classes_)

    @property
    def pairs(self) -> int:
        """The number of pairs."""
        return self.n * (self.n - 1) // 2

    def margins(self, X: Any) -> Margins:
        """Return the margins of all pairs, shape (rows, n(n-1)/2), columns in the order of `triu_indices(n, 1)`."""
        points = self._check(X)
        out = np.empty((count_rows(points), self.pairs))
        for piece, margins in self._pieces(points):
            out[piece] = margins
        return out

    def answers(self, X: Any) -> NDArray[np.bool_]:
        """Return the model's votes, shape (rows, n(n-1)/2): True where the lower class of the pair wins."""
        points = self._check(X)
        out = np.empty((count_rows(points), self.pairs), np.bool_)
        for piece, margins in self._pieces(points):
            np.greater(margins, 0.0, out=out[piece])
        return out

    def points(self, X: Any) -> Points:
        """Return X checked and ready for many calls of `margins(rows, low, high)`, as lazy decoders make them.

        What is worth keeping from round to round is kept: for kernel models, the kernel values that were needed so
        far (at most rows x support vectors doubles), so hand over as many rows at a time as memory allows.
        """
        return self._points(self._check(X))

    def some_margins(self, X: Any, rows: ArrayLike, low: ArrayLike, high: ArrayLike) -> Margins:
        """Return the margins of pairs (low[k], high[k]) on rows[k] only; the cost follows the queries."""
        points = self._check(X)
        asked = check_questions(rows, low, high, count_rows(points), self.n)
        return self._some_margins(points, *asked) if asked[0].size else np.empty(0)

    def record(self, X: Any, y: ArrayLike | None = None) -> Recorded:
        """Return the votes on X as an oracle; y holds labels of `classes_`, default: class 0 is true."""
        return Recorded(self.answers(X), None if y is None else self._numbers_of(y))

    def _numbers_of(self, y: ArrayLike, owner: str = "record") -> Places:
        """Return the class numbers of labels."""
        number = {label: k for k, label in enumerate(self.classes_.tolist())}
        labels = as_array(owner, "y", y, "one label per row")
        if labels.ndim != 1:
            raise parameter_error(owner, "y", "one label per row", f"shape {labels.shape}")
        given = labels.tolist()
        unknown = next((label for label in given if label not in number), None)
        if unknown is not None or None in given:
            known = ", ".join(repr(label) for label in list(number)[:12]) + (", ..." if len(number) > 12 else "")
            raise parameter_error(owner, "y", f"labels of the model's classes ({known})", shown(unknown))
        return np.array([number[label] for label in given], np.int64)

    def _pieces(self, points: Any) -> Iterator[tuple[slice, Margins]]:
        """Yield margins of all pairs for as many rows at a time as memory allows."""
        rows, step = count_rows(points), self._rows_at_a_time()
        for first in range(0, rows, step):
            piece = slice(first, min(first + step, rows))
            yield piece, self._margins(take_rows(points, piece))

    def _rows_at_a_time(self) -> int:
        """Return the number of rows in a piece of work."""
        return rows_for(self.pairs)

    def _some_margins(self, points: Any, rows: Places, low: Places, high: Places) -> Margins:
        """Answer queries that were checked, on data points that were checked."""
        return self._points(points)._margins(rows, low, high)

    def takes(self, X: Any) -> bool:
        """Tell whether X is in the model's own form already, so that checking it would change and reject nothing."""
        return (
            self._takes_arrays
            and type(X) is np.ndarray
            and X.dtype == np.float64
            and X.ndim == 2
            and X.shape[0] > 0
            and X.shape[1] == self.n_features
            and X.flags.c_contiguous
            and bool(np.isfinite(X).all())
        )

    @abc.abstractmethod
    def _check(self, X: Any) -> Any:
        """Return X in the form that this model computes with, or raise what the model's own library raises."""

    @abc.abstractmethod
    def _margins(self, points: Any) -> Margins:
        """Return the margins of all pairs on data points that were checked."""

    @abc.abstractmethod
    def _points(self, points: Any) -> Points:
        """Return data points that were checked, ready to be asked about."""


def _whole_numbers(name: str, given: ArrayLike) -> Places:
    numbers = np.asarray(given)
    if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iu"):
        raise parameter_error(
            "some_margins", name, "integers in one dimension", f"{numbers.dtype} of shape {numbers.shape}"
        )
    return np.ascontiguousarray(numbers, np.int64)
