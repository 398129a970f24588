"""The writes of one transaction, and the rule by which results of the same block meet."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Sequence
from enum import Enum, auto
from pathlib import Path
from typing import Any

import numpy as np

from pairsim.errors import parameter_error
from pairsim.store.arrays import claimed, claimed_bytes, unpacked
from pairsim.store.checksums import Row, sealed
from pairsim.store.errors import BlockConflict, damaged, one_line
from pairsim.store.integrity import check_row, to_request, to_run, to_values
from pairsim.store.records import Request, Run, task_kind
from pairsim.store.schema import ARRAYS, ARRAYS_LIMIT, ORACLES, REQUESTS, RUNS, TALLY, TASKS, Table

TOGETHER = 64  # rows in one statement: far below the number of values that any SQLite takes


class ConflictError(Exception):
    """Other values than the stored ones, for the same trials: raised inside, for the caller to say which files."""

    def __init__(self, table: Table, row: Row) -> None:
        super().__init__(table.name)
        self.table, self.row = table, row

    def explained(self, owner: str, name: str, holder: Path, other: Path | None = None) -> BlockConflict:
        """Return the public error: `holder` has other values than the caller, or than the file `other`."""
        *tasks, block, trials, data, _ = self.row
        which = f"block {block} of task {' and task '.join(tasks)} ({trials} trials)"
        must_be = f"in agreement with {one_line(holder)}, which holds other values of {which}"
        return BlockConflict(str(parameter_error(owner, name, must_be, other or to_values(data))))


class Meeting(Enum):
    """What a result met in the store: nothing, fewer trials of the same block, or at least as many."""

    NEW = auto()
    LONGER = auto()
    KNOWN = auto()


class Transaction:
    """What is written between BEGIN and COMMIT; `settle` brings the tally up to date."""

    def __init__(self, path: Path, sqlite: sqlite3.Connection) -> None:
        self.path = path
        self._sqlite = sqlite
        self._tally: dict[str, list[int]] = {}
        self._known_tasks: set[str] = set()
        self._kind: str | None = None

    def find(self, table: Table, *key: Any) -> Row | None:
        """Return the stored row of that key, with its checksum, or None."""
        row: Row | None = self._sqlite.execute(table.find, key).fetchone()
        if row is not None:
            check_row(self.path, table, row)
        return row

    def put(self, table: Table, row: Row, replaced: Row | None = None) -> None:
        """Write a sealed row, new or in place of the one that `find` gave."""
        self._sqlite.execute(table.insert, row)
        self._count(table, row, replaced)

    def _count(self, table: Table, row: Row, replaced: Row | None) -> None:
        """Bring the tally up to date with a row that is written."""
        tally = self._of(table)
        tally[0] += replaced is None
        tally[1] ^= int.from_bytes(row[-1])
        if replaced is not None:
            tally[1] ^= int.from_bytes(replaced[-1])

    def settle(self) -> None:
        """Write the tally of the tables that were touched."""
        for name, (entries, mix) in self._tally.items():
            self._sqlite.execute(TALLY.insert, sealed(TALLY, (name, entries, mix.to_bytes(8))))

    def knows(self, task: str) -> bool:
        """Tell whether the store holds the task."""
        if task not in self._known_tasks and self.find(TASKS, task) is not None:
            self._known_tasks.add(task)
        return task in self._known_tasks

    def put_task(self, task: str, definition: str) -> None:
        """Add a task behind the others, unless it is there."""
        if not self.knows(task):
            self._check_kind(task_kind(definition))
            self.put(TASKS, sealed(TASKS, (task, self._of(TASKS)[0], definition)))

    def _check_kind(self, kind: str) -> None:
        """Reject a task of another kind than those in the store: no table could show both."""
        if self._kind is None:
            first: Row | None = self._sqlite.execute(f"{TASKS.select} LIMIT 1").fetchone()
            if first is not None:
                check_row(self.path, TASKS, first)
            self._kind = kind if first is None else task_kind(first[2])
        if kind != self._kind:
            raise parameter_error(
                "Store", "tasks", f"of one kind in a store, which has results of kind {self._kind!r}", kind
            )

    def put_measured(self, table: Table, row: Row) -> Meeting:
        """Write a result of the first trials of a block; more trials replace fewer, equally many must be equal.

        A result of more trials contains the one of fewer, so that the longest is all that need be kept.
        """
        stored: Row | None = self._sqlite.execute(table.find, row[: table.keys]).fetchone()
        meeting = self._meet(table, row, stored)
        if meeting is not Meeting.KNOWN:
            self.put(table, row, stored)
        return meeting

    def put_all_measured(self, table: Table, rows: Sequence[Row]) -> int:
        """Do as `put_measured` for many rows, some in one statement; return how many were written.

        Between statements other threads have their turn, and thousands of waits for it cost more than the work.
        """
        written = 0
        for first in range(0, len(rows), TOGETHER):
            some = rows[first : first + TOGETHER]
            keys = [value for row in some for value in row[: table.keys]]
            found = self._sqlite.execute(table.find_all(len(some)), keys).fetchall()
            stored: dict[Row, Row] = {row[: table.keys]: row for row in found}
            fresh: dict[Row, Row] = {}
            for row in some:
                key = row[: table.keys]
                if self._meet(table, row, stored.get(key)) is not Meeting.KNOWN:
                    self._count(table, row, stored.get(key))
                    stored[key] = fresh[key] = row
                    written += 1
            if fresh:
                values = [value for row in fresh.values() for value in row]
                self._sqlite.execute(table.insert_all(len(fresh)), values)
        return written

    def _meet(self, table: Table, row: Row, stored: Row | None) -> Meeting:
        """Return what a result meets in the stored row of its block, or reject it."""
        if stored is None:
            return Meeting.NEW
        if stored == row:
            return Meeting.KNOWN
        check_row(self.path, table, stored)
        trials, stored_trials = row[table.keys], stored[table.keys]
        if trials == stored_trials:
            raise ConflictError(table, row)
        return Meeting.KNOWN if trials < stored_trials else Meeting.LONGER

    def put_request(self, row: Row) -> None:
        """Write a request, in place of one of the same task."""
        stored = self.find(REQUESTS, row[0])
        if stored != row:
            self.put(REQUESTS, row, stored)

    def request(self, task: str) -> Request | None:
        """Return the stored request of a task."""
        stored = self.find(REQUESTS, task)
        return None if stored is None else to_request(stored)

    def put_runs(self, runs: Iterable[Run]) -> None:
        """Add runs behind the others; one that is there already is not added again."""
        known = {to_run(row) for row in self._sqlite.execute(RUNS.select).fetchall()}
        for run in runs:
            if run not in known:
                known.add(run)
                self.put(RUNS, sealed(RUNS, (self._of(RUNS)[0], *run)))

    def put_oracle(self, oracle: Row, arrays: list[Row]) -> None:
        """Write an oracle and its arrays, unless they are there; another oracle of the same digest is rejected."""
        stored = self.find(ORACLES, oracle[0])
        if stored is None:
            self._check_room(arrays)
            self.put(ORACLES, oracle)
            for row in arrays:
                self.put(ARRAYS, row)
            return
        held = [self.find(ARRAYS, *row[: ARRAYS.keys]) for row in arrays]
        count = "SELECT count(*) FROM arrays WHERE oracle = ?"
        (stored_arrays,) = self._sqlite.execute(count, oracle[:1]).fetchone()
        same = stored == oracle and stored_arrays == len(arrays)
        if not same or not all(row and _same_array(row[2], new[2]) for row, new in zip(held, arrays, strict=True)):
            raise parameter_error("Store", "oracles", "one and the same wherever the digest is the same", oracle[0])

    def _check_room(self, arrays: list[Row]) -> None:
        """Reject arrays with which the store would have more of them than a store is opened with."""
        if not arrays:
            return
        held = self._sqlite.execute("SELECT data FROM arrays")
        total = sum(claimed_bytes(data) for (data,) in held) + sum(claimed_bytes(row[2]) for row in arrays)
        if total > ARRAYS_LIMIT:
            must_be = f"of at most {ARRAYS_LIMIT:,} bytes in all, so that every reader has the memory"
            raise parameter_error("Store", "arrays", must_be, f"{total:,} bytes")

    def _of(self, table: Table) -> list[int]:
        """Return number and mix of the rows of a table, as they are by now."""
        if table.name not in self._tally:
            row = self.find(TALLY, table.name)
            if row is None:
                raise damaged(self.path, "the table 'tally' is not complete")
            self._tally[table.name] = [row[1], int.from_bytes(row[2])]
        return self._tally[table.name]


def _same_array(one: bytes, other: bytes) -> bool:
    """Tell whether two packed arrays are the same, even when packed by different versions of the packer."""
    if one == other:
        return True
    try:
        return claimed(one)[::2] == claimed(other)[::2] and _content(one) == _content(other)
    except ValueError:
        return False


def _content(data: bytes) -> bytes:
    """Return a hash of the numbers of a packed array, so that no two large arrays are held at a time."""
    return hashlib.blake2b(np.ascontiguousarray(unpacked(data)).data).digest()
