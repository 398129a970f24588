"""A look at the first bytes of a file, before SQLite is let near it."""

from __future__ import annotations

import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pairsim.errors import ParameterError, parameter_error
from pairsim.store.errors import damaged, failed
from pairsim.store.schema import APPLICATION_ID, FORMAT

_MAGIC = b"SQLite format 3\x00"
_LENGTH = 100

# POSIX drops all locks that a process has on a file as soon as the process closes any descriptor of it, and with them
# those that protect SQLite's transactions. So a file that is in use here must not be opened in any other way.
_guard = threading.Lock()
_in_use: dict[tuple[int, int], int] = {}


@contextmanager
def _identity(path: Path) -> Iterator[tuple[int, int] | None]:
    """Give device and inode of a regular file (None for anything else), while no store is opened or closed."""
    with _guard:
        status = path.stat()
        yield (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def note_use(path: Path) -> tuple[int, int]:
    """Remember that SQLite uses the file from now on."""
    with _identity(path) as identity:
        if identity is None:
            raise _foreign(path)
        _in_use[identity] = _in_use.get(identity, 0) + 1
        return identity


def forget_use(identity: tuple[int, int]) -> None:
    """Remember that one user of the file less is left."""
    with _guard:
        _in_use[identity] -= 1
        if not _in_use[identity]:
            del _in_use[identity]


def is_store(path: Path) -> bool:
    """Tell by its first bytes whether a file is a store, of whatever version; nothing else is checked.

    Examples
    --------
    >>> is_store(Path("no such file"))
    False
    """
    try:
        header = _header(Path(path))
    except (OSError, ValueError, TypeError):
        return False
    return header is None or (header.startswith(_MAGIC) and _number(header, 68) == APPLICATION_ID)


def check_header(path: Path) -> None:
    """Reject a file that is not one of our stores, or of a later format; nothing is changed in it."""
    try:
        header = _header(path)
    except (FileNotFoundError, NotADirectoryError):
        raise parameter_error("Store", "path", "a file that exists", path) from None
    except OSError as error:
        raise failed(path, "read", error.strerror or error) from None
    if header is None:
        return
    if not header:
        raise parameter_error("Store", "path", "a store, not an empty file", path)
    if not header.startswith(_MAGIC) or len(header) < _LENGTH or _number(header, 68) != APPLICATION_ID:
        raise _foreign(path)
    if _number(header, 60) > FORMAT:
        raise parameter_error(
            "Store", "path", f"a store of format {FORMAT} or older: this one needs a newer pairsim", path
        )
    if _number(header, 60) != FORMAT or header[18:20] != b"\x01\x01" or _number(header, 56) != 1:
        # another journal mode would make SQLite write files beside this one, only to look at it
        raise damaged(path, "its header is wrong")


def _foreign(path: Path) -> ParameterError:
    return parameter_error("Store", "path", "a pairsim store, not another kind of file", path)


def _header(path: Path) -> bytes | None:
    """Return the first bytes of a file, or None when a store of this process has it open: then it is one."""
    with _identity(path) as identity:
        if identity is None:
            return b"not a regular file"
        if identity in _in_use:
            return None
        with path.open("rb") as file:
            return file.read(_LENGTH)


def _number(header: bytes, at: int) -> int:
    return int.from_bytes(header[at : at + 4], "big")
