"""Sweeps with decoders that fail, and with files that are not what they should be."""

from __future__ import annotations

import dataclasses
import os
import pickle
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

import pytest

from pairsim import Adag, Ddag, Decoder, MaxWin, Poll, Similarity, Uniform, sweep
from pairsim.engines import ProcessEngine, ThreadEngine
from pairsim.store import Store
from pairsim.sweeps import LostBlocksError, Sweep, make_request
from pairsim.sweeps.files import csv_text
from pairsim.sweeps.requests import stored_rows

SIZE = 65_536  # trials of a block
HERE = f"{__name__}:"  # before the names of classes of users
ORACLES = [Uniform(6, 0.7), Uniform(6, 0.9), Similarity.profile("zipf:1.0", 5), Uniform(7, 0.8)]


@dataclasses.dataclass(frozen=True)
class Broken(Adag):
    """An adag that cannot be used with some numbers of classes."""

    name: ClassVar[str] = "broken"
    bad: str = "6"

    def kernel(self, n: int) -> Any:
        if str(n) in self.bad:
            raise RuntimeError(f"no kernel\nfor {n}")
        return super().kernel(n)


@dataclasses.dataclass(frozen=True)
class Moody(Adag):
    """An adag that fails some times, then works."""

    name: ClassVar[str] = "moody"
    left: ClassVar[Counter[int]] = Counter()
    guard: ClassVar[threading.Lock] = threading.Lock()

    def kernel(self, n: int) -> Any:
        with self.guard:
            if self.left[n] > 0:
                self.left[n] -= 1
                raise RuntimeError("not yet")
        return super().kernel(n)


def run(decoders: list[Decoder], store: Path | None = None, workers: int = 0, trials: int = 3 * SIZE) -> Sweep:
    request = make_request(ORACLES, decoders, trials, seed=3, method="simulated")
    engine = ProcessEngine(workers) if workers else ThreadEngine(2)
    with engine:
        if store is None:
            found = Sweep(request, None, engine)
            found.run()
            return found
        with Store.create_or_open(store) as opened:
            found = Sweep(request, opened, engine)
            found.run()
            return found


def rows_without(found: Sweep, *names: str) -> list[str]:
    return [repr(row) for row in found.rows() if row.decoder.removeprefix(HERE).lower() not in names]


@pytest.mark.parametrize("others", [[MaxWin()], [MaxWin(), Ddag()], [Ddag()], [Adag(), Poll(2), Ddag(), MaxWin()]])
@pytest.mark.parametrize("first", [True, False])
def test_a_broken_decoder_drags_nobody_along(others: list[Decoder], first: bool) -> None:
    alone = run(others)
    found = run([Broken(), *others] if first else [*others, Broken()])
    if len(others) > 1 or isinstance(others[0], MaxWin):  # else nobody was there to agree with
        assert rows_without(found, "broken") == rows_without(alone)
    assert len(rows_without(found, "broken")) == len(ORACLES) * len(others)
    assert all(cell.ended or cell.given_up for cell in found.cells())
    for cell in found.cells():
        if cell.task.decoder.name == "broken" and cell.task.oracle.n == 6:
            assert set(cell.lost) == {0, 1, 2}
            assert set(cell.lost.values()) == {"RuntimeError: no kernel\nfor 6"}
        else:
            assert cell.lost == {}
            assert cell.total.trials == cell.running.trials == 3 * SIZE


@pytest.mark.parametrize("decoders", [[Broken()], [Broken(bad="567")], [Broken(), Broken("given")]])
def test_nothing_but_broken_decoders(decoders: list[Decoder]) -> None:
    found = run(decoders, trials=9 * SIZE)
    for cell in found.cells():
        if str(cell.task.oracle.n) in cell.task.decoder.bad:  # type: ignore[attr-defined]
            assert cell.given_up  # after some blocks that failed no more are tried
            assert cell.total.trials == 0
        else:
            assert cell.total.trials == 9 * SIZE
    assert len(found.rows()) == sum(not cell.given_up for cell in found.cells())


