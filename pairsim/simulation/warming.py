"""Filling the kernel cache: every decoder on every oracle, by every road."""

from __future__ import annotations

from collections.abc import Callable

from pairsim.decoders import REGISTRY, MaxWin
from pairsim.errors import ParameterError
from pairsim.kernels.jit import cache_directory
from pairsim.kernels.warm import watch_compiler
from pairsim.oracles import Matrix, Oracle, Ranked, Recorded, Similarity, Uniform
from pairsim.simulation.run import simulate

__all__ = ["cache_directory", "warm_kernels"]


def warm_kernels(progress: Callable[[float, str], None]) -> tuple[int, float]:
    """Run every combination on two dozen trials; return the number of kernels compiled and the seconds it took."""
    watch = watch_compiler()
    uniform = Uniform(20, 0.8)
    oracles: list[Oracle] = [
        uniform,
        Similarity.profile("zipf:1.0", 20),
        Matrix(uniform.matrix()),
        Ranked(20, 0.8),
        Recorded.of(uniform, 24),
    ]
    decoders = [cls() for cls in REGISTRY.values()]
    for oracle in oracles:
        for decoder in decoders:
            for method in ("auto", "simulated"):
                try:
                    simulate(oracle, [MaxWin("lose"), decoder], 24, method=method, threads=1)
                except ParameterError:
                    continue
            progress(1.0 / (len(oracles) * len(decoders)), f"{decoder.name} on {oracle.name}")
    return watch.kernels, watch.seconds
