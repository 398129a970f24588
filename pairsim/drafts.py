"""Drafts: files written under a name of their own, beside the file they become when they are complete.

A draft whose process was killed stays behind. Its name tells which process that was, so that whoever writes to the same
directory next can remove it: only when the name says that the process ran under this very start of the system, in the
same set of process numbers, and no such process is there any more.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import stat
from pathlib import Path

NAME = re.compile(r"\.pairsim-([0-9a-f]{12})-([0-9]{1,10})-([0-9]{1,20})-[0-9a-f]{16}(\.[A-Za-z0-9]{1,16})?")

written: list[Path] = []
"""The complete files that this process has put in their places, in order."""

_open: dict[Path, int] = {}  # this process's drafts; a forked child has them too, and must not take them for its own


def begin_draft(directory: Path, suffix: str = "") -> Path:
    """Return a name for a new draft, after removing drafts of processes that are gone; there is no file yet."""
    remove_abandoned(directory)
    started = _started(os.getpid())
    token = secrets.token_hex(8)
    if started is None:  # nobody could tell whether this process is gone
        path = directory / f".pairsim-{token}{suffix}"
    else:
        path = directory / f".pairsim-{_system()}-{os.getpid()}-{started}-{token}{suffix}"
    _open[path] = os.getpid()
    return path


def end_draft(path: Path) -> None:
    """Remove the draft, if it is still there under this name."""
    path.unlink(missing_ok=True)
    _open.pop(path, None)


def note_written(path: Path) -> None:
    """Remember that a complete file is in its place."""
    written.append(path)


def drop_drafts() -> None:
    """Remove all drafts of this process, which is about to end."""
    for path, process in list(_open.items()):
        if process == os.getpid():
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)


def remove_abandoned(directory: Path) -> None:
    """Remove drafts of processes that are gone; what is not surely one is left alone."""
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                if _is_abandoned(entry):
                    os.unlink(entry.path)


def _is_abandoned(entry: os.DirEntry[str]) -> bool:
    match = NAME.fullmatch(entry.name)
    if match is None or _started(os.getpid()) is None or match[1] != _system():
        return False
    found = entry.stat(follow_symlinks=False)
    return stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and not _is_running(int(match[2]), match[3])


def _is_running(process: int, started: str) -> bool:
    """Whether a process is there that began at that moment; numbers are used again."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # somebody else's
        pass
    return _started(process) in (None, started)


def _started(process: int) -> str | None:
    """Return the moment a process began, in ticks since the start of the system; None where it cannot be known."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError, ValueError):
        return None


def _system() -> str:
    """Return a name for this start of this system and this set of process numbers (containers have their own)."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        numbers = os.readlink("/proc/self/ns/pid")
    except OSError:
        boot, numbers = secrets.token_hex(16), ""  # equal to no other, so that nothing is ever removed
    return hashlib.sha256(f"{boot} {numbers}".encode()).hexdigest()[:12]
