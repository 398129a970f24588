"""Files that are written whole or not at all, and never over a stranger's file."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from pairsim.drafts import begin_draft, end_draft, note_written
from pairsim.errors import parameter_error


def check_target(
    path: Path, suffixes: tuple[str, ...], name: str, is_ours: Callable[[Path], bool] | None, owner: str = "sweep"
) -> None:
    """Reject, before any work is done, a file that could not be written or is not ours to replace.

    Without `is_ours` nothing may be replaced.
    """
    if path.suffix.lower() not in suffixes:
        raise parameter_error(owner, name, "a file name ending in " + ", ".join(suffixes), repr(str(path)))
    if path.is_dir():
        raise parameter_error(owner, name, "a file", f"the directory {str(path)!r}")
    parent = path.parent
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        raise parameter_error(owner, name, "in a directory that exists and can be written", repr(str(path)))
    if not os.path.lexists(path):
        return
    if is_ours is None:
        raise parameter_error(owner, name, "a new file", f"{str(path)!r}, which exists")
    if path.exists() and (not path.is_file() or not is_ours(path)):
        must_be = "a new file or one that pairsim wrote"
        raise parameter_error(owner, name, must_be, f"{str(path)!r}, which exists and is something else")


def write_whole(path: Path, save: Callable[[Path], None]) -> None:
    """Let `save` write a temporary file beside `path`, flush it to disk, then put it in place in one step."""
    with _temporary(path, save) as temporary:
        temporary.replace(path)


def write_new(path: Path, save: Callable[[Path], None]) -> None:
    """Do as `write_whole`, and raise FileExistsError when something of that name is there by then."""
    with _temporary(path, save) as temporary:
        os.link(temporary, path)  # unlike a rename, a link never replaces anything


@contextlib.contextmanager
def _temporary(path: Path, save: Callable[[Path], None]) -> Iterator[Path]:
    """Yield a file beside `path` that `save` has written, on disk to the last byte; it is gone afterwards."""
    temporary = begin_draft(path.parent, path.suffix)
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        save(temporary)
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)  # private until it is complete; a result is as readable as any other
        yield temporary
        note_written(path)
    finally:
        end_draft(temporary)
