"""What one fold gave, as a block of its task: predictions, the sizes of the binary problems, the settings chosen.

The blocks of folds stand behind those of the whole task, which have been there since the first version: a store of an
earlier version lacks them and stays readable, and a cross-validation that was interrupted resumes at the next fold.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsim.errors import parameter_error
from pairsim.evaluation.folds import OFFICIAL, folds_of
from pairsim.evaluation.specs import Settings
from pairsim.evaluation.tasks import Task, TestSet
from pairsim.store import BlockRecord

FIRST_FOLD = 1 << 30  # the number of the first fold's block
SIZES = 2


class FoldRecord(NamedTuple):
    """The class that was predicted for each row of a fold, in order, and what was trained for that.

    `problems` and `problem_rows` are number and mean size of the binary problems that were trained; nan where the
    classifier does not say. `places` are those of the chosen settings on the axes of the search.
    """

    named: NDArray[np.int64]
    problems: float = math.nan
    problem_rows: float = math.nan
    places: tuple[int, ...] = ()


def sizes_of(model: Any) -> tuple[float, float]:
    """Return number and mean size of the binary problems that a fitted classifier has trained.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> sizes_of(SimpleNamespace(problem_rows_=[10, 20, 30])), sizes_of(None)
    ((3.0, 20.0), (nan, nan))
    """
    rows = np.asarray(getattr(model, "problem_rows_", ()))
    return (float(len(rows)), float(rows.mean())) if rows.size else (math.nan, math.nan)


def fold_numbers(split: str, truth: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the fold of each row of a test set; all are of one where the authors of the data made the split."""
    return np.zeros(len(truth), np.int64) if split == OFFICIAL else folds_of(split, truth)


def block_of(task: Task, number: int, record: FoldRecord) -> BlockRecord:
    """Return the record of a fold as the store keeps it."""
    values = (record.problems, record.problem_rows, *record.places, *record.named)
    return BlockRecord(task.id, FIRST_FOLD + number, len(record.named), tuple(map(float, values)))


def folds_in(blocks: Iterable[BlockRecord], task: Task, test_set: TestSet) -> dict[int, FoldRecord]:
    """Return the folds among a task's blocks, believing nothing."""
    listed = [block for block in blocks if block.block >= FIRST_FOLD]
    if not listed:
        return {}
    sizes = np.bincount(fold_numbers(test_set.split, test_set.truth))
    axes = () if task.tuning is None else task.tuning.axes
    found = {}
    for block in listed:
        number = block.block - FIRST_FOLD
        if number >= len(sizes) or len(block.values) != SIZES + len(axes) + sizes[number]:
            raise _wrong()
        numbers = np.asarray(block.values)
        ends = SIZES, SIZES + len(axes)
        whole = numbers[SIZES:]
        if not (np.isfinite(whole).all() and (whole == np.floor(whole)).all() and (np.abs(whole) < 2**31).all()):
            raise _wrong()
        places = tuple(map(int, numbers[ends[0] : ends[1]]))
        named = numbers[ends[1] :].astype(np.int64)
        amounts = numbers[:SIZES]
        good = all(axis.has(place) for axis, place in zip(axes, places, strict=True)) and (named >= 0).all()
        if not good or not (np.isnan(amounts) | (amounts > 0.0) & (amounts < math.inf)).all():
            raise _wrong()
        found[number] = FoldRecord(named, float(amounts[0]), float(amounts[1]), places)
    return found


def _wrong() -> Exception:
    return parameter_error("store", "block", "results as pairsim writes them", "other numbers")


class Trained(NamedTuple):
    """What all folds together trained: mean number and mean size of binary problems, and each fold's settings."""

    problems: float = math.nan
    problem_rows: float = math.nan
    settings: tuple[Settings, ...] = ()


def trained_in(task: Task, records: Sequence[FoldRecord]) -> Trained:
    """Return what the folds trained; nothing is known of the folds of earlier versions' stores."""
    if not records:
        return Trained()
    problems = math.fsum(each.problems for each in records) / len(records)
    rows = math.fsum(each.problem_rows for each in records) / len(records)
    if task.tuning is None:
        return Trained(problems, rows)
    return Trained(problems, rows, tuple(task.tuning.settings(each.places) for each in records))
