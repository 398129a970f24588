"""Stores for tests: what goes in, and everything that can be read out again, bit by bit."""

from __future__ import annotations

import itertools
import os
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from pairsim.errors import ParameterError
from pairsim.store import BlockRecord, OracleRecord, PairRecord, Request, Run, Store, StoreError, TaskRecord, task_id

REFUSED = "rejected"
fresh_numbers = itertools.count()
TASKS = [TaskRecord(task_id(text), text) for text in (f'{{"task":{number}}}' for number in range(4))]
IDS = [task.id for task in TASKS]


@contextmanager
def quick_folder() -> Iterator[Path]:
    """Give a folder in memory where there is such a thing, so that thousands of small files wait for no disk."""
    memory = "/dev/shm"
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        yield Path(folder).resolve()


def values_of(task: str, block: int, trials: int) -> tuple[float, ...]:
    """Numbers that depend on everything, as results of a block do; some are not numbers."""
    seed = [int(task, 16), block, trials]
    return (*np.random.default_rng(seed).random(3).tolist(), float("nan"), -0.0, float(trials))


def block_of(task: str, block: int, trials: int) -> BlockRecord:
    return BlockRecord(task, block, trials, values_of(task, block, trials))


def pair_of(first: str, second: str, block: int, trials: int) -> PairRecord:
    return PairRecord(first, second, block, trials, values_of(first, block, trials))


def make_store(path: Path, blocks: int = 50) -> Path:
    """Make a store with something in every table."""
    with Store.create_or_open(path) as store:
        store.add_oracles(
            [
                OracleRecord(
                    "c0de", "matrix", '{"n":3}', {"P": np.arange(9.0).reshape(3, 3), "bits": np.eye(2, dtype="?")}
                ),
                OracleRecord("beef", "uniform", '{"n":4,"p":0.9}', {}),
            ]
        )
        store.add_tasks(TASKS)
        store.put_requests([Request(1, IDS[0], IDS[1], '{"trials":100}'), Request(0, IDS[1], None, "{}")])
        store.record(
            [block_of(IDS[block % 4], block, 100 + block) for block in range(blocks)],
            [pair_of(IDS[0], IDS[1], block, 100) for block in range(5)],
        )
        store.add_run(Run("2030-01-01T00:00:00Z", "pairsim sweep", "{}", "a machine"))
    return path


def _bits(values: tuple[float, ...]) -> bytes:
    return struct.pack(f"<{len(values)}d", *values)


def content(path: Path, *, write: bool = False) -> dict[str, Any]:
    """Read all that a store holds, by every way to read it."""
    with Store.create_or_open(path) if write else Store.read(path) as store:
        return {
            "tasks": store.tasks(),
            "requests": store.requests(),
            "runs": store.runs(),
            "count": store.count_blocks(),
            "all blocks": [(*block[:3], _bits(block.values)) for block in store.all_blocks()],
            "all pairs": [(*pair[:4], _bits(pair.values)) for pair in store.all_pairs()],
            "blocks": {
                task: {key: (*block[:3], _bits(block.values)) for key, block in store.blocks(task).items()}
                for task in IDS
            },
            "pairs": {key: (*pair[:4], _bits(pair.values)) for key, pair in store.pairs(IDS[0], IDS[1]).items()},
            "oracles": [
                (*record[:3], {name: (a.dtype.str, a.shape, a.tobytes()) for name, a in record.arrays.items()})
                for record in map(store.oracle, store.oracles())
            ],
        }


def measured(path: Path) -> tuple[list[Any], list[Any]]:
    """Read the blocks and pairs of a store."""
    held = content(path)
    return held["all blocks"], held["all pairs"]


def new_store(tmp_path: Path, keys: list[tuple[str, int, int]] = [], name: str = "") -> Path:  # noqa: B006 (only read)
    path = tmp_path / (name or f"{next(fresh_numbers)}.store")
    with Store.create_or_open(path) as opened:
        opened.add_tasks(TASKS)
        opened.record([block_of(*key) for key in keys], [pair_of(IDS[0], IDS[1], *key[1:]) for key in keys])
    return path


def longest(keys: list[tuple[str, int, int]]) -> dict[tuple[str, int], int]:
    """The naive twin of the prefix rule."""
    found: dict[tuple[str, int], int] = {}
    for task, block, trials in keys:
        found[task, block] = max(trials, found.get((task, block), 0))
    return found


def is_one_line_about(path: Path, text: str) -> bool:
    return "\n" not in text and len(text) < 600 and path.name in text


def outcome(path: Path, *, write: bool = False) -> Any:
    """Read everything, or tell that the file was rejected: in one line, and without a change to it."""
    data, before = path.read_bytes(), path.stat()
    try:
        return content(path, write=write)
    except (ParameterError, StoreError) as error:
        message = str(error)
    assert is_one_line_about(path, message)
    assert path.read_bytes() == data
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert os.listdir(path.parent) == [path.name]
    return REFUSED
