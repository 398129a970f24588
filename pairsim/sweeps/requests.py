"""What was asked of a store: written down before the work begins, and read back as rows."""

from __future__ import annotations

import dataclasses
import datetime
import json
import math
import platform
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from pairsim.decoders import SupersededError
from pairsim.errors import parameter_error
from pairsim.oracles import Oracle
from pairsim.plain_text import printable
from pairsim.simulation import STREAM_VERSION, BlockSimulator
from pairsim.simulation.blocks import run_block
from pairsim.specs import check_storable
from pairsim.store import Request, Run, Store, TaskRecord, validation
from pairsim.sweeps.block_results import BlockResults
from pairsim.sweeps.progress import TaskProgress
from pairsim.sweeps.rows import Row
from pairsim.sweeps.stopping import Stop
from pairsim.sweeps.superseded import not_computed_again, users_task
from pairsim.sweeps.tasks import TRIALS_LIMIT, Task, TaskGroup, task_of
from pairsim.version import VERSION

SHOWN = ("simulated", "conditional", "exact")


def register(store: Store, groups: Sequence[TaskGroup], cells: list[TaskProgress], command: str | None) -> None:
    """Write down the oracles, tasks and rows of a sweep, and who asked for them; rows keep their old places."""
    for group in groups:
        for each in (*group.decoders, *group.simulator.oracles):
            check_storable("sweep", type(each))
    store.add_oracles({record.digest: record for group in groups for record in group.records}.values())
    store.add_tasks({task.id: task.record for group in groups for tasks in group.tasks for task in tasks}.values())
    with store.writing("add requests to") as transaction:  # places are given out while nobody else can
        for request in _requests(store.requests(), cells):
            transaction.put_request(validation.request_row(request))
    store.add_run(this_run(command))


def _requests(stored: list[Request], cells: list[TaskProgress]) -> Iterator[Request]:
    """Yield the requests of the cells; new ones go behind those that are stored, a repeated one where it was first."""
    known = {request.task: request for request in stored}
    place = max((request.place for request in stored), default=-1) + 1
    for cell in cells:
        old = known.get(cell.task.id)
        if old is not None and _was_longer(cell.stop, old.settings):
            yield old
            continue
        settings = json.dumps(
            {"shown": cell.shown, "label": cell.label, "confidence": cell.confidence, **dataclasses.asdict(cell.stop)},
            sort_keys=True,
        )
        known[cell.task.id] = Request(place if old is None else old.place, cell.task.id, cell.reference_id, settings)
        yield known[cell.task.id]
        place += old is None


def _was_longer(stop: Stop, settings: str) -> bool:
    """Say whether more trials were asked for before: then the row stays as it was, since its blocks are those kept."""
    before = _read_settings(settings)[-1]
    return not stop.is_rule and not before.is_rule and before.trials > stop.trials


def this_run(command: str | None, more: dict[str, str] | None = None) -> Run:
    """Return where the results come from: time, command, versions (of more packages, if given) and machine."""
    import numba
    import numpy as np

    versions = {
        "pairsim": VERSION,
        "stream": STREAM_VERSION,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }
    versions |= more or {}
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="microseconds")
    return Run(now, command or "from Python", json.dumps(versions), f"{platform.node()} ({sys.platform})")


def stored_cells(store: Store, results: BlockResults, left_out: list[str] | None = None) -> Iterator[TaskProgress]:
    """Yield the rows that a store was asked for, as far as their blocks are there.

    Rows that were computed by rules of an earlier version are left out; the decoders of those that were not computed
    again are added to `left_out` at the end. Where that is None, such a row is rejected. A row of which only the
    reference was computed so has no agreement.
    """
    tasks = {record.id: record for record in store.tasks()}
    superseded, current = [], []
    known: dict[str, Oracle] = {}
    replaced = _replaced(store.requests(), tasks)
    for request in store.requests():
        record = tasks[request.task]
        if request.task in replaced:
            continue
        try:
            task = task_of(record, store, known)
        except SupersededError as error:
            if left_out is None:
                raise
            superseded.append((record.definition, error.spec))
            continue
        current.append((record.definition, task.decoder.spec))
        reference = None if request.reference is None else _reference_of(tasks[request.reference], store, known)
        shown, label, confidence, stop = _read_settings(request.settings)
        if task.oracle.rows is not None and stop.trials > task.oracle.rows:
            raise parameter_error("store", "request", f"of at most {task.oracle.rows} trials, as recorded", stop.trials)
        cell = TaskProgress(task, reference, shown, label, stop, confidence)
        results.load([(task.id, cell.reference_id)])
        cell.advance(results)
        if _was_cut(cell, results):
            _run_last_block(cell, results)
            cell.advance(results)
        yield cell
    if left_out is not None:
        left_out += not_computed_again(superseded, current)


