"""Sweeps: a grid of oracles and decoders, its rows, and the files that hold them."""

from __future__ import annotations

from pairsim.sweeps.run import check_grid, sweep, sweep_rows

__all__ = ["check_grid", "sweep", "sweep_rows"]
