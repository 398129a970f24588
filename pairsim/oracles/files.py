"""Oracles from files: numbers in csv or npy, never anything that could run."""

from __future__ import annotations

from pathlib import Path

from pairsim.errors import parameter_error
from pairsim.number_files import read_numbers
from pairsim.oracles.matrix import Matrix
from pairsim.oracles.similarity import PROFILES, Similarity


def similarity_from(text: str, n: int | None) -> Similarity:
    """Make a Similarity from a profile such as "zipf:1.0" (which needs n) or from a file of n numbers."""
    if text.partition(":")[0] in PROFILES:
        if n is None:
            raise parameter_error("oracle", "n", f"given with the profile {text!r}", "nothing")
        return Similarity.profile(text, n)
    path = Path(text)
    if not path.exists():
        listed = ", ".join(f"{known}:NUMBER" for known in PROFILES)
        raise parameter_error("oracle", "r", f"an existing file or one of {listed}", repr(text))
    numbers = read_numbers("oracle", "r", path)
    if numbers.ndim == 2 and 1 in numbers.shape:
        numbers = numbers.ravel()
    return Similarity(numbers, label=f"similarity:{path.name}")


def matrix_from(text: str) -> Matrix:
    """Make a Matrix from a csv or npy file."""
    return Matrix(read_numbers("oracle", "matrix", Path(text)), label=f"matrix:{Path(text).name}")
