"""What the tests of sweeps share: small blocks, rows that compare bit by bit, and a count of what was played."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pairsim import Decoder, Oracle, sweep
from pairsim.kernels.differences import NUMBERS, compare_rows
from pairsim.simulation import BlockSimulator
from pairsim.simulation.paired import PairedTallies
from pairsim.store import Store
from pairsim.sweeps import Sweep, make_request
from pairsim.sweeps.progress import TaskProgress
from pairsim.sweeps.requests import stored_rows
from pairsim.sweeps.rows import Row, from_frame

WHO_KNOWS_BLOCKS = (
    "pairsim.simulation.blocks",
    "pairsim.sweeps.progress",
    "pairsim.sweeps.tasks",
    "pairsim.sweeps.verification",
)


@contextmanager
def small_blocks(size: int) -> Iterator[None]:
    """Cut trials into blocks of that size in this process: many blocks, and ends of blocks, for little work."""
    with pytest.MonkeyPatch.context() as patch:
        for module in WHO_KNOWS_BLOCKS:
            patch.setattr(f"{module}.block_trials", lambda n: size)
        yield


@contextmanager
def counted_runs() -> Iterator[list[tuple[int, int, int]]]:
    """Yield a list that grows by (first trial, trials, decoders) with every call of `BlockSimulator.run`."""
    calls: list[tuple[int, int, int]] = []
    run = BlockSimulator.run

    def counting(simulator: BlockSimulator, first: int, count: int) -> Any:
        calls.append((first, count, len(simulator.decoders)))
        return run(simulator, first, count)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BlockSimulator, "run", counting)
        yield calls


def bits(row: Sequence[Any]) -> tuple[str, ...]:
    """Return what tells rows apart: every digit, and nan like nan."""
    return tuple(value.hex() if isinstance(value, float) and not math.isnan(value) else str(value) for value in row)


def rows_of_frame(frame: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return all columns of all rows, bit by bit."""
    return [bits(row) for row in from_frame(frame)]


def rows_in(path: Path) -> list[tuple[str, ...]]:
    """Return the rows of a store, bit by bit."""
    return [bits(row) for row in plain_rows_in(path)]


def plain_rows_in(path: Path) -> list[Row]:
    with Store.read(path) as store:
        return stored_rows(store)


def swept(oracles: Sequence[Oracle], decoders: Sequence[Decoder], *arguments: Any, **named: Any) -> list[Any]:
    """Return the rows of a sweep, bit by bit; on one thread unless told otherwise."""
    where = {"threads", "workers", "executor", "scheduler"} & set(named)
    return rows_of_frame(sweep(oracles, decoders, *arguments, **({} if where else {"threads": 1}), **named))


def finished_cells(oracles: Sequence[Oracle], decoders: Sequence[Decoder], **named: Any) -> list[TaskProgress]:
    """Run a sweep on one thread and return its cells, which know more than its rows."""
    from pairsim.engines import ThreadEngine

    with ThreadEngine(1) as engine:
        opened = Sweep(make_request(oracles, decoders, **named), engine=engine)
        opened.run()
    return opened.cells()


def put_side_by_side(lost: Sequence[Any]) -> PairedTallies:
    """Return every two decoders side by side: booleans for decoders that were counted, probabilities for the others."""
    rows, counted = np.array(lost, np.float64), np.array([each.dtype == np.bool_ for each in lost])
    numbers = np.empty((len(rows) * (len(rows) - 1) // 2, NUMBERS))
    compare_rows(rows, counted, numbers)
    return PairedTallies(len(rows), rows.shape[1], numbers)
