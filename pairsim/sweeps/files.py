"""The results tables of sweeps on disk."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from pairsim.sweeps.rows import COLUMNS, LATER_COLUMNS, TEXT_COLUMNS, WHOLE_COLUMNS, Row
from pairsim.tables import TABLE_SUFFIXES, TableKind

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "SWEEP_TABLE",
    "TABLE_SUFFIXES",
    "check_table_target",
    "csv_text",
    "json_text",
    "read_table",
    "write_table",
]

ROUNDING = 1e-9  # a mean of probabilities may pass 1 by as much as rounding makes it


def is_sound(frame: pd.DataFrame) -> bool:
    """Say whether the numbers are such as a sweep can give: probabilities in [0, 1], finite costs."""
    probabilities = frame[["p", "success", "low", "high", "agreement", *LATER_COLUMNS]]
    always = frame[["success", "low", "high"]]
    costs = frame[["queries", "distinct", "rounds"]]
    return bool(
        (frame["n"] >= 2).all()
        and (frame["trials"] >= 0).all()
        and ((probabilities >= -ROUNDING) & (probabilities <= 1.0 + ROUNDING) | probabilities.isna()).all(axis=None)
        and always.notna().all(axis=None)
        and ((costs >= 0.0) & (costs < math.inf)).all(axis=None)
    )


SWEEP_TABLE = TableKind(tuple(COLUMNS), TEXT_COLUMNS, WHOLE_COLUMNS, is_sound, later=(LATER_COLUMNS,))


def check_table_target(path: Path) -> None:
    """Reject a results file that could not be written."""
    SWEEP_TABLE.check_target(path)


def write_table(rows: list[Row], path: Path) -> None:
    """Write the rows to `path` in the format of its ending."""
    SWEEP_TABLE.write([row._asdict() for row in rows], path)


def csv_text(rows: list[Row]) -> str:
    """Return the rows as csv: shortest numbers that read back exactly, empty where there is no value."""
    return SWEEP_TABLE.csv_text([row._asdict() for row in rows])


def json_text(rows: list[Row]) -> str:
    """Return the rows as a JSON list of objects, null where there is no value."""
    return SWEEP_TABLE.json_text([row._asdict() for row in rows])


def read_table(path: Path) -> pd.DataFrame:
    """Read a results table (csv, json or parquet) that a sweep wrote."""
    return SWEEP_TABLE.read(path)
