"""How a store comes to be, and how it is opened: checked from end to end before anything is read from it."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Generator
from pathlib import Path
from typing import NamedTuple

from pairsim.drafts import begin_draft, end_draft
from pairsim.errors import parameter_error, shown
from pairsim.store import header
from pairsim.store.checksums import Row, sealed
from pairsim.store.errors import damaged, failed, translated
from pairsim.store.integrity import walk
from pairsim.store.schema import CONTENT, NO_MIX, TALLY, Table, create_tables, is_our_schema

BUSY_SECONDS = 60.0


class Connection(NamedTuple):
    """A connection to a file, and the file's identity among those in use."""

    path: Path
    sqlite: sqlite3.Connection
    identity: tuple[int, int]

    def close(self) -> None:
        """Close the file."""
        self.sqlite.close()
        header.forget_use(self.identity)


def real_path(path: Path) -> Path:
    """Return the path with links followed, so that a file has one name and one journal."""
    try:
        return Path(os.path.realpath(path))
    except (TypeError, ValueError, OSError):
        raise parameter_error("Store", "path", "the path of a file", shown(path)) from None


def is_there(path: Path) -> bool:
    """Tell whether there is a file of that name; its directory must be there in any case."""
    with translated(path, "open"):
        if not path.parent.is_dir():
            raise parameter_error("Store", "path", "in a directory that exists", path)
        return path.exists()


def connect(path: Path, mode: str) -> Connection:
    """Open a file that is there, "rw" or "ro"; what it defines is not trusted, and nothing of it is run."""
    identity = header.note_use(path)
    try:
        sqlite = sqlite3.connect(
            f"{path.as_uri()}?mode={mode}",
            uri=True,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
    except BaseException:
        header.forget_use(identity)
        raise
    try:
        for setting in ("trusted_schema = OFF", "cell_size_check = ON"):
            sqlite.execute(f"PRAGMA {setting}")
    except BaseException:
        Connection(path, sqlite, identity).close()
        raise
    return Connection(path, sqlite, identity)


def connect_private(path: Path) -> Connection:
    """Open a store that nobody else knows: a crash loses nothing, so nothing waits for the disk."""
    connection = connect(path, "rw")
    for setting in ("journal_mode = MEMORY", "synchronous = OFF"):
        connection.sqlite.execute(f"PRAGMA {setting}")
    return connection


def open_checked(path: Path, mode: str) -> Connection:
    """Open a store, `mode` "rw" or "ro", after a look at its header and a walk over all that it holds."""
    connection = open_unchecked(path, mode)
    try:
        with translated(path, "open"):
            connection.sqlite.execute("PRAGMA synchronous = FULL")
        for _ in checked_rows(connection):
            pass
    except BaseException:
        connection.close()
        raise
    return connection


def open_unchecked(path: Path, mode: str) -> Connection:
    """Open a store after a look at its header, for `checked_rows` to go on."""
    header.check_header(path)
    with translated(path, "open"):
        connection = connect(path, mode)
        try:
            recovering(connection, lambda: connection.sqlite.execute("SELECT count(*) FROM sqlite_master").fetchone())
        except BaseException:
            connection.close()
            raise
    return connection


def checked_rows(connection: Connection) -> Generator[tuple[Table, Row], None, None]:
    """Check definitions, size and structure, then give every row as `walk` does, all at one moment."""
    path, sqlite, _ = connection
    with translated(path, "read"):
        sqlite.execute("BEGIN")
        try:
            _check_structure(path, sqlite)
            yield from walk(path, sqlite)
        finally:
            roll_back(sqlite)


def _check_structure(path: Path, sqlite: sqlite3.Connection) -> None:
    if not is_our_schema(sqlite):
        raise damaged(path, "it does not define the tables of a store, or more than these")
    (pages,), (size,) = (sqlite.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
    if path.stat().st_size != pages * size:
        raise damaged(path, f"it has {path.stat().st_size} bytes in place of {pages * size}")
    (verdict,) = sqlite.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise damaged(path, f"SQLite reports {verdict!a}")


def recovering(connection: Connection, read: Callable[[], object]) -> None:
    """Read; if a writer was killed halfway and this connection may not undo its half, undo it and read again."""
    try:
        read()
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorcode", None) != sqlite3.SQLITE_READONLY_ROLLBACK:
            raise
        roll_back(connection.sqlite)
        _undo_half_written(connection.path)
        read()


def _undo_half_written(path: Path) -> None:
    """Let SQLite put back what a killed writer had begun to change, as any open for writing does."""
    try:
        with contextlib.closing(connect(path, "rw")) as writer:
            writer.sqlite.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        reason = "a writer was stopped halfway, and undoing its half needs a file and directory that can be written"
        raise failed(path, "read", f"{reason} (copy the file and its -journal to such a place)") from None


def roll_back(sqlite: sqlite3.Connection) -> None:
    """Give up what was begun; if even that fails, the journal stays, and the next to open the file does it."""
    with contextlib.suppress(sqlite3.Error):
        if sqlite.in_transaction:
            sqlite.execute("ROLLBACK")


def build(directory: Path) -> Path:
    """Make a complete, empty store under a name of its own, and return it."""
    path = begin_draft(directory)
    try:
        sqlite = sqlite3.connect(f"{path.as_uri()}?mode=rwc", uri=True, isolation_level=None)
        try:
            # nobody knows the file yet: a crash loses nothing, and it is written to the disk before it gets its name
            for setting in ("page_size = 4096", "journal_mode = MEMORY", "synchronous = OFF"):
                sqlite.execute(f"PRAGMA {setting}")
            sqlite.execute("BEGIN IMMEDIATE")
            create_tables(sqlite)
            sqlite.executemany(TALLY.insert, [sealed(TALLY, (table.name, 0, NO_MIX)) for table in CONTENT])
            sqlite.execute("COMMIT")
        finally:
            sqlite.close()
    except BaseException:
        end_draft(path)
        raise
    return path


def put_in_place(built: Path, path: Path) -> bool:
    """Give a built store its name, unless the name is taken; the name never stands for half a store."""
    try:
        _sync(built)
        try:
            os.link(built, path)
        except FileExistsError:
            return False
        except OSError:
            if not _replace_claim(built, path):
                return False
    finally:
        end_draft(built)
    with contextlib.suppress(OSError):  # as SQLite does: not every file system can be asked to keep a name
        _sync(path.parent)
    return True


def _replace_claim(built: Path, path: Path) -> bool:
    """Do the same where there are no hard links: claim the name with an empty file, then replace that."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        return False
    try:
        built.replace(path)
    except BaseException:
        path.unlink()
        raise
    return True


def _sync(path: Path) -> None:
    """Wait until the disk has the file, or the names in the directory."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def create(path: Path) -> None:
    """Make an empty store, unless there is a file of that name."""
    with translated(path, "create"):
        put_in_place(build(path.parent), path)
