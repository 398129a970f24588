"""Outcomes: which class was named for each row and what that cost, in memory and, where there is one, in a store.

Names are a pure function of the task and go into blocks, of which two stores must agree; times are circumstances and go
to what the store knows of the request.
"""

from __future__ import annotations

import json
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsim.decoders import SupersededError
from pairsim.errors import parameter_error
from pairsim.evaluation.fold_records import FIRST_FOLD, FoldRecord, block_of, folds_in
from pairsim.evaluation.tasks import KIND, Task, TestSet, exam_of, task_of
from pairsim.store import BlockRecord, Request, Store, TaskRecord, task_kind, validation
from pairsim.sweeps.superseded import not_computed_again

BLOCK_ROWS = 1 << 16
COSTS = 3


class Outcome(NamedTuple):
    """The number of the class that was named for each row, and the sums of queries, distinct pairs and rounds.

    The sums are nan where there is nothing to count, as in other reductions than one-vs-one.
    """

    named: NDArray[np.int64]
    queries: float = math.nan
    distinct: float = math.nan
    rounds: float = math.nan


class Seconds(NamedTuple):
    """How much processor time training and predicting took; nan where nobody knows."""

    fit: float = math.nan
    predict: float = math.nan


class RequestedRow(NamedTuple):
    """A row that was asked for: the name of its data, its task, the task that it is compared with."""

    label: str
    task: Task
    reference: Task
    confidence: float


class EvaluationResults:
    """Outcomes by task; what is put is in the store at once."""

    def __init__(self, store: Store | None) -> None:
        self.store = store
        self._outcomes: dict[str, Outcome | None] = {}
        self._seconds: dict[str, Seconds] = {}
        self._test_sets: dict[str, TestSet] = {}
        self._folds: dict[str, dict[int, FoldRecord]] = {}
        if store is not None:
            kinds = {task_kind(record.definition) for record in store.tasks()} - {KIND}
            if kinds:
                raise parameter_error(
                    "evaluate", "store", "a store of evaluations", f"{store.path}, which holds a {kinds.pop()}"
                )
            for request in store.requests():
                self._seconds[request.task] = read_settings(request.settings)[2]

    def add_test_set(self, test_set: TestSet) -> None:
        """Make a test set known."""
        if test_set.digest not in self._test_sets:
            self._test_sets[test_set.digest] = test_set
            if self.store is not None:
                self.store.add_oracles([test_set.record])

    def test_set(self, task: Task) -> TestSet:
        """Return the test set of a task."""
        digest = task.exam_digest
        if digest not in self._test_sets and self.store is not None:
            self._test_sets[digest] = exam_of(self.store, digest)
        return self._test_sets[digest]

    def want(self, rows: list[RequestedRow]) -> None:
        """Write down what was asked for, before the work begins; a row that was asked for before keeps its place."""
        if self.store is None:
            return
        tasks = [task for row in rows for task in (row.task, row.reference)]
        self.store.add_tasks({task.id: TaskRecord(task.id, task.definition) for task in tasks}.values())
        with self.store.writing("add requests to") as transaction:  # places are given out while nobody else can
            known = {request.task: request for request in self.store.requests()}
            place = max((request.place for request in known.values()), default=-1) + 1
            for row in rows:
                old = known.get(row.task.id)
                label = row.label if old is None else read_settings(old.settings)[0]
                settings = self._settings(row.task, label, row.confidence)
                where = place if old is None else old.place
                known[row.task.id] = Request(where, row.task.id, row.reference.id, settings)
                transaction.put_request(validation.request_row(known[row.task.id]))
                place += old is None

    def _settings(self, task: Task, label: str, confidence: float) -> str:
        seconds = {name: None if math.isnan(value) else value for name, value in self.seconds(task)._asdict().items()}
        return json.dumps({"label": label, "confidence": confidence, **seconds}, sort_keys=True)

    def outcome(self, task: Task) -> Outcome | None:
        """Return the outcome of a task; None while there is none."""
        if task.id not in self._outcomes and self.store is not None:
            blocks = [block for block in self.store.blocks(task.id).values() if block.block < FIRST_FOLD]
            self._outcomes[task.id] = _outcome_of(blocks, self.test_set(task))
        return self._outcomes.get(task.id)

    def seconds(self, task: Task) -> Seconds:
        """Return how long a task took."""
        return self._seconds.get(task.id, Seconds())

    def put(self, task: Task, outcome: Outcome, seconds: Seconds) -> None:
        """Enter an outcome, for good where there is a store."""
        self._outcomes[task.id], self._seconds[task.id] = outcome, seconds
        if self.store is not None:
            self.store.record(_blocks_of(task.id, outcome))
            self._put_seconds(task)

    def folds(self, task: Task) -> dict[int, FoldRecord]:
        """Return the folds of a task that are done; none of one that a store of an earlier version has."""
        if task.id not in self._folds:
            blocks = [] if self.store is None else list(self.store.blocks(task.id).values())
            self._folds[task.id] = folds_in(blocks, task, self.test_set(task))
        return self._folds[task.id]

    def put_fold(self, task: Task, number: int, record: FoldRecord) -> None:
        """Enter what a fold gave, for good where there is a store."""
        self.folds(task)[number] = record
        if self.store is not None:
            self.store.record([block_of(task, number, record)])

    def add_seconds(self, task: Task, more: Seconds) -> None:
        """Add to the time that a task took."""
        before = (0.0 if math.isnan(value) else value for value in self.seconds(task))
        self._seconds[task.id] = Seconds(*(a + b for a, b in zip(before, more, strict=True)))
        self._put_seconds(task)

    def _put_seconds(self, task: Task) -> None:
        """Write down how long a task took, if it was asked for."""
        if self.store is None:
            return
        old = next((request for request in self.store.requests() if request.task == task.id), None)
        if old is not None:
            label, confidence, _ = read_settings(old.settings)
            self.store.put_requests([old._replace(settings=self._settings(task, label, confidence))])

    def wanted(self, left_out: list[str] | None = None) -> list[RequestedRow]:
        """Return the rows that a store was asked for, in order.

        Rows that were computed by rules of an earlier version are left out, and the decoders and reductions of those
        that were not computed again are added to `left_out`. Where that is None, they are rejected.
        """
        if self.store is None:
            return []
        records = {record.id: record for record in self.store.tasks()}
        rows, superseded = [], []
        for request in self.store.requests():
            label, confidence, _ = read_settings(request.settings)
            try:
                task, reference = (task_of(records[each]) for each in (request.task, request.reference or request.task))
            except SupersededError as error:
                if left_out is None:
                    raise
                superseded.append((records[request.task].definition, error.spec))
                continue
            rows.append(RequestedRow(label, task, reference, confidence))
        if left_out is not None:
            current = [(row.task.definition, _rules_of(row.task)) for row in rows]
            left_out += not_computed_again(superseded, current)
        return rows


