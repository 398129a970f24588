"""Hostile and foreign files: what passes for a store and is none is rejected, and never changed."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import stat
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from store_content import IDS, REFUSED, content, make_store, outcome, quick_folder

from pairsim.errors import ParameterError
from pairsim.store import Store, StoreError, checksums, is_store, merge_stores
from pairsim.store.schema import CONTENT, RUNS, TALLY, Table, schema_text


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Thousands of small files: in memory."""
    with quick_folder() as folder:
        yield folder


@pytest.fixture
def edited(tmp_path: Path) -> Callable[..., Any]:
    """Give a function that edits a store with SQL, seals everything anew where asked, and reads it."""
    path = make_store(tmp_path / "a.store")

    def edit(change: Callable[[sqlite3.Connection], object], *, reseal: bool, write: bool = False) -> Any:
        with closing(sqlite3.connect(path, isolation_level=None)) as sqlite:
            sqlite.execute("PRAGMA ignore_check_constraints = ON")
            change(sqlite)
            if reseal:
                for table in CONTENT:
                    seal_anew(sqlite, table)
        return outcome(path, write=write)

    return edit


def seal_anew(sqlite: sqlite3.Connection, table: Table) -> None:
    """Give every row of a table the checksum that it should have, and the tally too: what a forger would do."""
    sqlite.text_factory = lambda data: data.decode(errors="surrogateescape")
    mix = 0
    rows = sqlite.execute(table.select).fetchall()
    for row in rows:
        plain = tuple(value.encode(errors="replace").decode() if isinstance(value, str) else value for value in row)
        checksum = checksums.row_checksum(table.name, plain[:-1])
        mix ^= int.from_bytes(checksum)
        where = " AND ".join(f"{name} IS ?" for name in table.names[: table.keys])
        sqlite.execute(f"UPDATE {table.name} SET checksum = ? WHERE {where}", (checksum, *plain[: table.keys]))
    tally = (table.name, len(rows), mix.to_bytes(8))
    sqlite.execute(TALLY.insert, (*tally, checksums.row_checksum(TALLY.name, tally)))


def run(*statements: str) -> Callable[[sqlite3.Connection], None]:
    def change(sqlite: sqlite3.Connection) -> None:
        for statement in statements:
            sqlite.execute(statement)

    return change


CHANGE_VALUES = run("UPDATE blocks SET data = zeroblob(16) WHERE block = 7")
DELETE_ROW = run("DELETE FROM blocks WHERE block = 7")


def test_a_forged_store_is_read_as_forged(edited: Callable[..., Any]) -> None:
    """The control: checksums keep accidents out, not forgers, and what is read is what the file says."""
    held = edited(CHANGE_VALUES, reseal=True)
    assert held["blocks"][IDS[3]][7] == (IDS[3], 7, 107, bytes(16))
    held = edited(DELETE_ROW, reseal=True)
    assert 7 not in held["blocks"][IDS[3]]


@pytest.mark.parametrize(
    "change",
    [
        CHANGE_VALUES,
        DELETE_ROW,
        run("UPDATE blocks SET block = 1000 WHERE block = 7"),
        run("UPDATE blocks SET trials = trials + 1 WHERE block = 7"),
        run("UPDATE requests SET reference = NULL"),
        run("UPDATE tasks SET place = 4 - place"),
        run("DELETE FROM runs"),
        run("DELETE FROM arrays WHERE name = 'P'"),
        run("DELETE FROM tally WHERE name = 'runs'"),
        run("UPDATE tally SET entries = 51 WHERE name = 'blocks'"),
        run("INSERT INTO tally SELECT 'more', entries, mix, checksum FROM tally LIMIT 1"),
    ],
)
def test_a_row_that_was_changed_or_lost_is_missed(edited: Callable[..., Any], change: Any) -> None:
    assert edited(run(), reseal=True) != REFUSED
    assert edited(change, reseal=False) == REFUSED


