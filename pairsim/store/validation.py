"""Checks of what callers want stored, and its rows."""

from __future__ import annotations

import operator
from typing import Any

from pairsim.checks import check_whole
from pairsim.errors import parameter_error
from pairsim.store.arrays import packed
from pairsim.store.checksums import Row, sealed
from pairsim.store.integrity import is_json, to_data
from pairsim.store.records import BlockRecord, OracleRecord, PairRecord, Request, Run, TaskRecord, task_id
from pairsim.store.schema import ARRAYS, BLOCKS, ORACLES, PAIRS, REQUESTS, TEXT_LIMIT, WHOLE_LIMIT

_VALUES_LIMIT = 1 << 20


def check_text(name: str, value: Any) -> str:
    """Return `value` when it is text that can be stored."""
    if not isinstance(value, str) or len(value) > TEXT_LIMIT:
        raise parameter_error("Store", name, f"text of at most {TEXT_LIMIT} characters", ascii(value))
    try:
        value.encode()
    except UnicodeEncodeError:
        raise parameter_error("Store", name, "text that UTF-8 can express", ascii(value)) from None
    return str(value)


def check_json(name: str, value: Any) -> str:
    """Return `value` when it is JSON text."""
    if not is_json(check_text(name, value)):
        raise parameter_error("Store", name, "JSON text", ascii(value))
    return str(value)


def check_values(values: Any) -> bytes:
    """Return the numbers as they are stored: only such as a 64-bit float holds exactly."""
    must_be = f"at most {_VALUES_LIMIT} numbers, each exact as a 64-bit float"
    try:
        if len(values) <= _VALUES_LIMIT:
            all_floats = type(values) is tuple and set(map(type, values)) == {float}
            return to_data(values if all_floats else tuple(map(_exact, values)))
    except (TypeError, ValueError, OverflowError):
        pass
    raise parameter_error("Store", "values", must_be, repr(values))


def _exact(value: Any) -> float:
    """Return a number as a float that is equal to it."""
    if isinstance(value, str | bytes):
        raise TypeError
    if hasattr(value, "__index__"):
        whole = operator.index(value)
        if int(float(whole)) != whole:
            raise ValueError
        return float(whole)
    return float(value)


def task_row(task: TaskRecord) -> tuple[str, str]:
    """Check a task; its row lacks the place."""
    definition = check_json("definition", task.definition)
    if task.id != task_id(definition):
        raise parameter_error("Store", "id", f"the task_id of its definition, {task_id(definition)}", ascii(task.id))
    return task.id, definition


def block_row(record: BlockRecord) -> Row:
    """Check a block's result and return its row."""
    return sealed(BLOCKS, (check_text("task", record.task), *_measured(record)))


def pair_row(record: PairRecord) -> Row:
    """Check a joint result and return its row."""
    tasks = check_text("first", record.first), check_text("second", record.second)
    return sealed(PAIRS, (*tasks, *_measured(record)))


def _measured(record: BlockRecord | PairRecord) -> Row:
    block = check_whole("Store", "block", record.block, 0, WHOLE_LIMIT)
    return block, check_whole("Store", "trials", record.trials, 1, WHOLE_LIMIT), check_values(record.values)


def request_row(request: Request) -> Row:
    """Check a request and return its row."""
    place = check_whole("Store", "place", request.place, 0, WHOLE_LIMIT)
    reference = None if request.reference is None else check_text("reference", request.reference)
    settings = check_json("settings", request.settings)
    return sealed(REQUESTS, (check_text("task", request.task), place, reference, settings))


def check_run(run: Run) -> Run:
    """Check a run."""
    return Run(*(check_text(name, value) for name, value in zip(Run._fields, run, strict=True)))


def oracle_rows(record: OracleRecord) -> tuple[Row, list[Row]]:
    """Check an oracle and return its row and those of its arrays."""
    digest = check_text("digest", record.digest)
    row = sealed(ORACLES, (digest, check_text("name", record.name), check_json("params", record.params)))
    arrays = []
    for name, array in sorted(record.arrays.items()):
        try:
            arrays.append(sealed(ARRAYS, (digest, check_text("arrays", name), packed(array))))
        except ValueError as error:
            must_be = "whole, real or boolean numbers, of a size that a store can hold"
            raise parameter_error("Store", "arrays", must_be, error) from None
    return row, arrays
