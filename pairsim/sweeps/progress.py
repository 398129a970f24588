"""Cells: a task as one row of the sweep: how far it is, whether it is finished, and what it says."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator

from pairsim.simulation.blocks import block_trials
from pairsim.simulation.run import estimate_of
from pairsim.simulation.tally import Tally
from pairsim.stats import Estimate
from pairsim.sweeps.block_results import BlockResults
from pairsim.sweeps.rows import Row, make_row
from pairsim.sweeps.stopping import Stop, stopped_failure
from pairsim.sweeps.tasks import Task

MOST_LOST_BLOCKS = 3  # a task that failed so many blocks is given up


@dataclasses.dataclass
class TaskProgress:
    """One row that was asked for. Blocks are looked at in order: `frontier` is the first that is not there yet."""

    task: Task
    reference: Task | None
    shown: str
    label: str
    stop: Stop
    confidence: float
    frontier: int = 0
    ended: bool = False
    total: Tally = dataclasses.field(default_factory=Tally)
    before: Tally = dataclasses.field(default_factory=Tally)  # the total without its last block
    lost: dict[int, str] = dataclasses.field(default_factory=dict)
    running: Tally = dataclasses.field(default_factory=Tally)  # of all blocks so far, in any order: for the progress

    def __post_init__(self) -> None:
        self.size = block_trials(self.task.oracle.n)
        self.blocks = 0 if self.task.method == "exact" else -(-self.stop.trials // self.size)
        self.ended = not self.blocks

    @property
    def reference_id(self) -> str | None:
        """The id of the task with which the agreement is counted."""
        return self.reference.id if self.reference else None

    @property
    def given_up(self) -> bool:
        """Whether too many blocks were lost to continue."""
        return len(self.lost) >= MOST_LOST_BLOCKS

    def trials_of(self, block: int) -> int:
        """Return the number of trials of a block: the last one may be cut short."""
        return min(self.size, self.stop.trials - block * self.size)

    def lose(self, block: int, reason: str) -> None:
        """Note that a block cannot be run. Under a rule, which needs all blocks in order, that is the end."""
        self.lost[block] = reason
        self.ended = self.ended or self.stop.is_rule

    def lacks(self, results: BlockResults, block: int) -> bool:
        """Say whether a block must still be run for this cell."""
        if self.ended or self.given_up or block >= self.blocks or block < self.frontier or block in self.lost:
            return False
        return not self.has_block(results, block)

    def has_block(self, results: BlockResults, block: int) -> bool:
        """Say whether a block is there, with its agreements."""
        trials = self.trials_of(block)
        if results.tally(self.task.id, block, trials) is None:
            return False
        return self.reference is None or results.agreement(self.task.id, self.reference.id, block, trials) is not None

    def block_tally(self, results: BlockResults, block: int) -> Tally | None:
        """Return the tally of a block with its agreements; None when it, or its agreements, are not there."""
        trials = self.trials_of(block)
        tally = results.tally(self.task.id, block, trials)
        if tally is None or self.reference is None:
            return tally and dataclasses.replace(tally, agreements=math.nan)
        agreements = results.agreement(self.task.id, self.reference.id, block, trials)
        return None if agreements is None else dataclasses.replace(tally, agreements=agreements)

    def tallies(self, results: BlockResults) -> Iterator[tuple[int, Tally]]:
        """Yield the blocks that are there, in order; those that are not cost nothing, however many."""
        for block in results.blocks_of(self.task.id):
            tally = self.block_tally(results, block) if block < self.blocks else None
            if tally is not None:
                yield block, tally

    def advance(self, results: BlockResults) -> None:
        """Look at the blocks that have come, in order, and end the task where its rule says so."""
        while not self.ended and self.frontier < self.blocks:
            tally = self.block_tally(results, self.frontier)
            if tally is None and self.frontier not in self.lost:
                return
            if tally is not None:
                self.before, self.total = self.total, self.total.plus(tally)
            self.frontier += 1
            self.ended = self.stop.is_met(self.shown, self.total, self.confidence)
        self.ended = True

    @property
    def counts_to_stop(self) -> bool:
        """Whether counted outcomes decide how many trials there are, so that plain ratios are biased."""
        counted = self.task.method == "simulated" and self.shown != "exact"
        return counted and self.stop.wanted_count(self.confidence) is not None

    def estimate(self, results: BlockResults, confidence: float | None = None) -> Estimate | None:
        """Return what is known so far: a rule allows blocks in order only, else any blocks make a sample.

        The interval has the confidence that was asked for with the row, unless another one is given.
        """
        level = self.confidence if confidence is None else confidence
        if not self.blocks:
            return self._estimate_of(None, level)
        total = self.total
        if not self.stop.is_rule:
            for block, tally in self.tallies(results):
                total = total.plus(tally) if block >= self.frontier else total
        if total.trials == 0:
            return None
        found = self._estimate_of(total, level)
        stopped = None
        if self.shown != "exact":
            stopped = stopped_failure(self.stop, self.before, total, self.confidence, level)
        if stopped is None:
            return found
        failure, low, high = stopped
        error = math.sqrt(failure * (1.0 - failure) / total.trials)
        return dataclasses.replace(
            found, success=1.0 - failure, low=1.0 - high, high=1.0 - low, failure=failure, standard_error=error
        )

    def running_estimate(self) -> Estimate | None:
        """Return the estimate of the blocks so far, in any order and without allowance for a rule: for the progress."""
        if self.running.trials == 0 or self.shown == "exact":
            return None
        return self._estimate_of(self.running, self.confidence)

    def _estimate_of(self, tally: Tally | None, confidence: float) -> Estimate:
        is_reference = self.reference_id == self.task.id
        return estimate_of(self.task.oracle, self.task.decoder, self.shown, tally, confidence, is_reference)

    def expected_trials(self) -> int:
        """Return how many trials the task will probably take in all: for the progress."""
        done = self.running.trials
        if self.ended or self.given_up:
            return done
        if not self.stop.is_rule or done == 0 or self.shown == "exact":
            return self.stop.trials if not self.stop.is_rule else max(done, min(self.stop.trials, self.size))
        wanted = self.stop.wanted_count(self.confidence)
        if wanted is not None and self.running.smooth is None:
            rarer = min(self.running.failed, done - self.running.failed)
            more = wanted / max(1, rarer if self.stop.failures is None else self.running.failed)
        else:
            found = self.running_estimate()
            assert found is not None
            assert self.stop.half_width is not None
            share = min(found.success, found.failure) if self.stop.relative else 1.0
            more = ((found.high - found.low) / 2.0 / max(1e-300, self.stop.half_width * share)) ** 2
        return int(min(self.stop.trials, max(done, done * min(more, 1e9))))

    def row(self, results: BlockResults) -> Row | None:
        """Return the row of the results table; None when there is nothing to tell."""
        found = self.estimate(results)
        return None if found is None else make_row(self.task.oracle, found)._replace(oracle=self.label)
