"""The blocks of a sweep: handed out to an engine, collected, and entered in the results."""

from __future__ import annotations

import collections
import dataclasses
import time
from collections.abc import Callable, Sequence

from pairsim.engines import Engine, run_units
from pairsim.engines.interrupts import DeferredInterrupt
from pairsim.plain_text import printable
from pairsim.simulation.blocks import cut_pieces, join
from pairsim.simulation.tally import BlockResult
from pairsim.sweeps.block_results import BlockResults
from pairsim.sweeps.progress import TaskProgress
from pairsim.sweeps.stopping import Stop
from pairsim.sweeps.tasks import Task, TaskGroup
from pairsim.sweeps.work import Context, Unit, play_unit

UNIT_SECONDS = 0.5  # of work for another process: long against sending it, short against losing it
MOST_BLOCKS_A_UNIT = 64
MOST_PIECES_A_UNIT = 4  # for a thread: each unit passes through two queues,
SHORT_PIECE = 0.005  # which is much for pieces of a few milliseconds;
WAVES = 16  # but units are handed out so often at least that all threads end at the same time
BLOCKS_AHEAD = 2  # of what a rule has looked at, on threads: they share the pieces of a block


@dataclasses.dataclass(eq=False)
class BlockJob:
    """One block of a group, for some of its oracles and decoders, as it is being run.

    `wanted` are the cells for which it is run; the reference, and others in the product, may come along.
    """

    group: int
    block: int
    first: int
    count: int
    oracles: tuple[int, ...]
    places: tuple[int, ...]
    wanted: tuple[tuple[int, int], ...]
    pieces: list[list[BlockResult] | None] = dataclasses.field(default_factory=list)
    failed: bool = False


@dataclasses.dataclass
class GroupProgress:
    """How far a group is: its cells by (oracle, decoder), and the next block to hand out."""

    number: int
    group: TaskGroup
    cells: dict[tuple[int, int], TaskProgress]
    offset: int  # blocks of the groups before it: shards count through the whole sweep
    next_block: int = 0
    seconds_a_block: float = 0.0
    seconds_a_piece: float = 0.0

    @property
    def blocks(self) -> int:
        """The most blocks that any cell can take."""
        return max(cell.blocks for cell in self.cells.values())