def _rules_of(task: Task) -> str:
    """Return what has rules that can change: the decoder or, where there is none, the reduction."""
    return task.reduction if task.decoder is None else task.decoder.spec


def _blocks_of(task: str, outcome: Outcome) -> list[BlockRecord]:
    """Return an outcome as blocks of rows; the sums stand in the first."""
    blocks = []
    for block, first in enumerate(range(0, len(outcome.named), BLOCK_ROWS)):
        named = outcome.named[first : first + BLOCK_ROWS]
        costs = (outcome.queries, outcome.distinct, outcome.rounds) if block == 0 else (0.0,) * COSTS
        blocks.append(BlockRecord(task, block, len(named), (*costs, *map(float, named))))
    return blocks


def _outcome_of(blocks: list[BlockRecord], test_set: TestSet) -> Outcome | None:
    """Put blocks together, believing nothing; None when some are not there."""
    if not blocks:
        return None
    wrong = parameter_error("store", "block", "results as pairsim writes them", "other numbers")
    rows = len(test_set.truth)
    if [record.block for record in blocks] != list(range(math.ceil(rows / BLOCK_ROWS))):
        raise wrong
    if any(len(record.values) != COSTS + record.trials for record in blocks):
        raise wrong
    numbers = np.concatenate([record.values[COSTS:] for record in blocks])
    if len(numbers) != rows or not ((numbers >= 0) & (numbers < 2**31) & (numbers == np.floor(numbers))).all():
        raise wrong
    costs = [math.fsum(record.values[k] for record in blocks) for k in range(COSTS)]
    if not all(math.isnan(cost) or 0.0 <= cost < math.inf for cost in costs):
        raise wrong
    return Outcome(numbers.astype(np.int64), *costs)


def read_settings(text: str) -> tuple[str, float, Seconds]:
    """Read the settings of a request, label and confidence and times, believing nothing."""
    try:
        parts: dict[str, Any] = json.loads(text)
        label, confidence = parts["label"], float(parts["confidence"])
        seconds = Seconds(*(math.nan if parts[name] is None else float(parts[name]) for name in Seconds._fields))
        good = isinstance(label, str) and label.isprintable() and 0.0 < confidence < 1.0
        good = good and all(math.isnan(value) or 0.0 <= value < math.inf for value in seconds)
    except (ValueError, TypeError, LookupError, AttributeError):
        good = False
    if not good:
        raise parameter_error("store", "request", "as pairsim writes it", repr(text[:200]))
    return label, confidence, seconds
