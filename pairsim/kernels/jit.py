"""How kernels are compiled, and where their machine code is kept between runs.

numba's own file cache looks only at the file that holds a function, so an edited callee in another file is not
noticed. Here the cache directory is named by a hash of every source file that holds or uses kernels and of the
compiler's versions: an edit to any of them means an empty directory, so a stale kernel cannot be served. (The name and
features of the CPU are part of each entry's name.)
"""

from __future__ import annotations

from typing import Any

import numba
from numba.extending import register_jitable

from pairsim.kernels.cache_directory import cache_directory
from pairsim.kernels.kernel_cache import KernelCache, can_be_cached
from pairsim.kernels.sources import source_digest

__all__ = [
    "BARE_INNER",
    "INNER",
    "OPTIONS",
    "bare_inner",
    "bare_jit",
    "cache_directory",
    "inline_always",
    "inner",
    "jit",
    "source_digest",
]

OPTIONS: Any = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}  # none is called from C
INNER: Any = {"no_cpython_wrapper": True, "_nrt": True, **OPTIONS}  # nor are these from Python
BARE_INNER: Any = {**INNER, "_nrt": False}  # nor do these make or return an array (what they call may, if it says so)


def jit(function: Any, **options: Any) -> Any:
    """Compile `function` without the GIL and with IEEE arithmetic; cache it where a cache can be had.

    For kernels that Python calls. Each has a wrapper that unpacks its arguments, which takes as long to compile as a
    small kernel itself: what only other kernels call is `inner`.
    """
    dispatcher: Any = numba.njit(**OPTIONS, **options)(function)
    if hasattr(dispatcher, "enable_caching") and can_be_cached(function):
        cache_directory()  # chosen before any worker starts, so that workers need not repeat what is said about it
        dispatcher._cache = KernelCache(function, OPTIONS | options)
    return dispatcher


def inner(function: Any, **options: Any) -> Any:
    """Let other kernels call `function`, which is compiled into them, once for all numbers of one type.

    It has no wrappers and no cache entry of its own, and Python sees the plain function.
    """
    return register_jitable(**{**INNER, **options})(function)


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
