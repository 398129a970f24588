"""Blocks that failed in every attempt: what a sweep raises instead of returning less than it was asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pairsim.sweeps.progress import TaskProgress

if TYPE_CHECKING:
    import pandas as pd

MOST_SHOWN = 300  # letters of a reason; compilers write pages


class LostBlocksError(RuntimeError):
    """Some blocks of a sweep failed in every attempt.

    Attributes
    ----------
    rows : pandas.DataFrame
        What all other blocks give: tasks that lost blocks have fewer trials, or no row.
    """

    def __init__(self, message: str, rows: pd.DataFrame | None = None) -> None:
        super().__init__(message)
        self.rows = rows


def raise_if_blocks_were_lost(cells: Sequence[TaskProgress], rows: pd.DataFrame, *, stored: bool) -> None:
    """Raise `LostBlocksError` with how many blocks failed, of which decoders, and why the first one did."""
    lost = [(cell, block) for cell in cells for block in sorted(cell.lost)]
    if not lost:
        return
    counts = Counter(cell.task.decoder.spec for cell, _ in lost)
    shares = ", ".join(f"{spec}: {count}" for spec, count in counts.items())
    cell, block = lost[0]
    reason = " ".join(cell.lost[block].split())
    reason = reason if len(reason) <= MOST_SHOWN else reason[: MOST_SHOWN - 3] + "..."
    kept = "; all others are stored" if stored else ""
    raise LostBlocksError(
        f"{len(lost)} block{'s' if len(lost) > 1 else ''} failed ({shares}){kept}. "
        f"The first, block {block} of {cell.task.decoder.spec} at n = {cell.task.oracle.n}: {reason}",
        rows,
    )
