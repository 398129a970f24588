"""Where the tests look for real data sets: the folder that PAIRSIM_DATA names, else one beside the project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

BESIDE = Path(__file__).resolve().parent.parent.parent / "shared" / "data"


def use_folder(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the folder of real data sets the one that `load` looks in; skip the test where there is none."""
    folder = Path(os.environ.get("PAIRSIM_DATA") or BESIDE)
    if not (folder / "letter-train.csv.gz").is_file():
        pytest.skip("no folder of real data sets")
    monkeypatch.setenv("PAIRSIM_DATA", str(folder))
    return folder
