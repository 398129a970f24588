"""Results, wherever they are: a store or a table."""

from __future__ import annotations

from pathlib import Path

from pairsim.errors import parameter_error
from pairsim.store import Store, is_store
from pairsim.sweeps.files import TABLE_SUFFIXES, read_table
from pairsim.sweeps.requests import stored_rows
from pairsim.sweeps.rows import Row, from_frame


def names_a_store(path: Path) -> bool:
    """Say whether a path is a store, or would be one by its name; a table is told by its ending."""
    return is_store(path) or path.suffix.lower() not in TABLE_SUFFIXES


def read_rows(path: Path, left_out: list[str] | None = None) -> list[Row]:
    """Return the rows of a store or of a table.

    `left_out` is that of `stored_cells`.
    """
    check_exists(path)
    if not names_a_store(path):
        return read_table_rows(path)
    with Store.read(path) as store:
        return rows_of_store(store, path, left_out)


def check_exists(path: Path) -> None:
    """Reject a file that is not there."""
    if not path.exists():
        raise parameter_error("read", "file", "a results store or table that exists", repr(str(path)))


def read_table_rows(path: Path) -> list[Row]:
    """Return the rows of a table."""
    return from_frame(read_table(path))


def rows_of_store(store: Store, path: Path, left_out: list[str] | None = None) -> list[Row]:
    """Return the rows of an open store, which `path` names in errors; reject one that has none."""
    rows = stored_rows(store, left_out)
    if not rows:
        why = "whose rows are all skipped" if left_out else "in which no block is finished yet"
        raise parameter_error("read", "file", "a store with results", f"{str(path)!r}, {why}")
    return rows
