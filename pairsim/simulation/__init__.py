"""Simulation: decoders on tournaments, by the fastest road that is right."""

from __future__ import annotations

from pairsim.kernels.warm import watch_compiler
from pairsim.simulation.run import check_seed, check_trials, simulate, simulate_together

__all__ = ["check_seed", "check_trials", "simulate", "simulate_together", "watch_compiler"]
