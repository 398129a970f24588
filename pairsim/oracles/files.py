"""Oracles from files: numbers in csv or npy, never anything that could run."""

from __future__ import annotations

import io
import tokenize
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pairsim.errors import refusal
from pairsim.oracles.matrix import Matrix
from pairsim.oracles.similarity import PROFILES, Similarity

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


def read_numbers(name: str, path: Path) -> NDArray[np.float64]:
    """Read a table of numbers from a csv file (commas, no header) or an npy file (no pickled objects)."""
    must_be = "a readable csv or npy file of numbers"
    try:
        content = path.read_bytes()
    except OSError as error:
        raise refusal("oracle", name, must_be, f"{str(path)!r} ({error.strerror})") from None
    try:
        if content.startswith(b"\x93NUMPY"):
            numbers = np.load(io.BytesIO(content), allow_pickle=False)
        else:
            lines = [line for line in content.decode("utf-8").splitlines() if line.strip()]
            numbers = np.array([[float(cell) for cell in line.split(",")] for line in lines])
        return np.asarray(numbers, dtype=np.float64)
    except UNREADABLE:
        raise refusal("oracle", name, must_be, repr(str(path))) from None


def similarity_from(text: str, n: int | None) -> Similarity:
    """Make a Similarity from a profile such as "zipf:1.0" (which needs n) or from a file of n numbers."""
    if text.partition(":")[0] in PROFILES:
        if n is None:
            raise refusal("oracle", "n", f"given with the profile {text!r}", "nothing")
        return Similarity.profile(text, n)
    path = Path(text)
    if not path.exists():
        listed = ", ".join(f"{known}:NUMBER" for known in PROFILES)
        raise refusal("oracle", "r", f"an existing file or one of {listed}", repr(text))
    numbers = read_numbers("r", path)
    if numbers.ndim == 2 and 1 in numbers.shape:
        numbers = numbers.ravel()
    return Similarity(numbers, label=f"similarity:{path.name}")


def matrix_from(text: str) -> Matrix:
    """Make a Matrix from a csv or npy file."""
    return Matrix(read_numbers("matrix", Path(text)), label=f"matrix:{Path(text).name}")
