"""The rows of a sweep: one a (oracle, decoder), always with the same columns in the same order."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

    from pairsim.oracles import Oracle
    from pairsim.stats import Estimate


class Row(NamedTuple):
    """One line of a results table; `p` is nan where the oracle has no single p, agreement where it was not counted."""

    oracle: str
    n: int
    p: float
    decoder: str
    method: str
    trials: int
    success: float
    low: float
    high: float
    queries: float
    distinct: float
    rounds: float
    agreement: float
    agreement_low: float
    agreement_high: float


COLUMNS = list(Row._fields)
TEXT_COLUMNS = ("oracle", "decoder", "method")
WHOLE_COLUMNS = ("n", "trials")
LATER_COLUMNS = ("agreement_low", "agreement_high")  # tables of earlier versions lack them


def make_row(oracle: Oracle, estimate: Estimate) -> Row:
    """Return the row of one estimate."""
    return Row(
        oracle=oracle.label,
        n=oracle.n,
        p=math.nan if oracle.p is None else oracle.p,
        **{name: getattr(estimate, name) for name in COLUMNS[3:]},
    )


def to_frame(rows: list[Row]) -> pd.DataFrame:
    """Return the rows as a DataFrame with the columns of `COLUMNS`."""
    import pandas as pd

    return pd.DataFrame(rows, columns=COLUMNS)


def from_frame(frame: pd.DataFrame) -> list[Row]:
    """Return the rows of a DataFrame with the columns of `COLUMNS`."""
    records: list[dict[Any, Any]] = frame[COLUMNS].to_dict(orient="records")
    return [Row(**record) for record in records]
