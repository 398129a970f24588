"""What was asked of a store: written down before the work begins, and read back as rows."""

from __future__ import annotations

import dataclasses
import datetime
import json
import math
import platform
import sys
from collections.abc import Iterator
from typing import Any

from pairsim.errors import refusal
from pairsim.simulation import STREAM_VERSION, Bench
from pairsim.simulation.blocks import play_block
from pairsim.store import Request, Run, Store, edge
from pairsim.sweeps.campaign import Campaign
from pairsim.sweeps.cells import Cell
from pairsim.sweeps.ledger import Ledger
from pairsim.sweeps.rows import Row, printable
from pairsim.sweeps.stopping import Stop
from pairsim.sweeps.tasks import TRIALS_LIMIT, task_of
from pairsim.version import VERSION

SHOWN = ("simulated", "conditional", "exact")


def register(store: Store, campaign: Campaign, command: str | None) -> None:
    """Write down the oracles, tasks and rows of a campaign, and who asked for them; rows keep their old places."""
    groups = campaign.groups
    store.add_oracles({record.digest: record for group in groups for record in group.records}.values())
    store.add_tasks({task.id: task.record for group in groups for tasks in group.tasks for task in tasks}.values())
    with store.writing("add requests to") as transaction:  # places are given out while nobody else can
        for request in _requests(store.requests(), campaign.grid_cells()):
            transaction.put_request(edge.request_row(request))
    store.add_run(this_run(command))


def _requests(stored: list[Request], cells: list[Cell]) -> Iterator[Request]:
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


def stored_cells(store: Store, ledger: Ledger) -> Iterator[Cell]:
    """Yield the rows that a store was asked for, as far as their blocks are there."""
    tasks = {record.id: record for record in store.tasks()}
    for request in store.requests():
        task = task_of(tasks[request.task], store)
        reference = task_of(tasks[request.reference], store) if request.reference is not None else None
        shown, label, confidence, stop = _read_settings(request.settings)
        if task.oracle.rows is not None and stop.trials > task.oracle.rows:
            raise refusal("store", "request", f"of at most {task.oracle.rows} trials, as recorded", stop.trials)
        cell = Cell(task, reference, shown, label, stop, confidence)
        ledger.load([(task.id, cell.reference_id)])
        cell.advance(ledger)
        if _was_cut(cell, ledger):
            _play_last_block(cell, ledger)
            cell.advance(ledger)
        yield cell


def _was_cut(cell: Cell, ledger: Ledger) -> bool:
    """Say whether all that the last block lacks is to be cut shorter than it is stored, for a row of fewer trials."""
    last = cell.blocks - 1
    if not cell.lacks(ledger, last) or (cell.stop.is_rule and cell.frontier < last):
        return False
    return ledger.longest(cell.task.id, last) > cell.trials_of(last)


def _play_last_block(cell: Cell, ledger: Ledger) -> None:
    """Play a cut block again: a store keeps the longest result of a block, which does not tell the shorter one."""
    tasks = list({task.id: task for task in (cell.task, cell.reference) if task is not None}.values())
    reference = -1 if cell.reference is None else len(tasks) - 1
    decoders, methods = tuple(task.decoder for task in tasks), tuple(task.method for task in tasks)
    bench = Bench((cell.task.oracle,), decoders, methods, reference, cell.task.seed)
    last = cell.blocks - 1
    (played,) = play_block(bench, last * cell.size, cell.trials_of(last))
    ledger.put(cell.task.id, last, played.tallies[0], cell.reference_id)


def _read_settings(text: str) -> tuple[str, str, float, Stop]:
    """Read the settings of a request, believing nothing."""
    wrong = refusal("store", "request", "as pairsim writes it", repr(text[:200]))
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


def stored_rows(store: Store) -> list[Row]:
    """Return the rows that a store was asked for, in order; tasks of which nothing is known yet have none."""
    ledger = Ledger(store)
    rows = []
    for cell in stored_cells(store, ledger):
        row = cell.row(ledger)
        if row is not None:
            rows.append(row)
    return rows
