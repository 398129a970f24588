"""Simulation: decoders on tournaments, by the fastest road that is right."""

from __future__ import annotations

from pairsim.kernels.stream import STREAM_VERSION
from pairsim.kernels.warm import watch_compiler
from pairsim.simulation.bench import Bench
from pairsim.simulation.blocks import block_trials
from pairsim.simulation.run import check_seed, check_threads, check_trials, make_bench, simulate, simulate_together

__all__ = [
    "STREAM_VERSION",
    "Bench",
    "block_trials",
    "check_seed",
    "check_threads",
    "check_trials",
    "make_bench",
    "simulate",
    "simulate_together",
    "watch_compiler",
]