BAD_SCHEMAS = {
    "trigger": run("CREATE TRIGGER t AFTER INSERT ON blocks BEGIN DELETE FROM blocks; END"),
    "view": run("CREATE VIEW v AS SELECT * FROM blocks"),
    "table": run("CREATE TABLE more (x)"),
    "index": run("CREATE INDEX i ON blocks (block)"),
    "statistics": run("ANALYZE"),
    "view in place of a table": run("ALTER TABLE runs RENAME TO r", "CREATE VIEW runs AS SELECT * FROM r"),
    "view only": run("DROP TABLE runs", f"CREATE VIEW runs AS SELECT {', '.join(f'1 AS {n}' for n in RUNS.names)}"),
    "missing table": run("DROP TABLE runs"),
    "another column": run("ALTER TABLE runs ADD COLUMN more TEXT"),
    "other text": run("PRAGMA writable_schema = ON", "UPDATE sqlite_master SET sql = replace(sql, '>= 1', '>= 0')"),
    "nonsense": run("PRAGMA writable_schema = ON", "UPDATE sqlite_master SET sql = 'CREATE nonsense'"),
    "no text": run("PRAGMA writable_schema = ON", "UPDATE sqlite_master SET sql = NULL WHERE name = 'runs'"),
    "many tables": run(*(f"CREATE TABLE t{number} (x)" for number in range(100))),
    "future version": run("PRAGMA user_version = 2"),
    "no version": run("PRAGMA user_version = 0"),
    "negative version": run("PRAGMA user_version = -1"),
    "other application": run("PRAGMA application_id = 7"),
    "other journal mode": run("PRAGMA journal_mode = WAL"),
}


@pytest.mark.parametrize("change", BAD_SCHEMAS.values(), ids=list(BAD_SCHEMAS))
@pytest.mark.parametrize("write", [False, True])
def test_a_store_that_defines_anything_else_is_refused(edited: Callable[..., Any], change: Any, write: bool) -> None:
    assert edited(change, reseal=False, write=write) == REFUSED


LONG = '"' + "x" * (1 << 24) + '"'
BAD_CONTENT = {
    "settings that are no JSON": run("UPDATE requests SET settings = '{'"),
    "params that are no JSON": run("UPDATE oracles SET params = ''"),
    "endless JSON": lambda s: s.execute("UPDATE requests SET settings = ?", ("[" * 100_000,)),
    "huge JSON": lambda s: s.execute("UPDATE requests SET settings = ?", (LONG,)),
    "other definition": run("""UPDATE tasks SET definition = '{"task":9}' WHERE place = 0"""),
    "definition that is no JSON": run("UPDATE tasks SET definition = 'x'"),
    "no such task": run("UPDATE blocks SET task = 'ab' WHERE block = 7"),
    "no such pair": run("UPDATE pairs SET second = 'ab'"),
    "no such reference": run("UPDATE requests SET reference = 'ab'"),
    "no such oracle": run("UPDATE arrays SET oracle = 'ab'"),
    "negative block": run("UPDATE blocks SET block = -1 WHERE block = 7"),
    "no trials": run("UPDATE blocks SET trials = 0 WHERE block = 7"),
    "no trials of a pair": run("UPDATE pairs SET trials = 0"),
    "part of a number": run("UPDATE blocks SET data = x'00' WHERE block = 7"),
    "negative place": run("UPDATE requests SET place = -1"),
    "text that is not UTF-8": run("UPDATE runs SET host = CAST(x'ff' AS TEXT)"),
    "key that is not UTF-8": run("UPDATE oracles SET digest = CAST(x'ffc0' AS TEXT) WHERE digest = 'beef'"),
    "array that lies": run("UPDATE arrays SET data = x'789c' WHERE name = 'P'"),
    "array that is none": run("UPDATE arrays SET data = x'' WHERE name = 'P'"),
}


@pytest.mark.parametrize("change", BAD_CONTENT.values(), ids=list(BAD_CONTENT))
def test_forged_rows_that_make_no_sense_are_refused(edited: Callable[..., Any], change: Any) -> None:
    assert edited(change, reseal=True) == REFUSED


@pytest.mark.parametrize(
    ("change", "accepted"),
    [
        ("UPDATE blocks SET trials = 5 WHERE block = 7", True),
        ("UPDATE blocks SET trials = 'many' WHERE block = 7", False),
        ("UPDATE blocks SET data = 'sixteen letters.' WHERE block = 7", False),
        ("UPDATE blocks SET block = 0.5 WHERE block = 7", False),
        ("UPDATE tasks SET id = CAST(id AS BLOB)", False),
        ("UPDATE runs SET host = x'00'", False),
        ("UPDATE blocks SET data = 7 WHERE block = 7", False),
    ],
)
def test_columns_of_the_wrong_kind_are_refused(tmp_path: Path, change: str, accepted: bool) -> None:
    """A file from an SQLite without STRICT tables is ours too, and its columns may hold anything."""
    good = make_store(tmp_path / "good")
    path = tmp_path / "a.store"
    with closing(sqlite3.connect(path, isolation_level=None)) as sqlite, closing(sqlite3.connect(good)) as source:
        for text in schema_text(strict=False):
            sqlite.execute(text)
        for table in (*CONTENT, TALLY):
            sqlite.executemany(table.insert, source.execute(table.select).fetchall())
        for name in ("application_id", "user_version"):
            sqlite.execute(f"PRAGMA {name} = {source.execute(f'PRAGMA {name}').fetchone()[0]}")
    expected = content(good)
    good.unlink()
    assert outcome(path) == expected
    with closing(sqlite3.connect(path, isolation_level=None)) as sqlite:
        sqlite.execute("PRAGMA ignore_check_constraints = ON")
        sqlite.execute(change)
        if "0.5" not in change:  # there is no checksum of a row with a fraction in it
            for table in CONTENT:
                seal_anew(sqlite, table)
    assert (outcome(path) != REFUSED) == accepted


