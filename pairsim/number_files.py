"""Tables of numbers from files: csv or npy, never anything that could run, and never more than a stated size."""

from __future__ import annotations

import array
import io
import math
import tokenize
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pairsim.errors import parameter_error
from pairsim.input_files import open_input, unreadable

MOST_NUMBERS = 1 << 27  # a matrix of 11,585 classes
LONGEST_LINE = 1 << 25  # characters of a csv file
_BYTES_PER_NUMBER = 32  # as text, at most

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

Header = tuple[tuple[int, ...], bool, np.dtype[Any]]


def read_numbers(owner: str, name: str, path: Path, most: int = MOST_NUMBERS) -> NDArray[np.float64]:
    """Read at most `most` numbers in rows from a csv file (commas, no header) or an npy file (no pickled objects)."""
    must_be = f"a readable csv or npy file of at most {most:,} numbers"
    with open_input(owner, name, path, must_be, most * _BYTES_PER_NUMBER) as file:
        try:
            start = file.read(6)
            file.seek(0)
            return _read_npy(file, most) if start == b"\x93NUMPY" else _read_csv(file, most)
        except OSError as error:
            raise unreadable(owner, name, path, must_be, error) from None
        except UNREADABLE:
            raise parameter_error(owner, name, must_be, repr(str(path))) from None


def read_npy_header(file: BinaryIO) -> Header:
    """Return shape, Fortran order and dtype of an npy file of plain numbers; ValueError for any other."""
    try:
        version = np.lib.format.read_magic(file)
        readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        shape, fortran, dtype = readers[version](file)
    except Exception as error:  # the header is a small language: whatever its readers say, it is not one of ours
        raise ValueError(f"not an array: {error}") from None
    if dtype.kind not in "biuf" or dtype.shape or any(size < 0 for size in shape):
        raise ValueError(f"not an array of numbers: {dtype}, {shape}")
    return shape, fortran, dtype


def _read_npy(file: BinaryIO, most: int) -> NDArray[np.float64]:
    """Read the numbers of an npy file: as many as its header says, if they are there."""
    shape, fortran, dtype = read_npy_header(file)
    count = math.prod(shape)
    if count > most:
        raise ValueError
    data = file.read(count * dtype.itemsize)
    numbers = np.frombuffer(data, dtype, count).reshape(shape, order="F" if fortran else "C")
    return np.asarray(numbers, dtype=np.float64)


def _read_csv(file: BinaryIO, most: int) -> NDArray[np.float64]:
    """Read lines of numbers, all of one length, holding no more of the text than a line."""
    numbers, width, rows = array.array("d"), 0, 0
    with io.TextIOWrapper(file, encoding="utf-8") as text:
        while line := text.readline(LONGEST_LINE):
            if not line.strip():
                continue
            cells = line.split(",")
            if len(line) == LONGEST_LINE or (rows and len(cells) != width) or len(numbers) + len(cells) > most:
                raise ValueError
            numbers.extend(map(float, cells))
            width, rows = len(cells), rows + 1
    return np.array(numbers).reshape(rows, width) if rows else np.empty(0)
