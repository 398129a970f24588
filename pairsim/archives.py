"""Zip archives of arrays, read without trusting what they say about their size."""

from __future__ import annotations

import io
import math
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsim.number_files import Header, read_npy_header

# what zipfile and zlib raise on files that are damaged or something else
DAMAGED = (
    *(ValueError, TypeError, LookupError, AttributeError, EOFError, OverflowError, MemoryError, RecursionError),
    *(OSError, RuntimeError, NotImplementedError, struct.error, zipfile.BadZipFile, zlib.error),
)
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # zipfile inflates the others without a bound
_CHUNK = 1 << 20
_ENTRY = b"PK\x01\x02"  # how each entry of a zip directory begins
_HEADER = 1 << 16  # bytes that an npy header has at most, with its magic


def open_archive(file: BinaryIO, most_members: int) -> zipfile.ZipFile:
    """Open a zip archive; ValueError for one with more members, before its directory is read into memory."""
    if sum(chunk.count(_ENTRY) for chunk in _chunks(file)) > 2 * most_members:  # data may hold these bytes by chance
        raise ValueError("an archive of too many files")
    archive = zipfile.ZipFile(file)
    if len(archive.infolist()) > most_members:
        raise ValueError("an archive of too many files")
    if any(member.compress_type not in METHODS for member in archive.infolist()):
        raise ValueError("an archive that is compressed in another way")
    return archive


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    """Give the content piece by piece; each begins with the last bytes of the one before, where a mark may begin."""
    file.seek(0)
    end = b""
    while chunk := file.read(_CHUNK):
        yield end + chunk
        end = chunk[1 - len(_ENTRY) :]
    file.seek(0)


def claimed_array(archive: zipfile.ZipFile, name: str) -> Header:
    """Return shape, order and dtype of an npy member; ValueError unless its size is what these take."""
    with archive.open(name) as member:
        start = io.BytesIO(member.read(_HEADER))
    shape, fortran, dtype = read_npy_header(start)
    if start.tell() + math.prod(shape) * dtype.itemsize != archive.getinfo(name).file_size:
        raise ValueError(f"{name} is not as long as it says")
    return shape, fortran, dtype


def read_array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """Return an npy member; the caller has looked at what it claims to be."""
    shape, fortran, dtype = claimed_array(archive, name)
    with archive.open(name) as member:
        read_npy_header(member)  # type: ignore[arg-type]
        data = bytearray(math.prod(shape) * dtype.itemsize)
        filled = 0
        while chunk := member.read(_CHUNK):
            data[filled : filled + len(chunk)] = chunk
            filled += len(chunk)
    return np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")


class Limits(NamedTuple):
    """What an archive of a stranger's may come to: members, bytes of all of them, bytes of one that is text."""

    members: int
    total: int
    text: int


def check_archive(file: BinaryIO, limits: Limits, depth: int = 1) -> int:
    """Return how many bytes an archive of arrays, texts and archives of arrays comes to; ValueError beyond the limits.

    Nothing is inflated but the first bytes of each member: zipfile gives no more of it than its directory says, and an
    array that claims another size than that is rejected.
    """
    archive = open_archive(file, limits.members)
    total = sum(member.file_size for member in archive.infolist())
    for member in archive.infolist():
        if total > limits.total:
            break
        with archive.open(member) as opened:
            start = opened.read(6)
        if start.startswith(b"\x93NUMPY"):
            _check_any_array(archive, member)
        elif start.startswith(b"PK") and depth > 0:
            total += check_archive(io.BytesIO(archive.read(member)), limits, depth - 1)
        elif member.file_size > limits.text:
            raise ValueError(f"{member.filename!a} of {member.file_size:,} bytes is too long")
    if total > limits.total:
        raise ValueError(f"its files come to {total:,} bytes, more than {limits.total:,}")
    return total


def _check_any_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Reject an array that claims more numbers than the member can hold, whatever its dtype."""
    with archive.open(member) as opened:
        start = io.BytesIO(opened.read(_HEADER))
    version = np.lib.format.read_magic(start)
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    shape, _, dtype = readers[version](start)
    if math.prod(shape) * dtype.itemsize > member.file_size or any(size < 0 for size in shape):
        raise ValueError(f"{member.filename!a} claims {shape} of {dtype}")