@pytest.mark.parametrize("where", [{"threads": 2}, {"workers": 1}], ids=str)
def test_a_sweep_that_lost_blocks_raises_with_what_it_has(tmp_path: Path, where: dict[str, Any]) -> None:
    whole = sweep(ORACLES, [Adag()], 100, method="simulated", threads=1)
    with pytest.raises(LostBlocksError) as caught:
        sweep(ORACLES, [Adag(), Broken(bad="67")], 100, method="simulated", store=tmp_path / "a.db", **where)
    assert str(caught.value) == (
        f"3 blocks failed ({HERE}Broken:bad=67: 3); all others are stored. "
        f"The first, block 0 of {HERE}Broken:bad=67 at n = 6: RuntimeError: no kernel for 6"
    )
    rows = caught.value.rows
    assert rows is not None
    assert rows.decoder.tolist() == ["adag", "adag", "adag", f"{HERE}Broken:bad=67", "adag"]
    assert rows[rows.decoder == "adag"].success.tolist() == whole.success.tolist()
    played: list[int] = []
    count = lambda oracle, trials: played.append(trials)  # noqa: E731
    sweep(ORACLES, [Adag()], 100, method="simulated", store=tmp_path / "a.db", progress=count)
    assert played == []  # all of it was stored


def test_one_lost_block_and_none_completed() -> None:
    with pytest.raises(LostBlocksError, match=rf"^1 block failed \({HERE}Broken: 1\)\. The first, block 0") as caught:
        sweep([Uniform(6, 0.7)], [Broken()], 100, method="simulated")
    assert caught.value.rows is not None
    assert len(caught.value.rows) == 0
    again = pickle.loads(pickle.dumps(caught.value))  # it may come from another process
    assert (str(again), len(again.rows)) == (str(caught.value), 0)


@pytest.mark.parametrize("left", [1, 2, 3, 40])
def test_a_decoder_that_fails_for_a_while(left: int) -> None:
    wanted = [repr(row).replace("adag", f"{HERE}Moody") for row in run([MaxWin(), Adag(), Ddag()]).rows()]
    Moody.left.update({6: left})
    try:
        found = run([MaxWin(), Moody(), Ddag()])
    finally:
        Moody.left.clear()
    lost = [cell for cell in found.cells() if cell.lost]
    assert all(cell.task.decoder.name == "moody" for cell in lost)
    if left <= 2:  # a unit is tried three times, whatever else fails meanwhile
        assert not lost
    if not lost:
        assert [repr(row) for row in found.rows()] == wanted
    assert rows_without(found, "moody") == [row for row in wanted if "Moody" not in row]


def test_a_broken_decoder_on_processes_and_in_a_store(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules["pairsim.decoders"].REGISTRY, "broken", Broken)
    others = [MaxWin(), Ddag()]
    found = run([MaxWin(), Broken(), Ddag()], tmp_path / "a.db", workers=1)
    assert rows_without(found, "broken") == rows_without(run(others))
    assert {block for cell in found.cells() for block in cell.lost} == {0, 1, 2}
    with Store.read(tmp_path / "a.db") as store:
        assert [repr(row) for row in stored_rows(store)] == [repr(row) for row in found.rows()]
    again = run([MaxWin(), Broken(), Ddag()], tmp_path / "a.db")  # the same again: still broken, still nothing lost
    assert rows_without(again, "broken") == rows_without(found, "broken")


def test_the_command_says_what_was_lost(tmp_path: Path, monkeypatch, pairsim_command) -> None:
    monkeypatch.setitem(sys.modules["pairsim.decoders"].REGISTRY, "broken", Broken)
    words = ("--p", 0.7, "--n", "6,7", "--trials", 100, "--decoder", "max-win", "--decoder", "broken")
    ended = pairsim_command("sweep", *words, "--method", "simulated", "--format", "csv", "--store", tmp_path / "a.db")
    assert ended.code == 1
    assert [line.split(",")[3] for line in ended.out.splitlines()[1:]] == ["max-win", "max-win", "broken"]
    assert ended.err.splitlines() == [
        "pairsim: block 0 of broken at n = 6 failed three times: RuntimeError: no kernel for 6",
        "pairsim: 1 blocks failed; the rest completed",
    ]


