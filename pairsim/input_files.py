"""Files that a user names: regular files of a bounded size, so that no device, pipe or flood is read without end."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any, BinaryIO

from pairsim.errors import ParameterError, parameter_error, shown

MOST_BYTES = 1 << 30


def as_path(owner: str, name: str, path: Any, must_be: str) -> Path:
    """Return `path` as a Path when it is text or a path.

    Examples
    --------
    >>> as_path("load", "path", "answers.npz", "a file").name
    'answers.npz'
    """
    if not isinstance(path, str | os.PathLike) or not isinstance(text := os.fspath(path), str):
        raise parameter_error(owner, name, must_be, shown(path))
    return Path(text)


def open_input(owner: str, name: str, path: Any, must_be: str, most: int = MOST_BYTES) -> BinaryIO:
    """Open a regular file of at most `most` bytes for reading; anything else is rejected in one line.

    A FIFO, a device or a directory is never read: it may not end, or never begin.
    """
    path = as_path(owner, name, path, must_be)
    try:
        # without waiting for the other end of a FIFO; what was opened is looked at, so that no other file can slip in
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError) as error:  # ValueError: a name with a null character
        raise unreadable(owner, name, path, must_be, error) from None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise parameter_error(owner, name, must_be, f"{str(path)!r} ({_kind(status.st_mode)}, not a regular file)")
    if status.st_size > most:
        os.close(descriptor)
        raise too_long(owner, name, path, must_be, most, f"{status.st_size:,} bytes")
    return os.fdopen(descriptor, "rb")


def read_input(owner: str, name: str, path: Any, must_be: str, most: int = MOST_BYTES) -> bytes:
    """Return the content of a regular file of at most `most` bytes."""
    try:
        with open_input(owner, name, path, must_be, most) as file:
            content = file.read(most + 1)
    except OSError as error:
        raise unreadable(owner, name, path, must_be, error) from None
    if len(content) > most:  # a file of the kernel's, which has no size, or one that grows
        raise too_long(owner, name, path, must_be, most, "more")
    return content


def unreadable(owner: str, name: str, path: Any, must_be: str, error: Exception) -> ParameterError:
    """Build the rejection of a file that the system does not let us read."""
    return parameter_error(owner, name, must_be, f"{str(path)!r} ({getattr(error, 'strerror', None) or 'unreadable'})")


def too_long(owner: str, name: str, path: Any, must_be: str, most: int, size: str) -> ParameterError:
    """Build the rejection of a file that is longer than this kind of file may be."""
    return parameter_error(owner, name, f"{must_be}, of at most {most:,} bytes", f"{str(path)!r} with {size}")


def _kind(mode: int) -> str:
    kinds = {stat.S_IFDIR: "a directory", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
    return kinds.get(stat.S_IFMT(mode), "a device")
