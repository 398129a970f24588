"""The command line. Heavy imports are made inside the commands, so that `pairsim --help` answers at once."""

from __future__ import annotations

from pairsim.cli.main import app, run

__all__ = ["app", "run"]
