"""Folds on worker processes: results, errors, and no more processes than needed."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import engine_work as work
import pytest

from pairsim.evaluation.fold_workers import FoldWorkers


def test_what_a_unit_raises_is_raised_here_and_nobody_is_left(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="run 0 of unit 2"), FoldWorkers(work.raise_as_told, 2) as workers:
        list(workers.run(str(tmp_path), [(0, 0), (1, 0), (2, 9), (3, 0)]))
    assert not [child for child in multiprocessing.active_children() if child.name == "pairsim-worker"]


def test_workers_stay_while_the_context_is_the_same(tmp_path: Path) -> None:
    def seen(workers: FoldWorkers, context: str, meeting: str) -> set[int]:
        folder = tmp_path / meeting
        folder.mkdir()
        return set(workers.run(context, [(str(folder), 2)] * 8))

    with FoldWorkers(work.meet, 2) as workers:
        first, again, other = seen(workers, "a", "first"), seen(workers, "a", "again"), seen(workers, "b", "other")
    assert len(first) == 2
    assert first == again
    assert not first & other
