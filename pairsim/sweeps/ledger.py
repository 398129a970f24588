"""The ledger of a sweep: which blocks are done and what they gave, in memory and, where there is one, in the store."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from pairsim.errors import refusal
from pairsim.simulation.tally import (
    Tally,
    Versus,
    numbers_of_tally,
    numbers_of_versus,
    swapped,
    tally_of_numbers,
    versus_of_numbers,
)
from pairsim.store import BlockRecord, PairRecord, Store

T = TypeVar("T")

SECONDS_BETWEEN_WRITES = 0.5  # the most work that a kill can cost, beside the blocks that were not finished


def versus_key(task: str, other: str) -> tuple[str, str]:
    """Return the order in which a store has two tasks side by side."""
    return (task, other) if task < other else (other, task)


def agreement_key(task: str, other: str) -> tuple[str, str]:
    """Return the order in which a store has the agreements of two tasks: the other way round, so both find room."""
    return (other, task) if task < other else (task, other)


class Ledger:
    """Block results by (task, block, trials); what is put is in the store within half a second."""

    def __init__(self, store: Store | None) -> None:
        self.store = store
        self._tallies: dict[tuple[str, int, int], Tally] = {}
        self._agreements: dict[tuple[str, str, int, int], float] = {}
        self._new_blocks: list[BlockRecord] = []
        self._new_pairs: list[PairRecord] = []
        self._written = time.monotonic()
        self.found = 0

    def load(self, tasks: Iterable[tuple[str, str | None]]) -> None:
        """Read the blocks of (task, reference) that the store has."""
        if self.store is None:
            return
        for task, reference in tasks:
            for record in self.store.blocks(task).values():
                key = (task, record.block, record.trials)
                self.found += key not in self._tallies
                self._tallies[key] = _checked(tally_of_numbers, record, 0.0)
            if reference is not None:
                for pair in self.store.pairs(*agreement_key(task, reference)).values():
                    self._agreements[task, reference, pair.block, pair.trials] = _only(pair)

    def tally(self, task: str, block: int, trials: int) -> Tally | None:
        """Return the result of the first `trials` trials of a block, without agreements; None when it is not there."""
        return self._tallies.get((task, block, trials))

    def agreement(self, task: str, reference: str, block: int, trials: int) -> float | None:
        """Return in how many of those trials the task named the class that the reference named."""
        return self._agreements.get((task, reference, block, trials))

    def put(self, task: str, block: int, tally: Tally, reference: str | None) -> None:
        """Enter the result of a block."""
        self._tallies[task, block, tally.trials] = tally
        if self.store is not None:
            self._new_blocks.append(BlockRecord(task, block, tally.trials, numbers_of_tally(tally)))
        if reference is not None:
            self._agreements[task, reference, block, tally.trials] = tally.agreements
            if self.store is not None:
                values = (tally.agreements,)
                self._new_pairs.append(PairRecord(*agreement_key(task, reference), block, tally.trials, values))

    def put_versus(self, first: str, second: str, block: int, versus: Versus) -> None:
        """Enter two tasks side by side."""
        if self.store is not None:
            ordered = versus if first < second else swapped(versus)
            numbers = numbers_of_versus(ordered)
            self._new_pairs.append(PairRecord(*versus_key(first, second), block, versus.trials, numbers))

    def write(self, *, now: bool = False) -> None:
        """Put new results in the store, in one durable step, when it is time."""
        if self.store is None or not self._new_blocks:
            return
        if now or time.monotonic() - self._written >= SECONDS_BETWEEN_WRITES:
            self.store.record(self._new_blocks, self._new_pairs)
            self._new_blocks, self._new_pairs = [], []
            self._written = time.monotonic()


def stored_versus(store: Store, first: str, second: str) -> dict[int, Versus]:
    """Return the blocks in which a store has both tasks side by side."""
    found = {}
    for record in store.pairs(*versus_key(first, second)).values():
        versus = _checked(versus_of_numbers, record)
        found[record.block] = versus if first < second else swapped(versus)
    return found


def _only(record: PairRecord) -> float:
    def read(trials: int, values: tuple[float, ...]) -> float:
        (value,) = values
        return value

    return _checked(read, record)


def _checked(read: Callable[..., T], record: BlockRecord | PairRecord, *more: float) -> T:
    """Return what `read` makes of stored numbers, or refuse numbers that no version of pairsim has written."""
    try:
        return read(record.trials, record.values, *more)
    except (ValueError, OverflowError):
        raise refusal("store", "block", "results as pairsim writes them", "other numbers") from None