def _foreign_files(folder: Path) -> Iterator[Path]:
    for name, data in (("empty", b""), ("text", b"a,b\n1,2\n"), ("noise", random.Random(3).randbytes(9000))):
        (folder / name).write_bytes(data)
    with zipfile.ZipFile(folder / "zip", "w") as archive:
        archive.writestr("a", "b")
    with closing(sqlite3.connect(folder / "sqlite")) as sqlite:
        sqlite.execute("CREATE TABLE blocks (x)")
    with closing(sqlite3.connect(folder / "wal")) as sqlite:
        sqlite.execute("PRAGMA journal_mode = WAL")
        sqlite.execute("CREATE TABLE blocks (x)")
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    yield from sorted(folder.iterdir())


def test_foreign_files_are_refused_and_left_alone(tmp_path: Path) -> None:
    for number, path in enumerate(_foreign_files(tmp_path)):
        home = tmp_path / f"home{number}"
        home.mkdir()
        moved = shutil.move(path, home / path.name)
        regular = stat.S_ISREG(moved.stat().st_mode)
        before = moved.read_bytes() if regular else b"", moved.stat().st_mtime_ns
        for use in (Store.read, Store.create_or_open, lambda path: merge_stores([path], path.with_name("out"))):
            with pytest.raises(
                ParameterError, match=r"^The 'path' parameter of Store must be a .*store, not an.* file\. Got"
            ):
                use(moved)
        assert not is_store(moved)
        assert (moved.read_bytes() if regular else b"", moved.stat().st_mtime_ns) == before
        assert os.listdir(home) == [path.name]
    assert number == 7


@pytest.mark.parametrize("path", [None, 7, "a\0b"])
def test_paths_that_are_none_are_refused(path: Any) -> None:
    for use in (Store.read, Store.create_or_open):
        with pytest.raises(ParameterError, match="'path' parameter of Store"):
            use(path)


def test_a_path_too_long_for_the_system_is_said(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="File name too long"):
        Store.create_or_open(tmp_path / ("x" * 300))
    with pytest.raises(StoreError, match="File name too long"):
        Store.read(tmp_path / ("x" * 300))
    with pytest.raises(ParameterError, match="in a directory that exists"):
        Store.create_or_open(tmp_path / "none" / "a.store")
    with pytest.raises(ParameterError, match="a file that exists"):
        Store.read(tmp_path / "none" / "a.store")
    assert os.listdir(tmp_path) == []


def test_the_messages_are_these(tmp_path: Path) -> None:
    path = make_store(tmp_path / "a.store")
    good = path.read_bytes()

    def message(change: Callable[[], object]) -> str:
        path.write_bytes(good)
        change()
        with pytest.raises(ParameterError) as refused:
            Store.read(path)
        return str(refused.value)

    def edit(*statements: str) -> Callable[[], None]:
        def change() -> None:
            with closing(sqlite3.connect(path, isolation_level=None)) as sqlite:
                run(*statements)(sqlite)

        return change

    advice = "Restore a copy, or run its sweep again into a new file."
    start = "The 'path' parameter of Store must be"
    assert message(edit("UPDATE blocks SET trials = 1 WHERE block = 7")) == (
        f"{path} is damaged: the row ('{IDS[3]}', 7) of table 'blocks' has a wrong checksum. {advice}"
    )
    assert message(edit("DELETE FROM blocks WHERE block = 7")) == (
        f"{path} is damaged: table 'blocks' does not hold the rows that were put there. {advice}"
    )
    assert message(edit("PRAGMA user_version = 2")) == (
        f"{start} a store of format 1 or older: this one needs a newer pairsim. Got {path} instead."
    )
    assert message(lambda: path.write_bytes(good[:-4096])).startswith(f"{path} is damaged: ")
    assert message(lambda: path.write_bytes(b"")) == f"{start} a store, not an empty file. Got {path} instead."
