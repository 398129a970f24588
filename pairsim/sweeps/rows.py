"""The rows of a sweep: one a (oracle, decoder), always with the same columns in the same order."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

    from pairsim.oracles import Oracle
    from pairsim.stats import Estimate


class Row(NamedTuple):
    """One line of a results table; `p` is nan where the oracle has no single p."""

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


COLUMNS = list(Row._fields)
TEXT_COLUMNS = ("oracle", "decoder", "method")
WHOLE_COLUMNS = ("n", "trials")


def printable(text: str) -> str:
    r"""Return the text on one line, without what would do something to a terminal: names of files may hold anything.

    Examples
    --------
    >>> printable("matrix:two\nlines\x1b[31m.csv")
    'matrix:two?lines?[31m.csv'
    """
    return "".join(letter if letter.isprintable() else "?" for letter in text)


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
