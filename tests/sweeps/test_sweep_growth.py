"""Sweeps in parts, with more or fewer trials, larger grids, less time: the bytes are those of a fresh run."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from pairsim.store import Store, merge_stores

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
    words = [*GRID, "--trials", 240_000]
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
