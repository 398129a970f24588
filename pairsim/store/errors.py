"""What can go wrong with a store, and the one line that says so: no `sqlite3` exception leaves the package."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pairsim.errors import ParameterError
from pairsim.plain_text import printable


class StoreError(RuntimeError):
    """Something outside went wrong: a full disk, a lock, a directory that cannot be written.

    Examples
    --------
    >>> raise StoreError("Could not record blocks in a.store: the disk is full.")
    Traceback (most recent call last):
        ...
    pairsim.store.errors.StoreError: Could not record blocks in a.store: the disk is full.
    """


class BlockConflict(ParameterError):  # noqa: N818 (it says what it is)
    """Two results of the same trials of the same block differ, so that at least one of them is wrong.

    Examples
    --------
    >>> issubclass(BlockConflict, ParameterError)
    True
    """


# The system's doing, and what to call it. Whatever else SQLite reports is the file's own fault: it is damaged.
_REASONS = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_IOERR: "the system reports an input/output error (disk full, file size limit or failing disk)",
    sqlite3.SQLITE_READONLY: "it is read-only here (opened for reading, or file or directory are write-protected)",
    sqlite3.SQLITE_CANTOPEN: "the file or its directory cannot be opened or written",
    sqlite3.SQLITE_PERM: "the file may not be used",
    sqlite3.SQLITE_AUTH: "the file may not be used",
    sqlite3.SQLITE_BUSY: "another process keeps it locked",
    sqlite3.SQLITE_LOCKED: "another user of this process keeps it locked",
    sqlite3.SQLITE_PROTOCOL: "it could not be locked",
    sqlite3.SQLITE_NOLFS: "the file system cannot hold a file of this size",
    sqlite3.SQLITE_NOMEM: "memory is used up",
    sqlite3.SQLITE_INTERRUPT: "it was interrupted",
}


def one_line(text: object) -> str:
    """Return `text` on one line."""
    return " ".join(str(text).split())


def damaged(path: Path, where: str) -> ParameterError:
    """Build the rejection of a file that was a store and cannot be trusted any more."""
    advice = "Restore a copy, or run its sweep again into a new file."
    return ParameterError(printable(f"{one_line(path)} is damaged: {one_line(where)}. {advice}"))


def failed(path: Path, doing: str, reason: object) -> StoreError:
    """Build the error for something outside that went wrong while `doing` something with the file."""
    return StoreError(f"Could not {doing} {one_line(path)}: {one_line(reason)}. What was stored before is intact.")


def explained(error: sqlite3.Error, path: Path, doing: str) -> Exception:
    """Return the package's own error for one of SQLite's."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    if code == sqlite3.SQLITE_READONLY_DBMOVED:
        return StoreError(
            f"Could not {doing} {one_line(path)}: the file was moved, replaced or removed while in use. "
            "What was stored before went where the file went."
        )
    if code is not None and code & 0xFF in _REASONS:
        return failed(path, doing, _REASONS[code & 0xFF])
    return damaged(path, ascii(str(error)).strip("'\""))


@contextmanager
def translated(path: Path, doing: str) -> Iterator[None]:
    """Turn what SQLite and the system raise inside into the package's own errors."""
    try:
        yield
    except sqlite3.Error as error:
        raise explained(error, path, doing) from None
    except UnicodeDecodeError:  # Python read SQLite's message, and found in it what should have been text in the file
        raise damaged(path, "it holds text that is none") from None
    except OSError as error:
        raise failed(path, doing, error.strerror or error) from None
