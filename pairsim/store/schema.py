"""The tables of a store.

Every table is one clustered B-tree (`WITHOUT ROWID`), without any index beside it: there is no second copy of a key
that damage could set at odds with the first, and a walk over a table meets every byte that a look-up can use.
"""

from __future__ import annotations

import itertools
import sqlite3

APPLICATION_ID = 0x7053494D  # "pSIM"
FORMAT = 1  # PRAGMA user_version
TEXT_LIMIT = 1 << 24
ARRAYS_LIMIT = 1 << 31  # bytes of all arrays of a store, not compressed
WHOLE_LIMIT = (1 << 63) - 1
NO_MIX = bytes(8)


class Table:
    """A table: its columns with their Python types, of which the first `keys` are the primary key.

    Examples
    --------
    >>> TALLY.find
    'SELECT name, entries, mix, checksum FROM tally WHERE name = ?'
    """

    def __init__(self, name: str, keys: int, columns: dict[str, tuple[type, ...]], *checks: str) -> None:
        self.name = name
        self.keys = keys
        self.names = (*columns, "checksum")
        self.kinds = frozenset(itertools.product(*columns.values(), (bytes,)))
        self.select = f"SELECT {', '.join(self.names)} FROM {name}"
        self.find = f"{self.select} WHERE {' AND '.join(f'{column} = ?' for column in self.names[:keys])}"
        self.insert = self.insert_all(1)
        self._columns = columns
        self._checks = (*checks, "length(checksum) = 8")

    def insert_all(self, rows: int) -> str:
        """Return the statement that writes so many rows."""
        return f"INSERT OR REPLACE INTO {self.name} VALUES {_marks(rows, len(self.names))}"

    def find_all(self, keys: int) -> str:
        """Return the statement that reads the rows with so many keys, each looked up on its own."""
        wanted = [f"k{place}" for place in range(self.keys)]
        same = " AND ".join(f"{self.name}.{name} = {key}" for name, key in zip(self.names, wanted, strict=False))
        columns = ", ".join(f"{self.name}.{name}" for name in self.names)
        values = f"wanted({', '.join(wanted)}) AS (VALUES {_marks(keys, self.keys)})"
        return f"WITH {values} SELECT {columns} FROM wanted CROSS JOIN {self.name} ON {same}"

    def create(self, strict: bool) -> str:
        """Return the text of the table's definition, which is kept in the file and must be found there as it is."""
        sql = {str: "TEXT", int: "INTEGER", bytes: "BLOB"}
        lines = [
            f"{name} {sql[types[0]]}{'' if type(None) in types else ' NOT NULL'}"
            for name, types in (self._columns | {"checksum": _BLOB}).items()
        ]
        lines += [f"CHECK ({check})" for check in self._checks]
        lines.append(f"PRIMARY KEY ({', '.join(self.names[: self.keys])})")
        return f"CREATE TABLE {self.name} ({', '.join(lines)}) {'STRICT, ' if strict else ''}WITHOUT ROWID"


def _marks(rows: int, columns: int) -> str:
    """Return the places of so many rows of values in a statement."""
    return ", ".join([f"({', '.join('?' * columns)})"] * rows)


_TEXT: tuple[type, ...] = (str,)
_WHOLE: tuple[type, ...] = (int,)
_BLOB: tuple[type, ...] = (bytes,)
_MEASURED = ("block >= 0", "trials >= 1", "length(data) % 8 = 0")

ORACLES = Table("oracles", 1, {"digest": _TEXT, "name": _TEXT, "params": _TEXT})
ARRAYS = Table("arrays", 2, {"oracle": _TEXT, "name": _TEXT, "data": _BLOB})
TASKS = Table("tasks", 1, {"id": _TEXT, "place": _WHOLE, "definition": _TEXT}, "place >= 0")
_RESULT = {"block": _WHOLE, "trials": _WHOLE, "data": _BLOB}
BLOCKS = Table("blocks", 2, {"task": _TEXT} | _RESULT, *_MEASURED)
PAIRS = Table("pairs", 3, {"first": _TEXT, "second": _TEXT} | _RESULT, *_MEASURED)
_REFERENCE: tuple[type, ...] = (str, type(None))
REQUESTS = Table(
    "requests", 1, {"task": _TEXT, "place": _WHOLE, "reference": _REFERENCE, "settings": _TEXT}, "place >= 0"
)
RUNS = Table("runs", 1, {"number": _WHOLE} | dict.fromkeys(("started", "command", "versions", "host"), _TEXT))
CONTENT = (ORACLES, ARRAYS, TASKS, BLOCKS, PAIRS, REQUESTS, RUNS)  # what is referred to goes first

# How many rows each table holds, and the exclusive or of their checksums: a row that is lost without trace is missed.
TALLY = Table("tally", 1, {"name": _TEXT, "entries": _WHOLE, "mix": _BLOB}, "entries >= 0", "length(mix) = 8")


def schema_text(strict: bool) -> list[str]:
    """Return the definitions of all tables, in the order of their names."""
    return [table.create(strict) for table in sorted((*CONTENT, TALLY), key=lambda table: table.name)]


def create_tables(connection: sqlite3.Connection) -> None:
    """Define the tables in a new, empty database."""
    for text in schema_text(strict=sqlite3.sqlite_version_info >= (3, 37)):
        connection.execute(text)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")


def is_our_schema(connection: sqlite3.Connection) -> bool:
    """Tell whether the database defines our tables and nothing else: no trigger, view, index or other table."""
    found = connection.execute("SELECT type, sql FROM sqlite_master ORDER BY name LIMIT 20").fetchall()
    return any(found == [("table", text) for text in schema_text(strict)] for strict in (True, False))
