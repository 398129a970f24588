"""Sweeps: a grid of oracles and decoders, its rows, and the files that hold them."""

from __future__ import annotations

from pairsim.sweeps.losses import LostBlocksError
from pairsim.sweeps.run import check_engine, check_grid, engine_for, make_request, rows_of, schedule_sweep, sweep

__all__ = [
    "LostBlocksError",
    "check_engine",
    "check_grid",
    "engine_for",
    "make_request",
    "rows_of",
    "schedule_sweep",
    "sweep",
]
