"""Results of evaluations, wherever they are: a store or a table."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pairsim.datasets.preparing import SCALINGS
from pairsim.decoders import Decoder
from pairsim.errors import ParameterError, parameter_error
from pairsim.evaluation.outcomes import EvaluationResults, RequestedRow
from pairsim.evaluation.rows import EVALUATION_TABLE, Comparison, Row, compare, make_row
from pairsim.evaluation.tasks import KIND
from pairsim.store import Store, is_store, task_kind
from pairsim.tables import TABLE_SUFFIXES, read_frame


def is_evaluation(path: Path) -> bool:
    """Say whether a file holds evaluations rather than a sweep; what is neither is for others to complain about."""
    if is_store(path):
        with Store.read(path) as store:
            return has_evaluations(store)
    if path.suffix.lower() not in TABLE_SUFFIXES or not path.is_file():
        return False
    try:
        return read_frame(path, EVALUATION_TABLE.headers) is not None
    except ParameterError:
        return False


def has_evaluations(store: Store) -> bool:
    """Say whether an open store holds evaluations: its tasks are of one kind."""
    return any(task_kind(record.definition) == KIND for record in store.tasks()[:1])


def read_evaluation(path: Path, left_out: list[str] | None = None) -> tuple[list[Row], list[Comparison]]:
    """Return the rows of a store or of a table, and every two side by side where they are known row by row.

    `left_out` is that of `EvaluationResults.wanted`.
    """
    if not is_store(path):
        return read_evaluation_table(path), []
    with Store.read(path) as store:
        return evaluation_of_store(store, path, left_out)


def read_evaluation_table(path: Path) -> list[Row]:
    """Return the rows of a table."""
    records: list[dict[Any, Any]] = EVALUATION_TABLE.read(path).to_dict(orient="records")
    # earlier versions used McNemar's test on folds as well, where its p-value is wrong
    return [row if row.decoder else row._replace(mcnemar=math.nan) for row in (Row(**each) for each in records)]


def evaluation_of_store(
    store: Store, path: Path, left_out: list[str] | None = None
) -> tuple[list[Row], list[Comparison]]:
    """Return what `read_evaluation` does of an open store, which `path` names in errors."""
    rows, comparisons = stored_evaluation(store, left_out)
    if not rows:
        why = "whose rows are all skipped" if left_out else "in which nothing is finished yet"
        raise parameter_error("read", "file", "a store with results", f"{str(path)!r}, {why}")
    return rows, comparisons


def too_narrow(rows: Iterable[Row]) -> bool:
    """Say whether a table has intervals of cross-validated rows that an earlier version made of independent rows."""
    return any(not row.decoder and math.isnan(row.agreement_low) and row.agreement == row.agreement for row in rows)


def stored_evaluation(store: Store, left_out: list[str] | None = None) -> tuple[list[Row], list[Comparison]]:
    """Return the rows that a store was asked for, as far as they are known, and every two side by side."""
    results = EvaluationResults(store)
    wanted = results.wanted(left_out)
    rows = (make_row(each, results) for each in wanted)
    return [row for row in rows if row is not None], compare(wanted, results)


def stored_tasks(store: Store, left_out: list[str] | None = None) -> list[dict[str, Any]]:
    """Return the tasks that a store was asked for, with their ids and whether they are finished."""
    results = EvaluationResults(store)
    return [
        {
            "task": each.task.id,
            "data": each.label,
            "reduction": each.task.reduction,
            "estimator": each.task.estimator_spec,
            "decoder": "" if each.task.decoder is None else each.task.decoder.spec,
            "split": each.task.split,
            "seed": each.task.seed,
            "scaling": "" if each.task.scaling == SCALINGS[0] else each.task.scaling,
            "tuning": "" if each.task.tuning is None else str(each.task.tuning),
            "state": "open" if results.outcome(each.task) is None else "finished",
        }
        for each in results.wanted(left_out)
    ]


def compare_decoders(store: Store, one: Decoder, two: Decoder, left_out: list[str] | None = None) -> list[Comparison]:
    """Return two decoders side by side on every model in a store that was evaluated with both."""
    results = EvaluationResults(store)
    models: dict[str, dict[str, RequestedRow]] = {}
    for each in results.wanted(left_out):
        if each.task.decoder in (one, two):
            model = dataclasses.replace(each.task, decoder=None).id
            models.setdefault(model, {})[each.task.decoder.spec] = each
    both = [found for found in models.values() if len(found) == 2]
    if not both:
        raise parameter_error(
            "compare", "decoders", "two that a model in the store has both", f"{one.spec}, {two.spec}"
        )
    return [each for found in both for each in compare([found[one.spec], found[two.spec]], results)]
