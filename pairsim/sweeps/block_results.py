"""Results of a sweep's blocks: which are done and what they gave, in memory and, where there is one, in the store."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from pairsim.errors import parameter_error
from pairsim.simulation.paired import PairedTally, swapped, turned, versus_of_numbers
from pairsim.simulation.tally import Tally, numbers_of_tally, tally_of_numbers
from pairsim.stats import Moments
from pairsim.store import BlockRecord, PairRecord, Store

T = TypeVar("T")

SLACK = 1e-9  # sums of probabilities are right up to rounding
SECONDS_BETWEEN_WRITES = 0.5  # the most work that a kill can cost, beside the blocks that were not finished


def versus_key(task: str, other: str) -> tuple[str, str]:
    """Return the order in which a store has two tasks side by side."""
    return (task, other) if task < other else (other, task)


def agreement_key(task: str, other: str) -> tuple[str, str]:
    """Return the order in which a store has the agreements of two tasks: the other way round, so both find room."""
    return (other, task) if task < other else (task, other)


class BlockResults:
    """Block results by (task, block, trials); what is put is in the store within half a second."""

    def __init__(self, store: Store | None) -> None:
        self.store = store
        self._tallies: dict[tuple[str, int, int], Tally] = {}
        self._agreements: dict[tuple[str, str, int, int], float] = {}
        self._longest: dict[str, dict[int, int]] = {}  # by task and block: the most trials of which there is a result
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
                self._tallies[key] = _checked(_to_tally, record)
                self._note_length(task, record.block, record.trials)
            if reference is not None:
                for pair in self.store.pairs(*agreement_key(task, reference)).values():
                    self._agreements[task, reference, pair.block, pair.trials] = _checked(_to_agreements, pair)

    def tally(self, task: str, block: int, trials: int) -> Tally | None:
        """Return the result of the first `trials` trials of a block, without agreements; None when it is not there."""
        return self._tallies.get((task, block, trials))

    def blocks_of(self, task: str) -> list[int]:
        """Return the blocks of a task of which any result is there, in order."""
        return sorted(self._longest.get(task, ()))

    def longest(self, task: str, block: int) -> int:
        """Return the most trials of a block of which there is a result."""
        return self._longest.get(task, {}).get(block, 0)

    def _note_length(self, task: str, block: int, trials: int) -> None:
        known = self._longest.setdefault(task, {})
        known[block] = max(trials, known.get(block, 0))

    def agreement(self, task: str, reference: str, block: int, trials: int) -> float | None:
        """Return in how many of those trials the task named the class that the reference named."""
        return self._agreements.get((task, reference, block, trials))

    def put(self, task: str, block: int, tally: Tally, reference: str | None) -> None:
        """Enter the result of a block."""
        self._tallies[task, block, tally.trials] = tally
        self._note_length(task, block, tally.trials)
        if self.store is not None:
            self._new_blocks.append(BlockRecord(task, block, tally.trials, numbers_of_tally(tally)))
        if reference is not None:
            self._agreements[task, reference, block, tally.trials] = tally.agreements
            if self.store is not None:
                values = (tally.agreements,)
                self._new_pairs.append(PairRecord(*agreement_key(task, reference), block, tally.trials, values))

    def put_versus(self, first: str, second: str, block: int, trials: int, numbers: tuple[float, ...]) -> None:
        """Enter two tasks side by side, as plain numbers."""
        if self.store is not None and first != second:
            ordered = numbers if first < second else turned(numbers)
            self._new_pairs.append(PairRecord(*versus_key(first, second), block, trials, ordered))

    def write(self, *, now: bool = False) -> None:
        """Put new results in the store, in one durable step, when it is time."""
        if self.store is None or not self._new_blocks:
            return
        if now or time.monotonic() - self._written >= SECONDS_BETWEEN_WRITES:
            self.store.record(self._new_blocks, self._new_pairs)
            self._new_blocks, self._new_pairs = [], []
            self._written = time.monotonic()


def stored_versus(store: Store, first: str, second: str) -> dict[int, PairedTally]:
    """Return the blocks in which a store has both tasks side by side."""
    found = {}
    for record in store.pairs(*versus_key(first, second)).values():
        versus = _checked(_to_versus, record)
        found[record.block] = versus if first < second else swapped(versus)
    return found


def _to_tally(trials: int, numbers: tuple[float, ...]) -> Tally:
    tally = tally_of_numbers(trials, numbers, 0.0)
    costs = (tally.queries, tally.distinct, tally.rounds)
    _require(0 <= tally.failed <= trials and all(0.0 <= cost < math.inf for cost in costs))
    _require_moments(tally.smooth, 0.0)
    return tally


def _to_versus(trials: int, numbers: tuple[float, ...]) -> PairedTally:
    versus = versus_of_numbers(trials, numbers)
    _require(min(versus.first_only, versus.second_only) >= 0 and versus.first_only + versus.second_only <= trials)
    _require_moments(versus.smooth, -1.0)
    return versus


def _to_agreements(trials: int, numbers: tuple[float, ...]) -> float:
    (agreements,) = numbers
    _require(math.isnan(agreements) or 0.0 <= agreements <= trials * (1.0 + SLACK))
    return agreements


def _require_moments(moments: Moments | None, low: float) -> None:
    """Reject moments that no numbers in [low, 1] have, with low at least -1."""
    if moments is not None:
        second, third = 4.0 * moments.count, 8.0 * moments.count
        _require(low - SLACK <= moments.mean <= 1.0 + SLACK and 0.0 <= moments.second <= second)
        _require(abs(moments.third) <= third)


def _require(holds: bool) -> None:
    if not holds:
        raise ValueError


def _checked(read: Callable[[int, tuple[float, ...]], T], record: BlockRecord | PairRecord) -> T:
    """Return what `read` makes of stored numbers, or reject numbers that no version of pairsim has written."""
    try:
        return read(record.trials, record.values)
    except (ValueError, OverflowError):
        raise parameter_error("store", "block", "results as pairsim writes them", "other numbers") from None