def _replaced(requests: list[Request], tasks: dict[str, TaskRecord]) -> set[str]:
    """Return the tasks of users' decoders that were asked for again after their code was edited."""
    last: dict[tuple[str, str], str] = {}
    for request in requests:
        asked = users_task(tasks[request.task].definition)
        if asked is not None:
            last[asked] = request.task
    kept = set(last.values())
    return {
        request.task
        for request in requests
        if request.task not in kept and users_task(tasks[request.task].definition) is not None
    }


def _reference_of(record: TaskRecord, store: Store, known: dict[str, Oracle]) -> Task | None:
    try:
        return task_of(record, store, known)
    except SupersededError:
        return None


def _was_cut(cell: TaskProgress, results: BlockResults) -> bool:
    """Say whether all that the last block lacks is to be cut shorter than it is stored, for a row of fewer trials."""
    last = cell.blocks - 1
    if not cell.lacks(results, last) or (cell.stop.is_rule and cell.frontier < last):
        return False
    return results.longest(cell.task.id, last) > cell.trials_of(last)


def _run_last_block(cell: TaskProgress, results: BlockResults) -> None:
    """Play a cut block again: a store keeps the longest result of a block, which does not tell the shorter one."""
    tasks = list({task.id: task for task in (cell.task, cell.reference) if task is not None}.values())
    reference = -1 if cell.reference is None else len(tasks) - 1
    decoders, methods = tuple(task.decoder for task in tasks), tuple(task.method for task in tasks)
    simulator = BlockSimulator((cell.task.oracle,), decoders, methods, reference, cell.task.seed)
    last = cell.blocks - 1
    (found,) = run_block(simulator, last * cell.size, cell.trials_of(last))
    results.put(cell.task.id, last, found.tallies[0], cell.reference_id)


def _read_settings(text: str) -> tuple[str, str, float, Stop]:
    """Read the settings of a request, believing nothing."""
    wrong = parameter_error("store", "request", "as pairsim writes it", repr(text[:200]))
    try:
        parts: dict[str, Any] = json.loads(text)
        shown, label, confidence = parts.pop("shown"), parts.pop("label"), parts.pop("confidence")
        stop = Stop(**parts)
    except (ValueError, TypeError, LookupError, AttributeError):
        raise wrong from None
    good = (
        shown in SHOWN
        and isinstance(label, str)
        and _is_number(confidence)
        and 0.0 < confidence < 1.0
        and _is_whole(stop.trials, 1, TRIALS_LIMIT)
        and (stop.half_width is None or (_is_number(stop.half_width) and 0.0 < stop.half_width < 1.0))
        and isinstance(stop.relative, bool)
        and (stop.failures is None or _is_whole(stop.failures, 2, TRIALS_LIMIT))
    )
    if not good:
        raise wrong
    return shown, printable(label), float(confidence), stop


def _is_number(value: object) -> bool:
    return isinstance(value, float) and math.isfinite(value)


def _is_whole(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def stored_rows(store: Store, left_out: list[str] | None = None) -> list[Row]:
    """Return the rows that a store was asked for, in order; tasks of which nothing is known yet have none.

    `left_out` is that of `stored_cells`.
    """
    results = BlockResults(store)
    rows = []
    for cell in stored_cells(store, results, left_out):
        row = cell.row(results)
        if row is not None:
            rows.append(row)
    return rows
