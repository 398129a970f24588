"""Removing kernel caches: what pairsim made, of every version, and nothing else."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pairsim.kernels.cache_directory import PREFIX, cache_root
from pairsim.kernels.private_places import fallback_roots
from pairsim.kernels.sealed_files import KEY_NAME, TEMPORARY

CACHE_NAME = re.compile(PREFIX + "[0-9a-f]{20}")
# entries, the indexes of earlier versions, the key, and what a killed process left of any of them
FILE_NAME = re.compile(rf"(.+\.nb[ci]|{KEY_NAME})(\.tmp\.[0-9a-f]{{16}}|\.[0-9a-f]{{16}}\{TEMPORARY})?")


class Cleared(NamedTuple):
    """What was removed, and the caches that could not be removed whole."""

    caches: int
    size: int
    roots: tuple[Path, ...]
    left: tuple[Path, ...]


def clear_caches() -> Cleared:
    """Remove the kernel caches of all versions, wherever this user's may be; symbolic links are not followed."""
    roots = fallback_roots()
    with contextlib.suppress(RuntimeError):  # no home directory
        roots.insert(0, cache_root())
    caches, size, touched, left = 0, 0, [], []
    for root in dict.fromkeys(root.absolute() for root in roots):
        for path in _caches_in(root):
            try:
                removed = _empty(path)
                size += removed
                path.rmdir()
            except OSError:  # somebody else's, or with a file that is not pairsim's
                left.append(path)
                continue
            if removed:  # else empty: this very process may have made it
                caches += 1
                touched.append(root)
    return Cleared(caches, size, tuple(dict.fromkeys(touched)), tuple(left))


def _caches_in(root: Path) -> list[Path]:
    try:
        with os.scandir(root) as entries:
            found = [each for each in entries if CACHE_NAME.fullmatch(each.name) and each.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return sorted(Path(entry.path) for entry in found)


def _empty(path: Path) -> int:
    """Remove pairsim's files from a cache; return how many bytes they had."""
    size = 0
    with _opened(path) as (listed, held):
        if hasattr(os, "geteuid") and os.stat(listed).st_uid != os.geteuid():
            raise PermissionError(path)
        for name in os.listdir(listed):
            at = name if held is not None else os.path.join(path, name)
            status = os.stat(at, dir_fd=held, follow_symlinks=False)
            if FILE_NAME.fullmatch(name) and not stat.S_ISDIR(status.st_mode):
                os.unlink(at, dir_fd=held)
                size += status.st_size
    return size


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[tuple[Path | int, int | None]]:
    """Yield what to list, and a handle for what is in it, so that nobody can put a link in the directory's place."""
    if os.unlink not in os.supports_dir_fd or os.listdir not in os.supports_fd:
        yield path, None
        return
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield handle, handle
    finally:
        os.close(handle)
