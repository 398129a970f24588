"""Products of rows with a table in which no row's numbers depend on the rows around it.

A matrix product uses other code paths for one row than for many, and rounds otherwise: among classes with equal
scores the first would be one class when a row is predicted alone and another when it is predicted with others. Here
every product has the same number of rows, the last one filled up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROWS = 64


def by_equal_parts(
    work: Callable[[Any], NDArray[np.float64]], X: Any, columns: int, rows: int = ROWS
) -> NDArray[np.float64]:
    """Return what `work` makes of the rows of X, so many columns each, always given the same number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from pairsim.learn.row_products import by_equal_parts
    >>> by_equal_parts(lambda part: part * len(part), np.array([[1.0], [2.0], [3.0]]), 1, rows=2).ravel().tolist()
    [2.0, 4.0, 6.0]
    """
    found = np.empty((X.shape[0], columns))
    for first in range(0, X.shape[0], rows):
        part = X[first : first + rows]
        have = part.shape[0]
        if have < rows:
            part = part[np.minimum(np.arange(rows), have - 1)]
        found[first : first + have] = work(np.ascontiguousarray(part) if isinstance(part, np.ndarray) else part)[:have]
    return found


def steady_product(X: Any, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return X @ table, rows of X being dense or sparse."""
    return by_equal_parts(lambda part: np.asarray(part @ table), X, table.shape[1])
