"""Verification: stored blocks recomputed and compared, number by number."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

from pairsim.errors import parameter_error
from pairsim.simulation import BlockSimulator, block_trials
from pairsim.simulation.blocks import run_block
from pairsim.simulation.tally import numbers_of_tally
from pairsim.store import BlockRecord, Store, TaskRecord
from pairsim.sweeps.superseded import superseded_tasks
from pairsim.sweeps.tasks import TRIALS_LIMIT, Task, task_of


class Checked(NamedTuple):
    """One recomputed block: what the store says, and what came out."""

    block: BlockRecord
    task: TaskRecord
    again: tuple[float, ...]

    @property
    def agrees(self) -> bool:
        """Whether every number is the same, nan where there is nan."""
        pairs = zip(self.block.values, self.again, strict=False)
        same = all(a == b or (a != a and b != b) for a, b in pairs)
        return same and len(self.block.values) == len(self.again)


def verify_store(
    store: Store,
    blocks: int,
    seed: int | None,
    progress: Callable[[float, str], None] | None = None,
    left_out: list[str] | None = None,
) -> list[Checked]:
    """Play random blocks of a store again, all of them when there are no more than `blocks`.

    Blocks of tasks that were computed by rules of an earlier version cannot be: they are left out, and the decoders of
    these tasks are added to `left_out`, unless they were computed again. Where that is None, such a block is rejected.
    """
    tasks = {record.id: record for record in store.tasks()}
    old, missing = (set(), []) if left_out is None else superseded_tasks(store)
    stored = [record for record in store.all_blocks() if record.task not in old]
    chosen = random.Random(seed).sample(stored, min(blocks, len(stored)))
    checked = []
    for record in sorted(chosen, key=lambda each: (each.task, each.block)):
        task = task_of(tasks[record.task], store)
        _check_place(record, task)
        simulator = BlockSimulator((task.oracle,), (task.decoder,), (task.method,), -1, task.seed)
        (found,) = run_block(simulator, record.block * block_trials(task.oracle.n), record.trials)
        checked.append(Checked(record, tasks[record.task], numbers_of_tally(found.tallies[0])))
        if progress:
            progress(1.0 / len(chosen), task.decoder.spec)
    if left_out is not None:
        left_out += missing
    return checked


def _check_place(record: BlockRecord, task: Task) -> None:
    """Reject a block that is longer than blocks are, or outside of what can be run."""
    size = block_trials(task.oracle.n)
    end = record.block * size + record.trials
    if task.method == "exact" or record.trials > size or end > (task.oracle.rows or TRIALS_LIMIT):
        must_be = f"one that its task can have, of at most {size} trials"
        raise parameter_error("store", "block", must_be, f"block {record.block} with {record.trials} trials")
