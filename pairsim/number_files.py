"""Tables of numbers from files: csv or npy, never anything that could run."""

from __future__ import annotations

import io
import tokenize
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pairsim.errors import refusal

# numpy reads an npy header as a piece of Python (by literal_eval), hence what its parser says of a damaged one
UNREADABLE = (
    ValueError,
    TypeError,
    OverflowError,
    MemoryError,
    EOFError,
    SyntaxError,
    RecursionError,
    tokenize.TokenError,
)


def read_numbers(owner: str, name: str, path: Path) -> NDArray[np.float64]:
    """Read a table of numbers from a csv file (commas, no header) or an npy file (no pickled objects)."""
    must_be = "a readable csv or npy file of numbers"
    try:
        content = path.read_bytes()
    except OSError as error:
        raise refusal(owner, name, must_be, f"{str(path)!r} ({error.strerror})") from None
    try:
        if content.startswith(b"\x93NUMPY"):
            numbers = np.load(io.BytesIO(content), allow_pickle=False)
        else:
            lines = [line for line in content.decode("utf-8").splitlines() if line.strip()]
            numbers = np.array([[float(cell) for cell in line.split(",")] for line in lines])
        return np.asarray(numbers, dtype=np.float64)
    except UNREADABLE:
        raise refusal(owner, name, must_be, repr(str(path))) from None
