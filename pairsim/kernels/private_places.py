"""Directories that nobody else can write, for code that is run without being looked at.

As ssh does with its keys: a directory that belongs to somebody else, or that others can write, is not used. Neither is
one below a directory in which others could put another in its place.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class UnsafeDirectoryError(Exception):
    """Others could put files in this directory; the message says why."""


def private_directory(root: Path, name: str) -> Path:
    """Return directory `name` of `root`, made with mode 0700 if need be.

    Raises
    ------
    UnsafeDirectoryError
        Others can write to it, to `root`, or to a directory above where they could replace it. Nothing is made then.
    OSError, RuntimeError
        It cannot be made, or a symbolic link leads to itself.
    """
    root = root.resolve()
    path = (root / name).resolve()
    _check(path, root)
    if not path.is_dir():
        _make(path)
        _check(path, root)  # somebody may have been faster
    return path


def _check(path: Path, root: Path) -> None:
    """Raise if others can write to what there is of a path; Windows keeps a profile's directories private itself."""
    if not hasattr(os, "geteuid"):
        return
    user = os.geteuid()
    for place in dict.fromkeys((*reversed(path.parents), root, path)):  # from above: below may be closed to us
        try:
            status = place.stat()
        except FileNotFoundError:
            continue
        ours = place in (path, root)
        if status.st_uid != user and (ours or status.st_uid != 0):
            raise UnsafeDirectoryError(f"{str(place)!r} belongs to user {status.st_uid}")
        # in a sticky directory such as /tmp, nobody can rename what belongs to another
        if status.st_mode & OTHERS_WRITE and (ours or not status.st_mode & stat.S_ISVTX):
            mode = stat.S_IMODE(status.st_mode)
            raise UnsafeDirectoryError(f"others can write to {str(place)!r} (mode {mode:04o})")


def _make(path: Path) -> None:
    """Make a directory and those above it, each private; `os.makedirs` would ask the umask for all but the last."""
    missing = []
    for place in (path, *path.parents):
        if place.is_dir():
            break
        missing.append(place)
    for place in reversed(missing):
        place.mkdir(mode=0o700, exist_ok=True)


def fallback_roots() -> list[Path]:
    """Return where to go instead, the best first: the same for every process of a user."""
    if not hasattr(os, "geteuid"):
        return []
    roots = []
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and os.path.isabs(runtime):
        roots.append(Path(runtime) / "pairsim")
    parents = ["/var/tmp", "/tmp"]
    with contextlib.suppress(FileNotFoundError):  # there is none that can be written
        parents.insert(0, tempfile.gettempdir())
    return [*roots, *(Path(parent) / f"pairsim-{os.geteuid()}" for parent in dict.fromkeys(parents))]
