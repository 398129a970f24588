"""Sweeps: a grid of oracles and decoders, its rows, and the files that hold them."""

from __future__ import annotations

from pairsim.sweeps.run import check_grid, engine_for, make_order, open_campaign, rows_of, sweep

__all__ = ["check_grid", "engine_for", "make_order", "open_campaign", "rows_of", "sweep"]
