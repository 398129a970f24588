"""What `show`, `plot`, `export` and `compare` are given: a store, opened and checked once, or a table."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pairsim.evaluation.rows import Comparison
    from pairsim.evaluation.rows import Row as EvaluationRow
    from pairsim.store import Store
    from pairsim.sweeps.rows import Row


class Results(NamedTuple):
    """Results of a sweep or of evaluations; `store` is None for a table."""

    path: Path
    store: Store | None
    evaluates: bool

    def rows(self, left_out: list[str] | None = None) -> list[Row]:
        """Return the rows of a sweep; `left_out` is that of `stored_cells`."""
        from pairsim.sweeps.results import read_table_rows, rows_of_store

        if self.store is None:
            return read_table_rows(self.path)
        return rows_of_store(self.store, self.path, left_out)

    def evaluation(self, left_out: list[str] | None = None) -> tuple[list[EvaluationRow], list[Comparison]]:
        """Return the rows of evaluations, and every two side by side where they are known row by row."""
        from pairsim.evaluation.results import evaluation_of_store, read_evaluation_table

        if self.store is None:
            return read_evaluation_table(self.path), []
        return evaluation_of_store(self.store, self.path, left_out)


@contextlib.contextmanager
def open_results(path: Path) -> Iterator[Results]:
    """Yield the results of a file; a store is open meanwhile."""
    from pairsim.evaluation.results import has_evaluations, is_evaluation
    from pairsim.sweeps.results import check_exists, names_a_store

    check_exists(path)
    if not names_a_store(path):
        yield Results(path, None, is_evaluation(path))
        return
    from pairsim.store import Store

    with Store.read(path) as store:
        yield Results(path, store, has_evaluations(store))
