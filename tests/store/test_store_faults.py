"""The store in bad times, with real faults: killed writers, full disks, many writers, missing rights."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from store_content import IDS, block_of, content, make_store, measured

from pairsim.errors import ParameterError
from pairsim.store import BlockConflict, Store, StoreError, is_store, merge_stores, opening

CHILD = Path(__file__).parents[1].joinpath("store_child.py")
KILLS = 25


@contextmanager
def child(what: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """Start a process of store_child.py; it is over when the block ends."""
    command = [sys.executable, str(CHILD), what, *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def output(what: str, *arguments: object) -> list[str]:
    with child(what, *arguments) as process:
        return process.communicate(timeout=120)[0].splitlines()


def reported(process: subprocess.Popen[str], lines: int, wait: float) -> list[int]:
    """Let a child report some lines, kill it a moment later, and return all that it had reported."""
    assert process.stdout is not None
    numbers = [int(process.stdout.readline()) for _ in range(lines)]
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(wait)
    process.send_signal(signal.SIGKILL)
    rest = process.stdout.read()
    return numbers + [int(line) for line in rest.splitlines(keepends=True) if line.endswith("\n")]


def test_a_killed_writer_loses_nothing_that_it_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.store"
    moments = random.Random(5)
    told: list[int] = []
    for _ in range(KILLS):
        with child("write_forever", path) as process:
            told += reported(process, moments.randrange(1, 4), moments.random() * 0.02)
        read = content(path) if moments.random() < 0.5 else content(path, write=True)
        found = {row[1]: row for row in read["all blocks"]}
        assert found.keys() >= set(told)
        assert len(found) <= len(told) + KILLS  # one more for each kill, between the commit and the report
        with Store.read(path) as opened:
            assert all(repr(block) == repr(block_of(*block[:3])) for block in opened.all_blocks())
    assert len(told) >= KILLS
    with Store.create_or_open(path) as opened:  # a writer tidies up after the one before
        opened.record([block_of(IDS[0], 10**6, 5)])
    assert os.listdir(tmp_path) == ["a.store"]


def test_a_killed_mother_leaves_no_half_store(tmp_path: Path) -> None:
    moments = random.Random(6)
    for number in range(6):
        folder = tmp_path / str(number)
        folder.mkdir()
        with child("give_birth_forever", folder) as process:
            told = reported(process, 1, moments.random() * 0.05)
        named = [path for path in folder.iterdir() if not path.name.startswith(".") and path.suffix == ".store"]
        assert {int(path.stem) for path in named} >= set(told)
        for path in named:
            with Store.create_or_open(path) as opened:
                assert opened.count_blocks() in ({1} if int(path.stem) in told else {0, 1})


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
    """A store whose last writer died when half of its pages were written; the other half is in the journal."""
    path = make_store(tmp_path / "a.store")
    shutil.copy(path, tmp_path / "before")
    assert output("stop_halfway", path) == ["halfway"]
    assert path.with_name("a.store-journal").stat().st_size > 0
    assert path.read_bytes() != (tmp_path / "before").read_bytes()
    return path


@pytest.mark.parametrize("write", [False, True])
def test_what_a_killed_writer_began_is_undone(stopped: Path, write: bool) -> None:
    torn = stopped.with_name("torn")
    shutil.copy(stopped, torn)
    with pytest.raises(ParameterError, match="is damaged: "):  # without its journal the file is half and half
        content(torn)
    assert content(stopped, write=write) == content(stopped.with_name("before"))
    assert stopped.read_bytes() == stopped.with_name("before").read_bytes()
    assert not stopped.with_name("a.store-journal").exists()


def test_a_reader_outlives_a_killed_writer(tmp_path: Path) -> None:
    path = make_store(tmp_path / "a.store")
    with Store.read(path) as reader:
        before = list(reader.all_pairs())
        output("stop_halfway", path)
        assert repr(list(reader.all_pairs())) == repr(before)
        assert reader.count_blocks() == 50


def test_merging_undoes_what_a_killed_writer_began(stopped: Path) -> None:
    out = stopped.with_name("out")
    merge_stores([stopped], out)
    assert content(out) == content(stopped.with_name("before"))


def test_a_full_disk_is_said_and_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    path = make_store(tmp_path / "a.store")
    error, counts, merging, later = output("fill_up", path, 120_000)
    assert error == (
        f"Could not record blocks in {path}: the system reports an input/output error (disk full, file size limit or "
        "failing disk). What was stored before is intact."
    )
    assert merging.startswith(f"Could not merge into {tmp_path}/")
    written, held = map(int, counts.split())
    assert written > 0
    assert held == written + 50
    assert int(later) == 500
    assert content(path)["count"] == held + 500
    assert os.listdir(tmp_path) == ["a.store"]


@pytest.mark.parametrize("writers", [2, 4])
def test_writers_at_once_are_all_right(tmp_path: Path, writers: int) -> None:
    path = tmp_path / "a.store"
    spans = [(10 * number, 10 * number + 25, 5 + number % 2) for number in range(writers)]
    processes = []
    for span in spans:
        command = [sys.executable, str(CHILD), "write_range", str(path), *map(str, span)]
        processes.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:  # now all make the store at once
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [process.communicate(timeout=120)[0] for process in processes] == ["done\n"] * writers
    longest: dict[int, int] = {}
    for first, last, trials in spans:
        longest |= {block: max(trials, longest.get(block, 0)) for block in range(first, last)}
    with Store.read(path) as opened:
        assert repr(opened.blocks(IDS[0])) == repr(
            {block: block_of(IDS[0], block, n) for block, n in sorted(longest.items())}
        )
    assert os.listdir(tmp_path) == ["a.store"]


@pytest.mark.parametrize("journal", [False, True])
def test_without_the_right_to_write_a_store_can_be_read(journal: bool) -> None:
    # the usual place for test files is closed to other users, and a test that runs as root needs one
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder).resolve()
        closed = home / "closed"
        closed.mkdir()
        path = make_store(closed / "a.store")
        if journal:
            output("stop_halfway", path)
        before = path.read_bytes()
        for target, mode in ((path, 0o444), (closed, 0o555), (home, 0o755)):
            target.chmod(mode)
        try:
            read, write, new, merge_new, merge_old = output("try_all", path, closed / "new")
        finally:
            closed.chmod(0o755)
        assert path.read_bytes() == before
    intact = "What was stored before is intact."
    if journal:
        assert read == (
            f"StoreError Could not read {path}: a writer was stopped halfway, and undoing its half needs a file and "
            f"directory that can be written (copy the file and its -journal to such a place). {intact}"
        )
        return
    assert read == "50"
    assert write == (
        f"StoreError Could not record blocks in {path}: it is read-only here (opened for reading, or file or directory "
        f"are write-protected). {intact}"
    )
    assert new == (
        f"StoreError Could not create {closed}/new: the file or its directory cannot be opened or written. {intact}"
    )
    assert merge_new == (
        f"StoreError Could not merge into {closed}/new: the file or its directory cannot be opened or written. {intact}"
    )
    assert merge_old.startswith(f"StoreError Could not merge into {path}: ")


def test_a_writable_file_in_a_closed_folder_is_a_clear_error() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = make_store(Path(folder).resolve() / "a.store")
        before = path.read_bytes()
        path.chmod(0o666)
        path.parent.chmod(0o555)
        try:
            read, write, *_ = output("try_all", path, path.with_name("new"))
        finally:
            path.parent.chmod(0o755)
        assert read == "50"
        assert write.startswith(f"StoreError Could not record blocks in {path}: ")
        assert path.read_bytes() == before


def test_a_file_that_was_taken_away_is_noticed(tmp_path: Path) -> None:
    path = make_store(tmp_path / "a.store")
    with Store.create_or_open(path) as opened:
        path.rename(tmp_path / "b.store")
        with pytest.raises(StoreError, match=r"moved, replaced or removed while in use\. What was stored before went"):
            opened.record([block_of(IDS[0], 1000, 5)])
        make_store(path, blocks=1)
        with pytest.raises(StoreError, match="moved, replaced or removed"):
            opened.record([block_of(IDS[0], 1000, 5)])
    assert content(path)["count"] == 1
    assert content(tmp_path / "b.store")["count"] == 50


def test_a_lock_that_is_kept_is_waited_for_and_then_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_store(tmp_path / "a.store")
    monkeypatch.setattr(opening, "BUSY_SECONDS", 0.05)
    with Store.create_or_open(path) as one, Store.create_or_open(path) as other:
        with one.writing("test"), pytest.raises(StoreError, match="another process keeps it locked"):
            other.record([block_of(IDS[0], 1000, 5)])
        assert other.record([block_of(IDS[0], 1000, 5)]) == 1


def _can_lock(path: Path) -> bool:
    """Tell whether another process could write now."""
    code = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)\n"
        "try: c.execute('BEGIN IMMEDIATE')\n"
        "except sqlite3.OperationalError: sys.exit(7)"
    )
    return subprocess.run([sys.executable, "-c", code, str(path)], check=False).returncode != 7


def test_a_look_at_a_store_in_use_does_not_open_its_lock(tmp_path: Path) -> None:
    path = make_store(tmp_path / "a.store")
    with Store.create_or_open(path) as opened, opened.writing("test"):
        assert is_store(path)
        with Store.read(path) as reader:
            assert reader.count_blocks() == 50
        assert not _can_lock(path)
        path.read_bytes()  # the control: any other way to open the file does
        assert _can_lock(path) or sys.platform != "linux"


def test_a_file_system_without_links_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    path = make_store(tmp_path / "a.store")
    assert content(path)["count"] == 50
    assert os.listdir(tmp_path) == ["a.store"]
    built = opening.build(tmp_path)
    assert not opening.put_in_place(built, path)  # a name that is taken stays with its owner
    assert content(path)["count"] == 50
    assert os.listdir(tmp_path) == ["a.store"]


def test_the_second_of_two_mothers_finds_the_first_child(tmp_path: Path) -> None:
    built = opening.build(tmp_path)
    path = make_store(tmp_path / "a.store")
    assert not opening.put_in_place(built, path)
    assert content(path)["count"] == 50
    assert os.listdir(tmp_path) == ["a.store"]


def test_what_others_write_during_a_merge_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, other = make_store(tmp_path / "a.store"), make_store(tmp_path / "b.store", blocks=60)
    add = merge_stores.__globals__["_add_to"]

    def write_then_add(target: Path, draft: opening.Connection) -> None:
        with Store.create_or_open(path) as opened:
            opened.record([late])
        add(target, draft)

    monkeypatch.setitem(merge_stores.__globals__, "_add_to", write_then_add)
    late = block_of(IDS[0], 1000, 5)
    with Store.create_or_open(path) as waiting:
        merge_stores([other], path)
        assert waiting.record([block_of(IDS[0], 1001, 5)]) == 1  # a store that was open all the while goes on
    assert content(path)["count"] == 62
    late = block_of(IDS[0], 59, 159)._replace(task=IDS[3], values=(0.0,))
    before = path.read_bytes()
    with pytest.raises(BlockConflict, match="must be in agreement with"):
        merge_stores([other], path)
    assert path.read_bytes() == before


def test_an_interrupted_batch_is_undone(tmp_path: Path) -> None:
    path = make_store(tmp_path / "a.store")
    before = measured(path)
    with Store.create_or_open(path) as opened:
        with pytest.raises(KeyboardInterrupt), opened.writing("test") as transaction:  # noqa: PT012 (it is one step)
            transaction.put_request((IDS[3], 9, None, "{}", bytes(8)))
            raise KeyboardInterrupt
        assert len(opened.requests()) == 2
        assert opened.record([block_of(IDS[0], 1000, 5)]) == 1
    assert len(measured(path)[0]) == len(before[0]) + 1


def test_sqlite_is_set_for_safety(tmp_path: Path) -> None:
    path = make_store(tmp_path / "a.store")
    with Store.create_or_open(path) as opened:
        sqlite = opened._open().sqlite
        for setting, value in (("journal_mode", "delete"), ("synchronous", 2), ("trusted_schema", 0)):
            assert sqlite.execute(f"PRAGMA {setting}").fetchone() == (value,)
        assert sqlite.execute("PRAGMA busy_timeout").fetchone() == (60_000,)
        assert sqlite.isolation_level is None
        if sqlite3.sqlite_version_info >= (3, 37):
            assert all("STRICT" in text for (text,) in sqlite.execute("SELECT sql FROM sqlite_master"))
