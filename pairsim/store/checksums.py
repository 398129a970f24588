"""Every row carries a checksum over its table's name and all its columns, and no row is read without it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pairsim.store.errors import damaged
from pairsim.store.schema import Table

Row = tuple[Any, ...]


def row_checksum(table: str, columns: Sequence[Any]) -> bytes:
    """Return the 8-byte checksum of a row; kind and length go first, so that no two rows are written alike.

    Examples
    --------
    >>> row_checksum("tasks", ("ab", "c")) == row_checksum("tasks", ("a", "bc"))
    False
    """
    parts = [table.encode()]
    for column in columns:
        if isinstance(column, int):
            parts.append(b"i%d;" % column)
        elif isinstance(column, str):
            text = column.encode()
            parts += (b"t%d:" % len(text), text)
        elif column is None:
            parts.append(b"n;")
        else:
            parts += (b"b%d:" % len(column), column)
    return hashlib.blake2b(b"".join(parts), digest_size=8).digest()


def sealed(table: Table, columns: Row) -> Row:
    """Return the row with its checksum."""
    return (*columns, row_checksum(table.name, columns))


def check_seal(path: Path, table: Table, row: Row) -> None:
    """Reject the file that a row was read from, unless its checksum is right."""
    if tuple(map(type, row)) not in table.kinds or row[-1] != row_checksum(table.name, row[:-1]):
        raise damaged(path, f"{place_of(table, row)} has a wrong checksum")


def place_of(table: Table, row: Row) -> str:
    """Say which row of which table it is, on one short line whatever the key holds."""
    key = ", ".join(ascii(value)[:60] for value in row[: table.keys])
    return f"the row ({key}) of table {table.name!r}"
