"""Sweeps with decoders that fail, files that are not what they should be, and orders that grow or come in parts."""

from __future__ import annotations

import dataclasses
import os
import shutil
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
from pairsim.store import Store, merge_stores
from pairsim.sweeps import make_order, open_campaign, rows_of
from pairsim.sweeps.campaign import Campaign
from pairsim.sweeps.files import csv_text
from pairsim.sweeps.requests import stored_rows

SIZE = 16_384  # trials of a block
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


def run(decoders: list[Decoder], store: Path | None = None, workers: int = 0, trials: int = 3 * SIZE) -> Campaign:
    order = make_order(ORACLES, decoders, trials, seed=3, method="simulated")
    engine = ProcessEngine(workers) if workers else ThreadEngine(2)
    with engine:
        if store is None:
            campaign = open_campaign(order, None)
            campaign.run(engine)
            return campaign
        with Store.create_or_open(store) as opened:
            campaign = open_campaign(order, opened)
            campaign.run(engine)
            return campaign


def rows_without(campaign: Campaign, *names: str) -> list[str]:
    return [repr(row) for row in rows_of(campaign) if row.decoder.partition(":")[0] not in names]


@pytest.mark.parametrize("others", [[MaxWin()], [MaxWin(), Ddag()], [Ddag()], [Adag(), Poll(2), Ddag(), MaxWin()]])
@pytest.mark.parametrize("first", [True, False])
def test_a_broken_decoder_drags_nobody_along(others: list[Decoder], first: bool) -> None:
    alone = run(others)
    campaign = run([Broken(), *others] if first else [*others, Broken()])
    if len(others) > 1 or isinstance(others[0], MaxWin):  # else nobody was there to agree with
        assert rows_without(campaign, "broken") == rows_without(alone)
    assert len(rows_without(campaign, "broken")) == len(ORACLES) * len(others)
    assert all(cell.ended or cell.given_up for cell in campaign.cells)
    for cell in campaign.cells:
        if cell.task.decoder.name == "broken" and cell.task.oracle.n == 6:
            assert set(cell.lost) == {0, 1, 2}
            assert set(cell.lost.values()) == {"RuntimeError: no kernel\nfor 6"}
        else:
            assert cell.lost == {}
            assert cell.total.trials == cell.running.trials == 3 * SIZE


@pytest.mark.parametrize("decoders", [[Broken()], [Broken(bad="567")], [Broken(), Broken("given")]])
def test_nothing_but_broken_decoders(decoders: list[Decoder]) -> None:
    campaign = run(decoders, trials=9 * SIZE)
    for cell in campaign.cells:
        if str(cell.task.oracle.n) in cell.task.decoder.bad:  # type: ignore[attr-defined]
            assert cell.given_up  # after some blocks that failed no more are tried
            assert cell.total.trials == 0
        else:
            assert cell.total.trials == 9 * SIZE
    assert len(rows_of(campaign)) == sum(not cell.given_up for cell in campaign.cells)


@pytest.mark.parametrize("left", [1, 2, 3, 40])
def test_a_decoder_that_fails_for_a_while(left: int) -> None:
    wanted = [repr(row).replace("adag", "moody") for row in rows_of(run([MaxWin(), Adag(), Ddag()]))]
    Moody.left.update({6: left})
    try:
        campaign = run([MaxWin(), Moody(), Ddag()])
    finally:
        Moody.left.clear()
    lost = [cell for cell in campaign.cells if cell.lost]
    assert all(cell.task.decoder.name == "moody" for cell in lost)
    if left <= 2:  # a unit is tried three times, whatever else fails meanwhile
        assert not lost
    if not lost:
        assert [repr(row) for row in rows_of(campaign)] == wanted
    assert rows_without(campaign, "moody") == [row for row in wanted if "moody" not in row]


def test_a_broken_decoder_on_processes_and_in_a_store(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules["pairsim.decoders"].REGISTRY, "broken", Broken)
    others = [MaxWin(), Ddag()]
    campaign = run([MaxWin(), Broken(), Ddag()], tmp_path / "a.db", workers=1)
    assert rows_without(campaign, "broken") == rows_without(run(others))
    assert {block for cell in campaign.cells for block in cell.lost} == {0, 1, 2}
    with Store.read(tmp_path / "a.db") as store:
        assert [repr(row) for row in stored_rows(store)] == [repr(row) for row in rows_of(campaign)]
    mended = run([MaxWin(), Broken(), Ddag()], tmp_path / "a.db")  # the same again: still broken, still nothing lost
    assert rows_without(mended, "broken") == rows_without(campaign, "broken")


