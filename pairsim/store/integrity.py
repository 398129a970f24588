"""From rows to records, and the walk over all rows that every opening makes."""

from __future__ import annotations

import json
import sqlite3
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

from pairsim.store.arrays import claimed, claimed_bytes
from pairsim.store.checksums import Row, check_seal, place_of
from pairsim.store.errors import damaged
from pairsim.store.records import BlockRecord, PairRecord, Request, Run, TaskRecord, task_id
from pairsim.store.schema import (
    ARRAYS,
    ARRAYS_LIMIT,
    BLOCKS,
    CONTENT,
    ORACLES,
    PAIRS,
    REQUESTS,
    RUNS,
    TALLY,
    TASKS,
    TEXT_LIMIT,
    Table,
)


def is_json(text: str) -> bool:
    """Tell whether the text is JSON, of a length that a store accepts.

    Examples
    --------
    >>> is_json('{"trials":1000}'), is_json("{trials}")
    (True, False)
    """
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return len(text) <= TEXT_LIMIT


def to_data(values: tuple[float, ...]) -> bytes:
    """Return numbers as little-endian 64-bit floats."""
    return struct.pack(f"<{len(values)}d", *values)


def to_values(data: bytes) -> tuple[float, ...]:
    """Return the numbers of a blob whose length is a multiple of eight."""
    return struct.unpack(f"<{len(data) // 8}d", data)


def to_block(row: Row) -> BlockRecord:
    """Read a row of `blocks`."""
    task, block, trials, data, _ = row
    return BlockRecord(task, block, trials, to_values(data))


def to_pair(row: Row) -> PairRecord:
    """Read a row of `pairs`."""
    first, second, block, trials, data, _ = row
    return PairRecord(first, second, block, trials, to_values(data))


def to_task(row: Row) -> TaskRecord:
    """Read a row of `tasks`."""
    task, _, definition, _ = row
    return TaskRecord(task, definition)


def to_request(row: Row) -> Request:
    """Read a row of `requests`."""
    task, place, reference, settings, _ = row
    return Request(place, task, reference, settings)


def to_run(row: Row) -> Run:
    """Read a row of `runs`."""
    return Run(*row[1:-1])


def _well_measured(block: int, trials: int, data: bytes, _: bytes) -> bool:
    return block >= 0 and trials >= 1 and len(data) % 8 == 0


def _claims_an_array(data: bytes) -> bool:
    try:
        claimed(data)
    except ValueError:
        return False
    return True


# what a row must be besides well summed: a file may have been made by somebody else, with right checksums
_SOUND: dict[Table, Callable[[Row], bool]] = {
    ORACLES: lambda row: is_json(row[2]),
    ARRAYS: lambda row: _claims_an_array(row[2]),
    TASKS: lambda row: row[0] == task_id(row[2]) and is_json(row[2]),
    BLOCKS: lambda row: _well_measured(*row[1:]),
    PAIRS: lambda row: _well_measured(*row[2:]),
    REQUESTS: lambda row: row[1] >= 0 and is_json(row[3]),
    RUNS: lambda row: True,
    TALLY: lambda row: row[1] >= 0 and len(row[2]) == 8,
}


# the columns of a table that refer to rows of another; a request need not have a reference
_REFERENCES: dict[Table, tuple[Table, tuple[int, ...]]] = {
    ARRAYS: (ORACLES, (0,)),
    BLOCKS: (TASKS, (0,)),
    PAIRS: (TASKS, (0, 1)),
    REQUESTS: (TASKS, (0, 2)),
}


def check_row(path: Path, table: Table, row: Row) -> None:
    """Reject the file that a row was read from, unless the row is whole and holds what it should."""
    check_seal(path, table, row)
    if not _SOUND[table](row):
        raise damaged(path, f"{place_of(table, row)} does not hold what it should")


def walk(path: Path, sqlite: sqlite3.Connection) -> Iterator[tuple[Table, Row]]:
    """Give every row, table by table in the order of the keys, each checked; at the end none may have been missing.

    A table that is referred to comes before those that refer to it, and what they refer to must be there.
    """
    tally = {row[0]: row[1:3] for row in _in_order(path, TALLY, sqlite)}
    if set(tally) != {table.name for table in CONTENT}:
        raise damaged(path, "the table 'tally' is not complete")
    known: dict[Table, set[str | None]] = {ORACLES: set(), TASKS: {None}}
    for table in CONTENT:
        entries = mix = inflated = 0
        home, columns = _REFERENCES.get(table, (TASKS, ()))
        for row in _in_order(path, table, sqlite):
            for column in columns:
                if row[column] not in known[home]:
                    raise damaged(path, f"{place_of(table, row)} refers to what the store does not hold")
            if table in known:
                known[table].add(row[0])
            if table is ARRAYS:
                inflated += claimed_bytes(row[2])
                if inflated > ARRAYS_LIMIT:
                    raise damaged(path, f"its arrays claim to have more than {ARRAYS_LIMIT:,} bytes in all")
            entries += 1
            mix ^= int.from_bytes(row[-1])
            yield table, row
        if (entries, mix.to_bytes(8)) != tally[table.name]:
            raise damaged(path, f"table {table.name!r} does not hold the rows that were put there")


def _in_order(path: Path, table: Table, sqlite: sqlite3.Connection) -> Iterator[Row]:
    """Give the rows as they lie in the table, each checked; out of order they would not be found by their keys."""
    before: Row = ()
    for row in sqlite.execute(table.select):
        check_row(path, table, row)
        key = row[: table.keys]
        if not before < key:
            raise damaged(path, f"{place_of(table, row)} is not where it belongs")
        before = key
        yield row
