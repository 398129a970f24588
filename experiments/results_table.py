"""Tables of measured errors beside their goals: printed, and kept as CSV files in experiments/results."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import pandas as pd

FOLDER = Path(__file__).resolve().parent / "results"


@dataclasses.dataclass(frozen=True)
class ErrorRow:
    """One error in percent, with the goal, the paper's figure and what was run; nan is what there is not."""

    set: str
    method: str
    error: float
    sd: float
    goal: float
    paper: float
    protocol: str
    seconds: float

    @property
    def met(self) -> bool | str:
        """Whether the error is no higher than the goal; nothing where there is no goal."""
        return "" if math.isnan(self.goal) else self.error <= self.goal


def record(name: str, row: ErrorRow) -> None:
    """Print the row and put it into the CSV file of this name, in place of an older one of the same run.

    Rows of one set and method with different protocols stand side by side.
    """
    path = FOLDER / f"{name}.csv"
    new = pd.DataFrame([dataclasses.asdict(row) | {"met": row.met}]).round(2)
    print(new.to_string(index=False, header=False), flush=True)
    if path.exists():
        old = pd.read_csv(path, keep_default_na=False, na_values={"sd": "", "goal": "", "paper": ""})
        keys = ["set", "method", "protocol"]
        old = old[(old[keys] != new[keys].iloc[0]).any(axis=1)]
        new = pd.concat([old, new], ignore_index=True) if len(old) else new
    FOLDER.mkdir(exist_ok=True)
    new.sort_values(["set", "method", "protocol"]).to_csv(path, index=False)