def test_the_command_says_what_was_lost(tmp_path: Path, monkeypatch, pairsim_command) -> None:
    monkeypatch.setitem(sys.modules["pairsim.decoders"].REGISTRY, "broken", Broken)
    words = ("--p", 0.7, "--n", "6,7", "--trials", 100, "--decoder", "max-win", "--decoder", "broken")
    ended = pairsim_command("sweep", *words, "--method", "simulated", "--format", "csv", "--store", tmp_path / "a.db")
    assert ended.code == 1
    assert [line.split(",")[3] for line in ended.out.splitlines()[1:]] == ["max-win", "max-win", "broken"]
    assert ended.err.splitlines() == [
        "pairsim: block 0 of broken at n = 6 failed three times: RuntimeError: no kernel for 6",
        "pairsim: 1 blocks could not be played; all others were",
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


# parts and growth

GRID = ["--p", "0.7,0.9", "--n", "4,6", "--decoder", "max-win", "--decoder", "poll:l=2", "--decoder", "ddag"]


def out_of(pairsim_command, folder: Path, *words: object, code: int = 0) -> bytes:
    """Run a sweep on the store of a folder and return the bytes of its table."""
    out = folder / "out.csv"
    out.unlink(missing_ok=True)
    ended = pairsim_command("sweep", *words, "--store", folder / "a.db", "--out", out, "--format", "csv")
    assert ended.code == code, ended.err
    return out.read_bytes()


def fresh(pairsim_command, folder: Path, *words: object) -> bytes:
    place = folder / "fresh"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    return out_of(pairsim_command, place, *words)


@pytest.mark.parametrize("parts", [1, 2, 3, 5])
def test_parts_put_together_are_the_whole(tmp_path: Path, pairsim_command, parts: int) -> None:
    words = [*GRID, "--trials", 40_000]
    whole = fresh(pairsim_command, tmp_path, *words)
    stores = []
    for part in range(1, parts + 1):
        path = tmp_path / f"{part}.db"
        ended = pairsim_command("sweep", *words, "--shard", f"{part}/{parts}", "--store", path, "--format", "csv")
        assert ended.code == 0, ended.err
        assert f"shard {part}/{parts} is done" in ended.err
        stores.append(path)
    if parts > 1:
        missing = tmp_path / "missing.db"
        merge_stores(stores[1:], missing)
        assert pairsim_command("export", missing, "--out", tmp_path / "missing.csv").code == 0
        assert (tmp_path / "missing.csv").read_bytes() != whole
    assert pairsim_command("merge", *reversed(stores), "--out", tmp_path / "a.db").code == 0
    assert pairsim_command("export", tmp_path / "a.db", "--out", tmp_path / "merged.csv").code == 0
    assert (tmp_path / "merged.csv").read_bytes() == whole
    assert out_of(pairsim_command, tmp_path, *words) == whole


def test_more_trials_then_fewer(tmp_path: Path, pairsim_command) -> None:
    most, longest = 0, b""
    for trials in (500, 1000, 40_000, 20_000, 500):
        words = [*GRID, "--method", "simulated", "--trials", trials]
        wanted = fresh(pairsim_command, tmp_path, *words)
        assert out_of(pairsim_command, tmp_path, *words) == wanted
        most, longest = max((most, longest), (trials, wanted))
        ended = pairsim_command("export", tmp_path / "a.db", "--out", tmp_path / "export.csv")
        assert ended.code == 0, ended.err
        assert (tmp_path / "export.csv").read_bytes() == longest  # a store does not forget that it has more


def test_a_larger_grid_and_more_decoders(tmp_path: Path, pairsim_command) -> None:
    smaller = ["--p", 0.9, "--n", "4,6", "--decoder", "max-win", "--decoder", "ddag", "--trials", 20_000]
    assert out_of(pairsim_command, tmp_path, *smaller) == fresh(pairsim_command, tmp_path, *smaller)
    with Store.read(tmp_path / "a.db") as store:
        before = {(block.task, block.block): block for block in store.all_blocks()}
    larger = [*GRID, "--trials", 20_000]
    assert out_of(pairsim_command, tmp_path, *larger) == fresh(pairsim_command, tmp_path, *larger)
    with Store.read(tmp_path / "a.db") as store:
        after = {(block.task, block.block): block for block in store.all_blocks()}
    assert all(repr(after[key]) == repr(block) for key, block in before.items())
    assert out_of(pairsim_command, tmp_path, *smaller) == fresh(pairsim_command, tmp_path, *smaller)


def test_time_that_is_up_and_engines_by_turns(tmp_path: Path, pairsim_command) -> None:
    words = [*GRID, "--trials", 60_000]
    whole = fresh(pairsim_command, tmp_path, *words)
    ended = pairsim_command("sweep", *words, "--store", tmp_path / "a.db", "--max-seconds", 0.001, "--shard", "1/2")
    assert ended.code == 0
    assert "time is up" in ended.err
    assert "is done" not in ended.err
    for more in (["--max-seconds", 0.2, "--threads", 1], ["--max-seconds", 0.2, "--threads", 3]):
        assert pairsim_command("sweep", *words, *more, "--store", tmp_path / "a.db").code == 0
    assert out_of(pairsim_command, tmp_path, *words, "--workers", 1) == whole
    with Store.read(tmp_path / "a.db") as store:  # commands, options and times are told, and are no part of a task
        assert len(store.runs()) == 4
        assert len(store.tasks()) == len(whole.splitlines()) - 1
    assert out_of(pairsim_command, tmp_path, *words, "--seed", 1) != whole


def test_files_with_strange_names(tmp_path: Path, pairsim_command) -> None:
    """Blanks, quotes, line ends and bytes that are not text: the command in the store works in a shell."""
    for number, name in enumerate(("two  blanks", "it's", "line\nend", os.fsdecode(b"\xff\xfe"))):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = folder / f"{name}.db"
        assert pairsim_command("sweep", "--p", 0.7, "--n", 4, "--trials", 10, "--store", path).code == 0
        with Store.read(path) as store:
            command = store.runs()[0].command
        assert len(command.splitlines()) == 1
        echo = subprocess.run(
            ["bash", "-c", command.replace("pairsim", "printf '%s\\0'", 1)], capture_output=True, check=True
        )
        assert echo.stdout.split(b"\0")[-2] == os.fsencode(path)
