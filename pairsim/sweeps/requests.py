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
from pairsim.simulation import STREAM_VERSION
from pairsim.store import Request, Run, Store
from pairsim.sweeps.campaign import Campaign
from pairsim.sweeps.cells import Cell
from pairsim.sweeps.ledger import Ledger
from pairsim.sweeps.rows import Row
from pairsim.sweeps.stopping import Stop
from pairsim.sweeps.tasks import task_of
from pairsim.version import VERSION

SHOWN = ("simulated", "conditional", "exact")


def register(store: Store, campaign: Campaign, command: str | None) -> None:
    """Write down the oracles, tasks and rows of a campaign, and who asked for them; rows keep their old places."""
    groups = campaign.groups
    known = {request.task: request.place for request in store.requests()}
    place = max(known.values(), default=-1) + 1
    requests = []
    for cell in campaign.grid_cells():
        if cell.task.id not in known:
            known[cell.task.id], place = place, place + 1
        settings = json.dumps(
            {"shown": cell.shown, "label": cell.label, "confidence": cell.confidence, **dataclasses.asdict(cell.stop)},
            sort_keys=True,
        )
        requests.append(Request(known[cell.task.id], cell.task.id, cell.reference_id, settings))
    store.add_oracles({record.digest: record for group in groups for record in group.records}.values())
    store.add_tasks({task.id: task.record for group in groups for tasks in group.tasks for task in tasks}.values())
    store.put_requests(requests)
    store.add_run(this_run(command))


def this_run(command: str | None) -> Run:
    """Return where the results come from: time, command, versions and machine."""
    import numba
    import numpy as np

    versions = {
        "pairsim": VERSION,
        "stream": STREAM_VERSION,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="microseconds")
    return Run(now, command or "from Python", json.dumps(versions), f"{platform.node()} ({sys.platform})")


def stored_cells(store: Store, ledger: Ledger) -> Iterator[Cell]:
    """Yield the rows that a store was asked for, as far as their blocks are there."""
    tasks = {record.id: record for record in store.tasks()}
    for request in store.requests():
        task = task_of(tasks[request.task], store)
        reference = task_of(tasks[request.reference], store) if request.reference is not None else None
        shown, label, confidence, stop = _read_settings(request.settings)
        cell = Cell(task, reference, shown, label, stop, confidence)
        ledger.load([(task.id, cell.reference_id)])
        cell.advance(ledger)
        yield cell


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
        and _is_whole(stop.trials, 1)
        and (stop.half_width is None or (_is_number(stop.half_width) and 0.0 < stop.half_width < 1.0))
        and isinstance(stop.relative, bool)
        and (stop.failures is None or _is_whole(stop.failures, 2))
    )
    if not good:
        raise wrong
    return shown, label, float(confidence), stop


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_whole(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < 2**63


def stored_rows(store: Store) -> list[Row]:
    """Return the rows that a store was asked for, in order; tasks of which nothing is known yet have none."""
    ledger = Ledger(store)
    rows = []
    for cell in stored_cells(store, ledger):
        row = cell.row(ledger)
        if row is not None:
            rows.append(row)
    return rows