class SweepScheduler:
    """All cells of a sweep, and the way from missing blocks to results."""

    def __init__(
        self,
        groups: Sequence[TaskGroup],
        stops: Sequence[Stop],
        confidence: float,
        results: BlockResults,
        *,
        shard: tuple[int, int] | None = None,
        max_seconds: float | None = None,
    ) -> None:
        self.groups, self.results, self.shard, self.max_seconds = list(groups), results, shard, max_seconds
        self.progress: list[GroupProgress] = []
        offset = 0
        for number, (group, stop) in enumerate(zip(groups, stops, strict=True)):
            self.progress.append(GroupProgress(number, group, _make_cells(group, stop, confidence), offset))
            offset += self.progress[-1].blocks
        results.load((cell.task.id, cell.reference_id) for cell in self.cells)
        for cell in self.cells:
            if not results.found:
                break
            cell.advance(results)
            for _, tally in cell.tallies(results):
                cell.running = cell.running.plus(tally)
        self.out_of_time = False
        self._open: collections.deque[GroupProgress] = collections.deque(self.progress)
        self._ready: collections.deque[Unit] = collections.deque()
        self._jobs: dict[
            int, list[tuple[BlockJob, int]]
        ] = {}  # by unit: the jobs of its ranges, and which piece of each
        self._units = 0
        self.on_block: Callable[[BlockJob], None] | None = None

    @property
    def cells(self) -> list[TaskProgress]:
        """All rows that were asked for, group by group."""
        return [cell for progress in self.progress for cell in progress.cells.values()]

    def grid_cells(self) -> list[TaskProgress]:
        """Return the cells in the order of the grid: oracle by oracle, decoder by decoder."""
        placed = {
            (progress.group.places[oracle], place): cell
            for progress in self.progress
            for (oracle, place), cell in progress.cells.items()
        }
        return [placed[key] for key in sorted(placed)]

    def run(self, engine: Engine, tick: Callable[[], None] | None = None) -> None:
        """Run what is missing. Whatever ends it, finished blocks are in the results and in the store."""
        self._engine = engine
        self._deadline = None if self.max_seconds is None else time.monotonic() + self.max_seconds

        def beat() -> None:
            self.results.write()
            if tick is not None:
                tick()

        with DeferredInterrupt():  # also while the last blocks are written
            try:
                first = self._next_unit()
                if first is None:
                    return  # nothing is missing: no engine needs to be started
                self._ready.appendleft(first)
                engine.start(play_unit, Context([group.simulator for group in self.groups]))
                run_units(engine, self._next_unit, self._take, self._fail, tick=beat)
            finally:
                self.results.write(now=True)

    # handing out

    def _next_unit(self) -> Unit | None:
        unit = self._next_ready()
        if unit is not None:
            return unit
        if self._deadline is not None and time.monotonic() >= self._deadline:
            self.out_of_time = self.out_of_time or any(self._has_more(progress) for progress in self._open)
            return None
        for _ in range(len(self._open)):
            progress = self._open[0]
            job = self._next_job(progress)
            if job is not None:
                return self._unit_of(progress, job)
            if progress.next_block >= progress.blocks or all(cell.ended for cell in progress.cells.values()):
                self._open.popleft()
            else:
                self._open.rotate(-1)  # it waits for its rule: others continue
        return self._next_ready()  # the search may have found blocks to be run alone only

    def _next_ready(self) -> Unit | None:
        """Return the next unit that was made before; pieces of a block that failed meanwhile are dropped."""
        while self._ready:
            unit = self._ready.popleft()
            if any(not job.failed for job, _ in self._jobs[unit.number]):
                return unit
            del self._jobs[unit.number]
        return None

    def _is_ours(self, progress: GroupProgress, block: int) -> bool:
        """Say whether a block is in our shard."""
        return self.shard is None or (progress.offset + block) % self.shard[1] == self.shard[0] - 1

    def _has_more(self, progress: GroupProgress) -> bool:
        """Say whether any cell of a group still lacks a block that was not handed out."""
        return not all(cell.ended for cell in progress.cells.values()) and any(
            self._is_ours(progress, block) and any(cell.lacks(self.results, block) for cell in progress.cells.values())
            for block in range(progress.next_block, progress.blocks)
        )

    def _next_job(self, progress: GroupProgress) -> BlockJob | None:
        """Return the next block that some cell of a group lacks."""
        cells = progress.cells.values()
        if all(cell.ended for cell in cells):  # a rule may end millions of blocks before the last: do not look at each
            progress.next_block = progress.blocks
        waiting = [cell.frontier for cell in cells if cell.stop.is_rule and not cell.ended]
        some = BLOCKS_AHEAD if self._engine.in_process else self._engine.capacity + 1
        ahead = min(waiting) + some if waiting else progress.blocks
        while progress.next_block < min(progress.blocks, ahead):
            block = progress.next_block
            progress.next_block += 1
            if not self._is_ours(progress, block):
                continue
            missing = [key for key, cell in progress.cells.items() if cell.lacks(self.results, block)]
            solo = [key for key in missing if progress.cells[key].lost]  # has failed before: not to drag others along
            for key in solo:
                self._ready.extend(self._units_of(progress, [self._job(progress, block, [key])]))
            together = [key for key in missing if key not in solo]
            if together:
                return self._job(progress, block, together)
            if self._ready:
                return None
        return None

    def _job(self, progress: GroupProgress, block: int, keys: list[tuple[int, int]]) -> BlockJob:
        cell = progress.cells[keys[0]]
        reference = progress.group.simulator.reference
        oracles = tuple(sorted({oracle for oracle, _ in keys}))
        places = tuple(sorted({place for _, place in keys} | ({reference} if reference >= 0 else set())))
        return BlockJob(progress.number, block, block * cell.size, cell.trials_of(block), oracles, places, tuple(keys))

    def _unit_of(self, progress: GroupProgress, job: BlockJob) -> Unit:
        """Return a unit with the job: a piece of it on threads, else with as many more as make a good load."""
        jobs = [job]
        if not self._engine.in_process and progress.seconds_a_block > 0.0:
            fair = (progress.blocks - progress.next_block) // (2 * max(1, self._engine.slots))
            wanted = min(MOST_BLOCKS_A_UNIT, fair, int(UNIT_SECONDS / progress.seconds_a_block))
            while len(jobs) < wanted and (more := self._next_job(progress)) is not None:
                if (more.oracles, more.places) != (job.oracles, job.places):
                    self._ready.extend(self._units_of(progress, [more]))
                    break
                jobs.append(more)
        units = self._units_of(progress, jobs)
        self._ready.extend(units[1:])
        return units[0]

    def _units_of(self, progress: GroupProgress, jobs: list[BlockJob]) -> list[Unit]:
        job = jobs[0]
        if not self._engine.in_process:
            ranges = tuple((each.first, each.count) for each in jobs)
            return [self._enlist(progress, job, ranges, True, [(each, 0) for each in jobs])]
        simulator = Context([progress.group.simulator]).simulator(0, job.oracles, job.places)
        pieces = list(enumerate(cut_pieces(simulator, job.first, job.count)))
        job.pieces = [None] * len(pieces)
        size = 1
        if 0.0 < progress.seconds_a_piece < SHORT_PIECE:
            waves = (progress.blocks - progress.next_block) * len(pieces) // (WAVES * self._engine.slots)
            size = min(MOST_PIECES_A_UNIT, max(1, waves))
        units = []
        for first in range(0, len(pieces), size):
            some = pieces[first : first + size]
            jobs_of_pieces = [(job, place) for place, _ in some]
            units.append(self._enlist(progress, job, tuple(piece for _, piece in some), False, jobs_of_pieces))
        return units

    def _enlist(
        self,
        progress: GroupProgress,
        job: BlockJob,
        ranges: tuple[tuple[int, int], ...],
        whole: bool,
        jobs: list[tuple[BlockJob, int]],
    ) -> Unit:
        self._units += 1
        self._jobs[self._units] = jobs
        return Unit(self._units, progress.number, job.oracles, job.places, ranges, whole)

    # taking in

    def _take(self, unit: Unit, results: list[list[BlockResult]], seconds: float) -> None:
        progress = self.progress[unit.group]
        for (job, place), block_results in zip(self._jobs.pop(unit.number), results, strict=True):
            if unit.whole_blocks:
                progress.seconds_a_block = seconds / len(results)
                self._enter(progress, job, block_results)
                continue
            progress.seconds_a_piece = seconds / len(results)
            job.pieces[place] = block_results
            if all(piece is not None for piece in job.pieces):
                total: list[BlockResult] | None = None
                for piece in job.pieces:
                    assert piece is not None
                    total = join(total, piece)
                assert total is not None
                self._enter(progress, job, total)

    def _enter(self, progress: GroupProgress, job: BlockJob, block_results: list[BlockResult]) -> None:
        """Enter the results of a block, and check whether that ends a task."""
        tasks, reference = progress.group.tasks, progress.group.simulator.reference
        for oracle, result in zip(job.oracles, block_results, strict=True):
            ids = [tasks[oracle][place].id for place in job.places]
            for place, task, tally in zip(job.places, ids, result.tallies, strict=True):
                against = tasks[oracle][reference].id if reference >= 0 else None
                cell = progress.cells.get((oracle, place))
                is_new = cell is not None and not cell.has_block(self.results, job.block)
                self.results.put(task, job.block, tally, against)
                if cell is not None:
                    cell.running = cell.running.plus(tally) if is_new else cell.running
                    cell.advance(self.results)
            for a, b, numbers in result.versus.plain():
                self.results.put_versus(ids[a], ids[b], job.block, result.trials, numbers)
        self.results.write()
        if self.on_block is not None:
            self.on_block(job)

    def _fail(self, unit: Unit, error: BaseException) -> None:
        """Take in that a unit failed for good: look for the decoder that is to blame, and continue with the rest."""
        progress = self.progress[unit.group]
        for job, _ in self._jobs.pop(unit.number, []):
            if job.failed:
                continue  # another piece of the same block failed before
            job.failed = True
            if len(job.wanted) > 1:  # any of them may be to blame: each runs alone
                for key in job.wanted:
                    self._ready.extend(self._units_of(progress, [self._job(progress, job.block, [key])]))
                continue
            cell = progress.cells[job.wanted[0]]
            cell.lose(job.block, f"{type(error).__name__}: {error}")
            cell.advance(self.results)


def _make_cells(group: TaskGroup, stop: Stop, confidence: float) -> dict[tuple[int, int], TaskProgress]:
    cells = {}
    reference = group.simulator.reference
    for oracle, tasks in enumerate(group.tasks):
        against: Task | None = tasks[reference] if reference >= 0 else None
        for place, shown in enumerate(group.shown):
            label = printable(tasks[place].oracle.label)
            cells[oracle, place] = TaskProgress(tasks[place], against, shown, label, stop, confidence)
    return cells
