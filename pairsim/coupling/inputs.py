"""What all functions of this package check, and how they walk through many rows in little memory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsim.checks import check_number
from pairsim.errors import parameter_error, shown

CHUNK = 1 << 21  # doubles at a time: 16 MB, whatever the number of rows

# Smaller probabilities are raised to this. A power of two, so that 1 - (1 - r) is r again and the two classes of a pair
# are treated alike; close to the 1e-7 of LIBSVM.
SMALLEST_PROBABILITY = 2.0**-24

MARGIN = "an array of numbers that are not nan"
PROBABILITY = "an array of numbers in [0, 1]"


def number_table(owner: str, name: str, values: ArrayLike, columns: int | None, must_be: str) -> NDArray[Any]:
    """Return `values` as a two-dimensional array of real numbers of any width; it is not copied."""
    try:
        table = np.asarray(values)
    except ValueError:  # rows of different lengths
        raise parameter_error(owner, name, must_be, "rows of different lengths") from None
    except (TypeError, OverflowError):
        raise parameter_error(owner, name, must_be, shown(values)) from None
    if table.dtype.kind not in "biuf" or table.ndim != 2 or columns not in (None, table.shape[1]):
        raise parameter_error(owner, name, must_be, f"an array of shape {table.shape} and type {table.dtype}")
    return table


def pair_table(owner: str, name: str, values: ArrayLike, n: int) -> NDArray[Any]:
    """Return `values` as an array with one column for each pair of n classes."""
    pairs = n * (n - 1) // 2
    return number_table(owner, name, values, pairs, f"an array of real numbers, of shape (rows, {pairs}) for n = {n}")


def chunks(owner: str, name: str, table: NDArray[Any], must_be: str) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Yield some rows at a time, as checked doubles, and where they are."""
    low, high = (0.0, 1.0) if must_be == PROBABILITY else (-math.inf, math.inf)
    rows = max(1, CHUNK // max(1, table.shape[1]))
    for first in range(0, len(table), rows):
        part = np.ascontiguousarray(table[first : first + rows], dtype=np.float64)
        good = (part >= low) & (part <= high)  # nan is neither
        if not good.all():
            raise parameter_error(owner, name, must_be, f"an array with {part[~good][0]}")
        yield slice(first, first + len(part)), part


def check_clip(owner: str, clip: Any) -> float:
    """Return `clip` as a float when probabilities can be kept that far from 0 and 1."""
    must_be = "a number in [1e-12, 0.5)"
    value = check_number(owner, "clip", clip, must_be)
    if not 1e-12 <= value < 0.5:
        raise parameter_error(owner, "clip", must_be, clip)
    return value
