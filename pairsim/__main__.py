"""`python -m pairsim`: the same program as the command `pairsim`."""

from __future__ import annotations

from pairsim.cli import run

if __name__ == "__main__":  # worker processes import this file under another name
    run()
