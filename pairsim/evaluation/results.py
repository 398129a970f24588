"""Results of evaluations, wherever they are: a store or a table."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from pairsim.decoders import Decoder
from pairsim.errors import ParameterError, refusal
from pairsim.evaluation.outcomes import Ledger, Wanted
from pairsim.evaluation.rows import EVALUATION_TABLE, Comparison, Row, compare, make_row
from pairsim.evaluation.tasks import KIND
from pairsim.store import Store, is_store, task_kind
from pairsim.tables import TABLE_SUFFIXES, read_frame


def is_evaluation(path: Path) -> bool:
    """Say whether a file holds evaluations rather than a sweep; what is neither is for others to complain about."""
    if is_store(path):
        with Store.read(path) as store:
            return any(task_kind(record.definition) == KIND for record in store.tasks()[:1])
    if path.suffix.lower() not in TABLE_SUFFIXES or not path.is_file():
        return False
    try:
        frame = read_frame(path)
    except ParameterError:
        return False
    return frame is not None and list(frame.columns) == list(EVALUATION_TABLE.columns)


def read_evaluation(path: Path) -> tuple[list[Row], list[Comparison]]:
    """Return the rows of a store or of a table, and every two side by side where they are known row by row."""
    if not is_store(path):
        records: list[dict[Any, Any]] = EVALUATION_TABLE.read(path).to_dict(orient="records")
        return [Row(**record) for record in records], []
    with Store.read(path) as store:
        rows, comparisons = stored_evaluation(store)
    if not rows:
        raise refusal("read", "file", "a store with results", f"{str(path)!r}, in which nothing is finished yet")
    return rows, comparisons


def stored_evaluation(store: Store) -> tuple[list[Row], list[Comparison]]:
    """Return the rows that a store was asked for, as far as they are known, and every two side by side."""
    ledger = Ledger(store)
    wanted = ledger.wanted()
    rows = (make_row(each, ledger) for each in wanted)
    return [row for row in rows if row is not None], compare(wanted, ledger)


def stored_tasks(store: Store) -> list[dict[str, Any]]:
    """Return the tasks that a store was asked for, with their ids and whether they are finished."""
    ledger = Ledger(store)
    return [
        {
            "task": each.task.id,
            "data": each.label,
            "reduction": each.task.reduction,
            "estimator": each.task.estimator_spec,
            "decoder": "" if each.task.decoder is None else each.task.decoder.spec,
            "split": each.task.split,
            "seed": each.task.seed,
            "state": "open" if ledger.outcome(each.task) is None else "finished",
        }
        for each in ledger.wanted()
    ]


def compare_decoders(store: Store, one: Decoder, two: Decoder) -> list[Comparison]:
    """Return two decoders side by side on every model in a store that was evaluated with both."""
    ledger = Ledger(store)
    models: dict[str, dict[str, Wanted]] = {}
    for each in ledger.wanted():
        if each.task.decoder in (one, two):
            model = dataclasses.replace(each.task, decoder=None).id
            models.setdefault(model, {})[each.task.decoder.spec] = each
    both = [found for found in models.values() if len(found) == 2]
    if not both:
        raise refusal("compare", "decoders", "two that a model in the store has both", f"{one.spec}, {two.spec}")
    return [each for found in both for each in compare([found[one.spec], found[two.spec]], ledger)]