# files that cannot be used


def foreign_files(folder: Path) -> dict[str, Path]:
    """Make files that no sweep may touch, by what is wrong with them."""
    made = {name: folder / f"{name}.db" for name in ("directory", "csv", "foreign", "empty", "future", "text")}
    made["directory"].mkdir()
    made["csv"].write_text(csv_text([]))
    made["text"].write_text("notes to myself\n")
    made["empty"].touch()
    with sqlite3.connect(made["foreign"]) as other:
        other.execute("CREATE TABLE blocks (task TEXT)")
    other.close()
    Store.create_or_open(made["future"]).close()
    with sqlite3.connect(made["future"]) as newer:
        newer.execute("PRAGMA user_version = 99")
    newer.close()
    return made


@pytest.mark.parametrize("kind", ["directory", "csv", "foreign", "empty", "future", "text"])
@pytest.mark.parametrize("command", ["sweep", "show", "export", "merge", "verify", "merge into"])
def test_what_is_not_a_store_is_left_alone(tmp_path: Path, pairsim_command, kind: str, command: str) -> None:
    path = foreign_files(tmp_path)[kind]
    before = None if path.is_dir() else (path.read_bytes(), path.stat().st_mtime_ns)
    good = tmp_path / "good.db"
    Store.create_or_open(good).close()
    words = {
        "sweep": ["sweep", "--p", 0.7, "--n", 4, "--trials", 10, "--store", path],
        "show": ["show", path],
        "export": ["export", path, "--out", tmp_path / "a.csv"],
        "merge": ["merge", good, path, "--out", tmp_path / "new.db"],
        "merge into": ["merge", good, "--out", path],
        "verify": ["verify", path],
    }[command]
    names = sorted(os.listdir(tmp_path))
    ended = pairsim_command(*words)
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1), ended
    assert path.name in ended.err
    assert before is None or before == (path.read_bytes(), path.stat().st_mtime_ns)
    assert sorted(os.listdir(tmp_path)) == names
    assert ("newer pairsim" in ended.err) == (kind == "future")


def test_a_store_is_not_a_table(tmp_path: Path, pairsim_command) -> None:
    for name in ("a.csv", "a.json", "a.parquet"):
        ended = pairsim_command("sweep", "--p", 0.7, "--n", 4, "--store", tmp_path / name)
        assert (ended.code, len(ended.err.splitlines())) == (2, 1)
        assert "--out is for tables" in ended.err
    assert not list(tmp_path.iterdir())


def test_where_nothing_may_be_written(tmp_path: Path, pairsim_command) -> None:
    """Sysfs lets not even root make a file, and so stands for every directory that cannot be written."""
    closed = Path("/sys/kernel")
    if not closed.is_dir():
        pytest.skip("needs a directory in which nobody can make a file")
    words = ["sweep", "--p", 0.7, "--n", 4, "--trials", 10, "--quiet"]
    for option, name in (("--store", "a.db"), ("--out", "a.csv"), ("--plot", "a.png")):
        ended = pairsim_command(*words, option, closed / name)
        assert ended.code in (1, 2), ended
        assert len(ended.err.splitlines()) == 1, ended
        missing = pairsim_command(*words, option, tmp_path / "no such" / name)
        assert (missing.code, len(missing.err.splitlines())) == (2, 1)


def test_a_store_that_may_only_be_read(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    sweep([Uniform(4, 0.7)], [MaxWin()], trials=10, store=path)
    path.chmod(0o444)
    before = path.read_bytes()
    program = (
        "import os, sys\n"
        "from pairsim.cli.main import _run, run\n"
        "_run()\n"  # loads all that it needs while it may read it
        "sys.argv[-1] = 'a.db'\n"
        "if os.getuid() == 0: os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "run()"
    )
    words = ["sweep", "--p", "0.7", "--n", "4", "--trials", "20", "--quiet", "--store", "first.db"]
    ended = subprocess.run(
        [sys.executable, "-c", program, *words], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert path.read_bytes() == before
    assert (ended.returncode, len(ended.stderr.splitlines())) == (1, 1), ended.stderr
    assert (tmp_path / "first.db").exists()
