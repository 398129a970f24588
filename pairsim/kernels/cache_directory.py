"""Which directory holds the kernels' machine code: the user's own, and never one that others can write."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from pathlib import Path

from pairsim.kernels.private_places import UnsafeDirectoryError, fallback_roots, private_directory
from pairsim.kernels.sealed_files import SealedFiles
from pairsim.kernels.sources import source_digest

PREFIX = "kernels-"
TOLD = "PAIRSIM_CACHE_IGNORED"  # the directory that this process, or the one that started it, has spoken about

_choosing = threading.Lock()
_chosen: list[SealedFiles | None] = []


def cache_root() -> Path:
    """Return the directory that should hold all caches: `PAIRSIM_CACHE_DIR`, else one in the user's cache directory."""
    chosen = os.environ.get("PAIRSIM_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "pairsim"


def kernel_files() -> SealedFiles | None:
    """Return the files of this exact version of the kernels, or None when there is no place for them."""
    with _choosing:
        if not _chosen:
            path = _choose()
            _chosen.append(None if path is None else SealedFiles(path))
        return _chosen[0]


def cache_directory() -> Path | None:
    """Return the directory of `kernel_files`."""
    files = kernel_files()
    return None if files is None else files.directory


def _choose() -> Path | None:
    name = PREFIX + source_digest()
    try:
        root = cache_root()
        return private_directory(root, name)
    except (OSError, RuntimeError):  # it cannot be made; RuntimeError: no home directory
        return None
    except UnsafeDirectoryError as error:
        path = _choose_fallback(name)
        instead = f"using {str(path.parent)!r}" if path is not None else "kernels are compiled in every process"
        if os.environ.get(TOLD) != str(root):
            tell(f"the kernel cache {str(root)!r} is ignored: {error}; {instead}.")
            os.environ[TOLD] = str(root)  # workers need not repeat it
        return path


def _choose_fallback(name: str) -> Path | None:
    for root in fallback_roots():
        with contextlib.suppress(OSError, RuntimeError, UnsafeDirectoryError):
            path = private_directory(root, name)
            if os.access(path, os.W_OK):
                return path
    return None


def tell(message: str) -> None:
    """Print one line on stderr, if there is one."""
    with contextlib.suppress(OSError, ValueError):  # closed, or nobody reads it
        if sys.stderr is not None:
            print(f"pairsim: {message}", file=sys.stderr, flush=True)
