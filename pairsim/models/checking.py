"""Checks of X for models that no library validates: built by hand, or read from a text file."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import scipy.sparse

from pairsim.errors import parameter_error


@dataclasses.dataclass(frozen=True)
class FreeMatrix:
    """Takes numbers in rows and columns, dense or sparse, all finite; `width` columns unless that is None."""

    owner: str
    width: int | None = None

    def __call__(self, X: Any) -> Any:
        """Return X as doubles: a C-ordered array, or a CSR matrix with sorted indices."""
        must_be = "finite numbers in rows and columns"
        try:
            if np.iscomplexobj(X):
                raise TypeError
            if scipy.sparse.issparse(X):
                points = scipy.sparse.csr_array(X, dtype=np.float64)
                points.sum_duplicates()
            else:
                points = np.ascontiguousarray(X, np.float64)
        except (TypeError, ValueError):
            raise parameter_error(self.owner, "X", must_be, f"a {type(X).__name__} of something else") from None
        if points.ndim != 2 or points.shape[0] == 0:
            raise parameter_error(self.owner, "X", must_be + ", at least one row", f"shape {points.shape}")
        if not np.isfinite(points.data if scipy.sparse.issparse(points) else points).all():
            raise parameter_error(self.owner, "X", must_be, "nan or infinity")
        if self.width is not None and points.shape[1] != self.width:
            raise parameter_error(
                self.owner, "X", f"{self.width} columns wide, one a feature", f"{points.shape[1]} columns"
            )
        return points
