"""Arrays as compressed NumPy files in memory: never a pickle, and never more memory than the data can fill."""

from __future__ import annotations

import io
import math
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsim.number_files import Header, read_npy_header

BLOB_LIMIT = 900_000_000  # SQLite holds up to 10**9 bytes in one place
BYTES_LIMIT = 1 << 30
_HEADER_LIMIT = 1 << 16
_MOST_COMPRESSION = 1040  # deflate cannot do better than 1032 to 1
_CHUNK = 1 << 20
_LEVEL = 1  # a quarter of the time of the usual level, for a few per cent of the size
_KINDS = "biuf"


def packed(array: NDArray[Any]) -> bytes:
    """Return the array as a compressed NumPy file.

    Examples
    --------
    >>> unpacked(packed(np.arange(3)))
    array([0, 1, 2])
    """
    array = np.asanyarray(array)
    if array.dtype.kind not in _KINDS:
        raise ValueError(f"an array of {array.dtype}")
    if array.nbytes > BYTES_LIMIT:
        raise ValueError(f"an array of {array.nbytes} bytes")
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asarray(array), version=(1, 0), allow_pickle=False)
    data = zlib.compress(file.getbuffer(), _LEVEL)
    if len(data) > BLOB_LIMIT:
        raise ValueError(f"an array of {len(data)} bytes, compressed")
    return data


def claimed(data: bytes) -> Header:
    """Return shape, Fortran order and dtype that a compressed NumPy file claims, without making the array.

    ValueError when it is not one, or claims more than it can hold.

    Examples
    --------
    >>> claimed(packed(np.arange(6).reshape(2, 3)))
    ((2, 3), False, dtype('int64'))
    """
    return _begin(data)[0]


def claimed_bytes(data: bytes) -> int:
    """Return how many bytes the array of a compressed NumPy file says it has."""
    shape, _, dtype = claimed(data)
    return math.prod(shape) * dtype.itemsize


def unpacked(data: bytes) -> NDArray[Any]:
    """Return the array of a compressed NumPy file; ValueError when it is not one, or claims more than it can hold."""
    (shape, fortran, dtype), start, stream = _begin(data)
    try:
        buffer = bytearray(math.prod(shape) * dtype.itemsize)
        _fill(buffer, start, stream)
    except (zlib.error, MemoryError) as error:
        raise ValueError(f"not an array: {error}") from None
    return np.frombuffer(buffer, dtype).reshape(shape, order="F" if fortran else "C")


def _begin(data: bytes) -> tuple[Header, bytes, zlib._Decompress]:
    """Read what the array claims to be; return that, the first of its bytes, and the stream of the others."""
    stream = zlib.decompressobj()
    try:
        start = io.BytesIO(stream.decompress(data, _HEADER_LIMIT))
    except (zlib.error, MemoryError) as error:
        raise ValueError(f"not an array: {error}") from None
    shape, fortran, dtype = read_npy_header(start)
    size = math.prod(shape) * dtype.itemsize
    if size > min(BYTES_LIMIT, _MOST_COMPRESSION * len(data)):
        raise ValueError(f"an array of {size} bytes cannot come from {len(data)}, or is too large")
    return (shape, fortran, dtype), start.read(), stream


def _fill(buffer: bytearray, start: bytes, stream: zlib._Decompress) -> None:
    """Put the numbers where they belong; there must be neither fewer nor more of them than announced."""
    filled = 0
    chunk = start
    while True:
        if filled + len(chunk) > len(buffer):
            raise ValueError("an array with more data than it announces")
        buffer[filled : filled + len(chunk)] = chunk
        filled += len(chunk)
        if stream.eof:
            break
        waiting = len(stream.unconsumed_tail)
        chunk = stream.decompress(stream.unconsumed_tail, _CHUNK)
        if not chunk and not stream.eof and len(stream.unconsumed_tail) == waiting:
            raise ValueError("an array that ends too early")
    if filled != len(buffer) or stream.unused_data:
        raise ValueError("an array with less data than it announces, or with something after it")
