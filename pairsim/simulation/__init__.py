"""Simulation: decoders on tournaments, by the fastest correct method."""

from __future__ import annotations

from pairsim.kernels.compile_watch import watch_compiler
from pairsim.kernels.stream import STREAM_VERSION
from pairsim.simulation.blocks import block_trials
from pairsim.simulation.clear_cut import Separation, ShareAbove, separation
from pairsim.simulation.run import check_seed, check_threads, check_trials, make_simulator, simulate, simulate_together
from pairsim.simulation.simulator import BlockSimulator

__all__ = [
    "STREAM_VERSION",
    "BlockSimulator",
    "Separation",
    "ShareAbove",
    "block_trials",
    "check_seed",
    "check_threads",
    "check_trials",
    "make_simulator",
    "separation",
    "simulate",
    "simulate_together",
    "watch_compiler",
]
