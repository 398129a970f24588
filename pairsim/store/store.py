"""The store: results of finished blocks in one SQLite file."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import numpy as np

from pairsim.errors import parameter_error
from pairsim.store import integrity, opening, validation
from pairsim.store.arrays import claimed, unpacked
from pairsim.store.checksums import Row, place_of
from pairsim.store.errors import StoreError, damaged, translated
from pairsim.store.records import BlockRecord, OracleRecord, PairRecord, Request, Run, TaskRecord
from pairsim.store.schema import ARRAYS, BLOCKS, ORACLES, PAIRS, REQUESTS, RUNS, TALLY, TASKS, Table
from pairsim.store.transaction import ConflictError, Transaction

T = TypeVar("T")
Fits = Callable[[str, str, dict[str, tuple[tuple[int, ...], np.dtype[Any]]]], bool]

_PAGE = 4096  # rows read at a time, so that no lock is held while the caller works on them
_writing: list[Path] = []  # of stores that others know


def is_writing() -> bool:
    """Whether this process is in the middle of a transaction: to end it now would leave a journal behind."""
    return bool(_writing)


class Store:
    """Results of finished blocks in one file: never lost, never counted twice, never silently wrong.

    Each call that writes is one durable transaction; other processes may read and write the same file meanwhile.
    Opening checks the whole file, and every row that is read is checked against its checksum.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name, "results.store")
    >>> from pairsim.store import task_id
    >>> task = TaskRecord(task_id("{}"), "{}")
    >>> with Store.create_or_open(path) as store:
    ...     store.add_tasks([task])
    ...     new = store.record([BlockRecord(task.id, 0, 1000, (871.0,)), BlockRecord(task.id, 0, 500, (440.0,))])
    >>> with Store.read(path) as store:
    ...     print(new, store.blocks(task.id)[0].values)
    1 (871.0,)
    >>> folder.cleanup()
    """

    def __init__(self, connection: opening.Connection, *, private: bool = False) -> None:
        self.path = connection.path
        self._private = private  # a draft that nobody else knows
        self._connection: opening.Connection | None = connection
        self._lock = threading.RLock()

    @classmethod
    def create_or_open(cls, path: Path) -> Store:
        """Open a store for writing; a new one is made complete before it gets its name."""
        real = opening.real_path(path)
        if not opening.is_there(real):
            opening.create(real)
        return cls(opening.open_checked(real, "rw"))

    @classmethod
    def read(cls, path: Path) -> Store:
        """Open a store for reading only; neither the file nor its directory need be writable."""
        return cls(opening.open_checked(opening.real_path(path), "ro"))

    def close(self) -> None:
        """Close the file; a second time does nothing."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def add_oracles(self, oracles: Iterable[OracleRecord]) -> None:
        """Add oracles that are not there yet."""
        rows = [validation.oracle_rows(record) for record in oracles]
        with self.writing("add oracles to") as transaction:
            for row, arrays in rows:
                transaction.put_oracle(row, arrays)

    def oracles(self) -> list[str]:
        """Return the digests of all oracles."""
        return [row[0] for row in self.rows(ORACLES)]

    def oracle(self, digest: str, fits: Fits | None = None) -> OracleRecord:
        """Return the oracle of that digest.

        `fits(name, params, shapes)` is asked before any array is made whether arrays of these shapes and dtypes are
        what the oracle must have: a few bytes of a forged file may claim to be gigabytes.
        """
        found = self.rows(ORACLES, "WHERE digest = ?", digest)
        if not found:
            raise parameter_error("Store.oracle", "digest", f"of an oracle in {self.path}", ascii(digest))
        _, name, params, _ = found[0]
        rows = self.rows(ARRAYS, "WHERE oracle = ?", digest)
        claims = {row[1]: self._array(claimed, row)[::2] for row in rows}
        if fits is not None and not fits(name, params, claims):
            raise damaged(self.path, f"the arrays of oracle {digest!a} are not of the sizes that it must have")
        return OracleRecord(digest, name, params, {row[1]: self._array(unpacked, row) for row in rows})

    def _array(self, read: Callable[[bytes], T], row: Row) -> T:
        try:
            return read(row[2])
        except ValueError as error:
            raise damaged(self.path, f"{place_of(ARRAYS, row)} is {error}") from None

    def add_tasks(self, tasks: Iterable[TaskRecord]) -> None:
        """Add tasks that are not there yet, behind the others."""
        rows = [validation.task_row(task) for task in tasks]
        with self.writing("add tasks to") as transaction:
            for task, definition in rows:
                transaction.put_task(task, definition)

    def tasks(self) -> list[TaskRecord]:
        """Return all tasks in order of arrival."""
        return [integrity.to_task(row) for row in self.rows(TASKS, "ORDER BY place")]

    def put_requests(self, requests: Iterable[Request]) -> None:
        """Add requests of tasks in the store, each in place of an earlier one of the same task."""
        rows = [validation.request_row(request) for request in requests]
        with self.writing("add requests to") as transaction:
            for row in rows:
                _check_tasks(transaction, (row[0], row[2]))
                transaction.put_request(row)

    def requests(self) -> list[Request]:
        """Return all requests, ordered by place, then task."""
        return [integrity.to_request(row) for row in self.rows(REQUESTS, "ORDER BY place, task")]

    def record(self, blocks: Iterable[BlockRecord], pairs: Iterable[PairRecord] = ()) -> int:
        """Store results of tasks in the store, all or none; return how many were new.

        A result of more trials of the same block replaces one of fewer, and one of fewer is left out: the longer
        contains the shorter. As many trials with other values raise BlockConflict. What counts as new is what was
        written, longer results among it.
        """
        measured = {
            BLOCKS: [validation.block_row(record) for record in blocks],
            PAIRS: [validation.pair_row(record) for record in pairs],
        }
        new = 0
        with self.writing("record blocks in") as transaction:
            for table, rows in measured.items():
                for row in rows:
                    _check_tasks(transaction, row[: table.keys - 1])
                try:
                    new += transaction.put_all_measured(table, rows)
                except ConflictError as conflict:
                    raise conflict.explained("Store.record", table.name, self.path) from None
        return new

    def blocks(self, task: str) -> dict[int, BlockRecord]:
        """Return the results of a task by block, in order."""
        return {row[1]: integrity.to_block(row) for row in self.rows(BLOCKS, "WHERE task = ? ORDER BY block", task)}

    def pairs(self, first: str, second: str) -> dict[int, PairRecord]:
        """Return the joint results of two tasks by block, in order."""
        rows = self.rows(PAIRS, "WHERE first = ? AND second = ? ORDER BY block", first, second)
        return {row[2]: integrity.to_pair(row) for row in rows}

    def all_blocks(self) -> Iterator[BlockRecord]:
        """Give all blocks, ordered by task and block."""
        return map(integrity.to_block, self.each_row(BLOCKS))

    def all_pairs(self) -> Iterator[PairRecord]:
        """Give all joint results, ordered by tasks and block."""
        return map(integrity.to_pair, self.each_row(PAIRS))

    def count_blocks(self) -> int:
        """Return the number of blocks of all tasks."""
        return int(self.rows(TALLY, "WHERE name = ?", BLOCKS.name)[0][1])

    def add_run(self, run: Run) -> None:
        """Add a run, unless an equal one is there."""
        checked = validation.check_run(run)
        with self.writing("add a run to") as transaction:
            transaction.put_runs([checked])

    def runs(self) -> list[Run]:
        """Return all runs in order of arrival."""
        return [integrity.to_run(row) for row in self.rows(RUNS, "ORDER BY number")]

    @contextmanager
    def writing(self, doing: str) -> Iterator[Transaction]:
        """Give a transaction that is stored for good at the end, or not at all."""
        with self._lock, translated(self.path, doing), self._noted_as_writing():
            sqlite = self._open().sqlite
            sqlite.execute("BEGIN IMMEDIATE")
            try:
                transaction = Transaction(self.path, sqlite)
                yield transaction
                transaction.settle()
                sqlite.execute("COMMIT")
            except BaseException:
                opening.roll_back(sqlite)
                raise

    @contextmanager
    def _noted_as_writing(self) -> Iterator[None]:
        if not self._private:
            _writing.append(self.path)
        try:
            yield
        finally:
            if not self._private:
                _writing.remove(self.path)

    def rows(self, table: Table, clause: str = "", *values: Any) -> list[Row]:
        """Return the rows of a table, each checked, that a fixed SQL `clause` picks."""
        found: list[Row] = []

        def read() -> None:
            found[:] = connection.sqlite.execute(f"{table.select} {clause}", values).fetchall()

        with self._lock, translated(self.path, "read"):
            connection = self._open()
            opening.recovering(connection, read)
            for row in found:
                integrity.check_row(self.path, table, row)
            return found

    def each_row(self, table: Table) -> Iterator[Row]:
        """Give all rows of a table, each checked, in the order of its key."""
        key = ", ".join(table.names[: table.keys])
        clause = f"ORDER BY {key} LIMIT {_PAGE}"
        rows = self.rows(table, clause)
        while rows:
            yield from rows
            after = rows[-1][: table.keys]
            rows = self.rows(table, f"WHERE ({key}) > ({', '.join('?' * table.keys)}) {clause}", *after)

    def _open(self) -> opening.Connection:
        if self._connection is None:
            raise StoreError(f"Could not use {self.path}: it was closed. What was stored before is intact.")
        return self._connection


def _check_tasks(transaction: Transaction, tasks: tuple[str | None, ...]) -> None:
    """Reject a record of a task that the store does not hold."""
    for task in tasks:
        if task is not None and not transaction.knows(task):
            raise parameter_error("Store", "task", f"one that was added to {transaction.path}", ascii(task))
