"""How kernels are compiled, and where their machine code is kept between runs.

numba's own file cache looks only at the file that holds a function, so an edited callee in another file is not
noticed. Here the cache directory is named by a hash of every source file that holds or uses kernels and of the
numba, numpy and Python versions: an edit to any of them means an empty directory, so a stale kernel cannot be
served. (numba itself adds the name and features of the CPU to each entry.)
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import tempfile
from pathlib import Path
from typing import Any

import numba
import numpy
from numba.core import caching
from numba.extending import register_jitable

OPTIONS: Any = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}  # none is called from C
INNER: Any = {"no_cpython_wrapper": True, **OPTIONS}  # nor are these from Python
BARE_INNER: Any = {"_nrt": False, **INNER}  # nor do these make or return an array
COMPILED = ("kernels", "decoders", "oracles")  # hashed whole; elsewhere, the files that import from kernels


@functools.cache
def source_digest() -> str:
    """Return the hash that names the cache directory: package sources and compiler versions."""
    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for version in (numba.__version__, numpy.__version__, platform.python_version()):
        digest.update(version.encode() + b"\0")
    for path in sorted(package.rglob("*.py")):
        source = path.read_bytes()
        if path.relative_to(package).parts[0] in COMPILED or b"pairsim.kernels" in source:
            digest.update(path.relative_to(package).as_posix().encode() + b"\0" + source + b"\0")
    return digest.hexdigest()[:20]


def cache_root() -> Path:
    """Return the directory that holds all kernel caches: `PAIRSIM_CACHE_DIR`, else the user's cache directory."""
    chosen = os.environ.get("PAIRSIM_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "pairsim"


@functools.cache
def cache_directory() -> Path | None:
    """Return the writable directory for this exact version of the kernels, or None when there is none."""
    try:
        path = cache_root() / f"kernels-{source_digest()}"
        path.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path).close()
    except (OSError, RuntimeError):  # RuntimeError: no home directory
        return None
    return path


class _DigestLocator(caching._CacheLocator):
    """Puts a function's machine code under `cache_directory()`; freshness is the directory's own name."""

    def __init__(self, py_func: Any, py_file: str, path: Path) -> None:
        package = Path(__file__).resolve().parent.parent
        self._name = Path(py_file).resolve().relative_to(package).with_suffix("").as_posix().replace("/", ".")
        self._line = py_func.__code__.co_firstlineno
        self._path = str(path)

    def get_cache_path(self) -> str:
        return self._path

    def get_source_stamp(self) -> str:
        return source_digest()

    def get_disambiguator(self) -> str:
        return f"{self._name}-{self._line}"

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _DigestLocator | None:
        path = cache_directory()
        return None if path is None else cls(py_func, py_file, path)


class _KernelCacheImpl(caching.CompileResultCacheImpl):
    _locator_classes: Any = [_DigestLocator]  # noqa: RUF012


class _KernelCache(caching.FunctionCache):
    _impl_class = _KernelCacheImpl


def jit(function: Any, **options: Any) -> Any:
    """Compile `function` without the GIL and with IEEE arithmetic; cache it where a cache can be had.

    For kernels that Python calls. Each has a wrapper that unpacks its arguments, which takes as long to compile as a
    small kernel itself: what only other kernels call is `inner`.
    """
    dispatcher: Any = numba.njit(**OPTIONS, **options)(function)
    if hasattr(dispatcher, "enable_caching") and cache_directory() is not None:
        dispatcher._cache = _KernelCache(dispatcher.py_func)
    return dispatcher


def inner(function: Any, **options: Any) -> Any:
    """Let other kernels call `function`, which is compiled into them, once for all numbers of one type.

    It has no wrappers and no cache entry of its own, and Python sees the plain function.
    """
    return register_jitable(**INNER, **options)(function)


def bare_jit(function: Any) -> Any:
    """Do as `jit`, for a kernel that makes no array: references to its arguments' arrays are not counted.

    Counting takes atomic additions, and a wide NamedTuple makes many of them.
    """
    return jit(function, _nrt=False)


def bare_inner(function: Any) -> Any:
    """Do as `inner`, for a function that neither makes nor returns an array."""
    return inner(function, _nrt=False)


def inline_always(function: Any) -> Any:
    """Paste `function` into its callers before they are compiled, so that constant arguments are constants inside."""
    return numba.njit(inline="always", **OPTIONS)(function)
