"""Filling the kernel cache, every decoder on every oracle by every method, and emptying it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from pairsim.decoders import REGISTRY, MaxWin
from pairsim.errors import ParameterError
from pairsim.kernels.cache_clearing import Cleared, clear_caches
from pairsim.kernels.cache_directory import cache_directory
from pairsim.kernels.compile_watch import watch_compiler
from pairsim.kernels.kernel_cache import unsaved
from pairsim.oracles import REGISTRY as ORACLES
from pairsim.simulation.run import simulate

__all__ = ["Cleared", "clear_caches", "warm_kernels", "writable_cache"]


def writable_cache() -> Path | None:
    """Return the directory of the kernel cache, or None when kernels cannot be kept."""
    path = cache_directory()
    return path if path is not None and os.access(path, os.W_OK | os.X_OK) else None


def warm_kernels(progress: Callable[[float, str], None]) -> tuple[int, float]:
    """Run every combination on two dozen trials; return the number of kernels compiled and the seconds it took.

    Raises the OSError that kept a kernel from being written.
    """
    watch = watch_compiler()
    oracles = [cls.example(20) for cls in ORACLES.values()]
    decoders = [cls() for cls in REGISTRY.values()]
    for oracle in oracles:
        for decoder in decoders:
            for method in ("auto", "simulated"):
                try:
                    simulate(oracle, [MaxWin("lose"), decoder], 24, method=method, threads=1)
                except ParameterError:
                    continue
            progress(1.0 / (len(oracles) * len(decoders)), f"{decoder.name} on {oracle.name}")
    if unsaved:
        raise unsaved[0]
    return watch.kernels, watch.seconds
