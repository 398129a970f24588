"""Tables of measured errors beside their goals: printed, and kept as CSV files in experiments/results.

The column `goal` is what we wanted before the run, `paper` what the paper prints (`source` says where); both are empty
where there is none. `low` and `high` are the 95% interval of `ErrorRow.interval`, `versions` what the row was measured
with (empty in rows older than the column).
"""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from experiments.frame import versions
from pairsim.stats import binomial_interval

FOLDER = Path(__file__).resolve().parent / "results"  # `--results` of a script puts another one here
NUMBERS = ("sd", "rows", "low", "high", "goal", "paper")  # that may be missing


@dataclasses.dataclass(frozen=True)
class ErrorRow:
    """One error in percent, with the goal, the paper's figure and what was run; nan is what there is not.

    `runs` divisions into folds gave the mean and the standard deviation; in each, `rows` rows were tested.
    """

    set: str
    method: str
    error: float
    sd: float
    goal: float
    paper: float
    protocol: str
    seconds: float
    runs: int = 1
    rows: float = math.nan
    source: str = ""

    @property
    def met(self) -> bool | str:
        """Whether the error is no higher than the goal; nothing where there is no goal."""
        return "" if math.isnan(self.goal) else self.error <= self.goal

    @property
    def interval(self) -> tuple[float, float]:
        """Where one more run of the same protocol would fall, or an interval for other rows where there is one run.

        Several runs: Student's interval for one more division of the same rows into folds, at least one row to each
        side. That is what a printed figure of the same protocol is. One run: the exact binomial interval over the rows,
        as if they were independent (in cross-validation they nearly are).
        """
        return error_interval(self.error, self.sd, self.runs, self.rows)


def spread(errors: ArrayLike) -> float:
    """Return the standard deviation over runs; nan where there is one only."""
    errors = np.asarray(errors, dtype=np.float64)
    return float(errors.std(ddof=1)) if len(errors) > 1 else math.nan


def error_interval(error: float, sd: float, runs: int, rows: float) -> tuple[float, float]:
    """Return the interval of `ErrorRow`, in percent; nan where nothing is known to compute it from.

    Examples
    --------
    >>> [round(limit, 2) for limit in error_interval(5.0, 0.5, 3, 200)]
    [2.52, 7.48]
    >>> [round(limit, 2) for limit in error_interval(5.0, math.nan, 1, 200)]
    [2.42, 9.0]
    """
    if runs > 1 and not math.isnan(sd):
        from scipy.stats import t

        half = float(t.ppf(0.975, runs - 1)) * sd * math.sqrt(1.0 + 1.0 / runs)
        half = max(half, 0.0 if math.isnan(rows) else 100.0 / rows)
        return error - half, error + half
    if math.isnan(rows) or not 0.0 <= error <= 100.0:
        return math.nan, math.nan
    low, high = binomial_interval(round(error * rows / 100.0), int(rows))
    return 100.0 * low, 100.0 * high


def as_frame(row: ErrorRow) -> pd.DataFrame:
    """Return the row as a table of one line, with what follows from it."""
    low, high = row.interval
    more = {"low": low, "high": high, "met": row.met, "versions": versions()}
    return pd.DataFrame([dataclasses.asdict(row) | more]).round(2)


def read_table(path: Path) -> pd.DataFrame:
    """Read a table of errors."""
    return pd.read_csv(path, keep_default_na=False, na_values=dict.fromkeys(NUMBERS, ""))


def has(name: str, set_name: str, method: str, protocol: str) -> bool:
    """Say whether the table of this name has the run already."""
    path = FOLDER / f"{name}.csv"
    if not path.exists():
        return False
    table = read_table(path)
    wanted = (table["set"] == set_name) & (table["method"] == method) & (table["protocol"] == protocol)
    return bool(wanted.any())


def record(name: str, row: ErrorRow, folder: Path | None = None) -> None:
    """Print the row and put it into the CSV file of this name, in place of an older one of the same run.

    Rows of one set and method with different protocols stand side by side.
    """
    path = (folder or FOLDER) / f"{name}.csv"
    new = as_frame(row)
    print(new.to_string(index=False, header=False), flush=True)
    if path.exists():
        old = read_table(path)
        keys = ["set", "method", "protocol"]
        old = old[(old[keys] != new[keys].iloc[0]).any(axis=1)]
        new = pd.concat([old, new], ignore_index=True) if len(old) else new
    path.parent.mkdir(parents=True, exist_ok=True)
    new.sort_values(["set", "method", "protocol"]).to_csv(path, index=False, lineterminator="\n")
