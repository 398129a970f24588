"""Sweeps: a grid of oracles and decoders, its rows, and the files that hold them."""

from __future__ import annotations

from pairsim.sweeps.engine_choice import EngineChoice
from pairsim.sweeps.losses import LostBlocksError
from pairsim.sweeps.run import Sweep, sweep
from pairsim.sweeps.sweep_request import SweepRequest, check_grid, make_request

__all__ = ["EngineChoice", "LostBlocksError", "Sweep", "SweepRequest", "check_grid", "make_request", "sweep"]
