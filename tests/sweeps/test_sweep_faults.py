"""Sweeps with a store in bad times, as real processes: killed, interrupted, out of disk, two at once.

Whatever happens, running the same command again gives the bytes of a run that nothing happened to.
"""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from sweep_processes import (
    PATIENCE,
    SIMILAR,
    UNIFORM,
    Ended,
    Nursery,
    Process,
    all_gone,
    environment,
    nursery,
    sweep_words,
    until_grown,
    until_stored,
    until_there,
    workers_of,
)

from pairsim.cli import main
from pairsim.store import Store
from pairsim.sweeps.requests import stored_rows

GRIDS = {"uniform": UNIFORM, "similar": SIMILAR}
KILLS = {("uniform", "threads"): 20, ("similar", "threads"): 20, ("uniform", "workers"): 10}


@pytest.fixture(scope="module")
def cradle() -> Iterator[Nursery]:
    with nursery() as opened:
        yield opened


SHORTEST = 0.5  # seconds within which kills fall, where a sweep takes no longer


@pytest.fixture(scope="module")
def wanted(cradle: Nursery, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Sequence[str]], bytes]:
    """What an uninterrupted run of a grid writes, with one thread."""
    known: dict[tuple[str, ...], bytes] = {}

    def bytes_of(grid: Sequence[str]) -> bytes:
        if tuple(grid) not in known:
            folder = tmp_path_factory.mktemp("wanted")
            ended = cradle.run(sweep_words(grid, folder, "--threads", 1), folder)
            assert ended.code == 0, ended.err
            known[tuple(grid)] = (folder / "a.csv").read_bytes()
        return known[tuple(grid)]

    return bytes_of


def exported(folder: Path) -> bytes:
    """Return the bytes of `pairsim export`, without a process of its own."""
    from pairsim.sweeps.files import csv_text
    from pairsim.sweeps.results import read_rows

    return csv_text(read_rows(folder / "a.db")).encode()


def finished(folder: Path) -> tuple[bytes, bytes]:
    return (folder / "a.csv").read_bytes(), exported(folder)


def blocks_in(folder: Path) -> int:
    with Store.read(folder / "a.db") as store:
        return store.count_blocks()


def test_the_comparison_notices_another_seed(tmp_path: Path, cradle: Nursery, wanted) -> None:
    assert cradle.run(sweep_words(UNIFORM, tmp_path, "--seed", 1), tmp_path).code == 0
    out, export = finished(tmp_path)
    assert out == export
    assert len(out.splitlines()) == len(wanted(UNIFORM).splitlines())
    assert out != wanted(UNIFORM)


@pytest.mark.parametrize("grid", GRIDS)
def test_kill_and_resume_on_threads(tmp_path: Path, cradle: Nursery, wanted, grid: str) -> None:
    moments = random.Random(f"threads {grid}")
    begun = time.monotonic()
    assert cradle.run(sweep_words(GRIDS[grid], tmp_path, "--threads", 1), tmp_path).code == 0
    within = max(SHORTEST, (time.monotonic() - begun) / 2)  # on a busy machine blocks take longer, too
    kills = rounds = grew = 0
    while kills < KILLS[grid, "threads"]:
        folder = tmp_path / str(rounds)
        folder.mkdir()
        before = 0
        for _ in range(8):  # several kills on one store, whose blocks grow from one to the next
            number = cradle.start(sweep_words(GRIDS[grid], folder, "--threads", moments.choice((1, 2, 3))), folder)
            kind = moments.random()
            if kind < 0.4:  # after new blocks, however long they take on a busy machine
                until_grown(folder / "a.db", before, number)
                time.sleep(moments.random() * within / 10)
            else:  # at any time, also before there is a store
                if kind < 0.8:
                    until_there(folder / "a.db")
                time.sleep(moments.random() * within)
            os.kill(number, signal.SIGKILL)  # not reaped yet, so still its own
            killed = cradle.wait(number, folder).code == 128 + signal.SIGKILL
            kills += killed
            if not killed or kills == KILLS[grid, "threads"]:
                break
            after = blocks_in(folder) if (folder / "a.db").exists() else 0
            assert after >= before
            grew += after > before
            before = after
        ended = cradle.run(sweep_words(GRIDS[grid], folder), folder)
        assert ended.code == 0, ended.err
        assert finished(folder) == (wanted(GRIDS[grid]),) * 2
        rounds += 1
    assert grew  # kills fell in the middle: something was stored, and something was missing


def test_kill_and_resume_on_processes(tmp_path: Path, cradle: Nursery, wanted) -> None:
    moments = random.Random("processes")
    kills = rounds = orphans = 0
    while kills < KILLS["uniform", "workers"]:
        folder = tmp_path / str(rounds)
        folder.mkdir()
        for _ in range(5):
            with Process(sweep_words(UNIFORM, folder, "--workers", 2), folder) as process:
                until_there(folder / "a.db")
                time.sleep(moments.random() * 2.2)
                workers = workers_of(process.pid)
                os.kill(process.pid, signal.SIGKILL)
                killed = process.wait().code == 128 + signal.SIGKILL
            kills += killed
            orphans += len(workers)
            assert all_gone(workers)
            if not killed or kills == KILLS["uniform", "workers"]:
                break
        ended = cradle.run(sweep_words(UNIFORM, folder, "--threads", 2), folder)
        assert ended.code == 0, ended.err
        assert finished(folder) == (wanted(UNIFORM),) * 2
        rounds += 1
    assert orphans  # at some kills there were workers to look for


def test_killed_workers_are_replaced(tmp_path: Path, wanted) -> None:
    moments = random.Random("workers")
    killed: set[int] = set()
    with Process(sweep_words(UNIFORM, tmp_path, "--workers", 2), tmp_path) as process:
        until_there(tmp_path / "a.db")
        while len(killed) < 4 and not process.is_over():
            time.sleep(0.3 + moments.random() * 0.7)
            living = [worker for worker in workers_of(process.pid) if worker not in killed]
            if living:
                victim = moments.choice(living)
                os.kill(victim, signal.SIGKILL)
                killed.add(victim)
        ended = process.wait()
    assert (ended.code, killed != set()) == (0, True), ended.err
    assert "Traceback" not in ended.err
    assert finished(tmp_path) == (wanted(UNIFORM),) * 2
    assert all_gone(list(killed))


@pytest.mark.parametrize(("pages", "doing"), [(4, "create"), (12, "record blocks in"), (17, "record blocks in")])
def test_a_full_disk(tmp_path: Path, cradle: Nursery, wanted, pages: int, doing: str) -> None:
    ended = cradle.run(sweep_words(UNIFORM, tmp_path, "--quiet"), tmp_path, most_bytes=pages * 4096)
    assert ended.code == 1, ended.err
    assert re.fullmatch(
        rf"pairsim: Could not {doing} \S+: the system reports an input/output error .* is intact\..*\n", ended.err
    )
    assert ("Resume with: pairsim sweep" in ended.err) == (doing != "create")
    assert ended.out == ""
    assert not (tmp_path / "a.csv").exists()
    if pages == 17:
        assert 0 < blocks_in(tmp_path) < 25 * 12
    assert cradle.run(sweep_words(UNIFORM, tmp_path), tmp_path).code == 0
    assert finished(tmp_path) == (wanted(UNIFORM),) * 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "a.db", "stderr", "stdout"]


def test_a_full_disk_for_the_table(tmp_path: Path, cradle: Nursery) -> None:
    words = ["sweep", *UNIFORM, "--trials", "64", "--quiet", "--format", "csv", "--out", str(tmp_path / "a.json")]
    ended = cradle.run(words, tmp_path, most_bytes=2000)  # enough for the csv that is printed, not for the json
    assert len(ended.out.splitlines()) == 13
    assert (ended.code, ended.err) == (1, "pairsim: File too large\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["stderr", "stdout"]


STOPS = {signal.SIGINT: (130, "Ctrl-C"), signal.SIGTERM: (143, "SIGTERM")}


def go_on(ended: Ended, sign: signal.Signals) -> str:
    """Return the command that a stopped sweep says to go on with, after a look at how it says it."""
    code, name = STOPS[sign]
    assert ended.code == code, ended.err
    (line,) = [line for line in ended.err.splitlines() if "stopped" in line]
    assert "Traceback" not in ended.err
    beginning = f"pairsim: stopped by {name}; finished blocks are stored; resume with: "
    assert line.startswith(beginning)
    assert ended.err.splitlines()[-1] == line
    return line.removeprefix(beginning)


def run_in_shell(command: str) -> None:
    subprocess.run(command, shell=True, check=True, env=environment(), timeout=PATIENCE, capture_output=True)


@pytest.mark.parametrize(("sign", "group"), [(signal.SIGINT, False), (signal.SIGINT, True), (signal.SIGTERM, False)])
def test_stopped_on_threads(tmp_path: Path, cradle: Nursery, wanted, sign: signal.Signals, group: bool) -> None:
    folder = tmp_path / "two  blanks and 'quotes'"  # the command that is printed must work as it stands
    folder.mkdir()
    number = cradle.start(sweep_words(UNIFORM, folder, "--threads", 1), folder)
    until_stored(folder / "a.db")
    (os.killpg if group else os.kill)(number, sign)
    command = go_on(cradle.wait(number, folder), sign)
    assert not (folder / "a.csv").exists()
    run_in_shell(command)
    assert finished(folder) == (wanted(UNIFORM),) * 2


@pytest.mark.parametrize(("sign", "group"), [(signal.SIGINT, False), (signal.SIGINT, True), (signal.SIGTERM, False)])
def test_stopped_on_processes(tmp_path: Path, wanted, sign: signal.Signals, group: bool) -> None:
    with Process(sweep_words(UNIFORM, tmp_path, "--workers", 2), tmp_path) as process:
        until_there(tmp_path / "a.db")
        while len(workers := workers_of(process.pid)) < 2:
            assert not process.is_over()
            time.sleep(0.01)
        if not group:  # while the workers work; else while they start
            until_stored(tmp_path / "a.db")
        (os.killpg if group else os.kill)(process.pid, sign)
        ended = process.wait()
    command = go_on(ended, sign)
    assert all_gone(workers)
    if not group:
        run_in_shell(command)
        assert finished(tmp_path) == (wanted(UNIFORM),) * 2


@pytest.mark.parametrize("sign", STOPS)
def test_stopped_without_a_store(tmp_path: Path, cradle: Nursery, sign: signal.Signals) -> None:
    words = ["sweep", *UNIFORM, "--trials", "100000000", "--progress", "json", "--out", str(tmp_path / "a.csv")]
    number = cradle.start(words, tmp_path)
    until_there(tmp_path / "stderr", 1)
    os.kill(number, sign)
    ended = cradle.wait(number, tmp_path)
    code, name = STOPS[sign]
    assert (ended.code, ended.out) == (code, ""), ended.err
    *progress, line = ended.err.splitlines()
    assert all(state.startswith("{") for state in progress)
    assert line == f"pairsim: stopped by {name}; nothing was kept (--store FILE.db keeps finished blocks)"
    assert not (tmp_path / "a.csv").exists()


def test_two_at_once_with_the_same_command(tmp_path: Path, cradle: Nursery, wanted) -> None:
    numbers = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        words = sweep_words(UNIFORM, tmp_path, "--out", tmp_path / name / "a.csv", "--threads", 1)
        numbers.append((cradle.start(words, tmp_path / name), tmp_path / name))
    for number, folder in numbers:
        ended = cradle.wait(number, folder)
        assert ended.code == 0, ended.err
        assert (folder / "a.csv").read_bytes() == wanted(UNIFORM)
        assert ended.out.encode() == wanted(UNIFORM)
    assert exported(tmp_path) == wanted(UNIFORM)
    with Store.read(tmp_path / "a.db") as store:
        places = [(block.task, block.block) for block in store.all_blocks()]
        assert len(places) == len(set(places)) == store.count_blocks()
        assert len(store.runs()) == 2


def test_two_at_once_with_grids_that_overlap(tmp_path: Path, cradle: Nursery, wanted) -> None:
    grids = [[*UNIFORM, "--n", "8,12"], [*UNIFORM, "--n", "12,16"]]
    numbers = []
    for place, grid in enumerate(grids):
        folder = tmp_path / str(place)
        folder.mkdir()
        words = sweep_words(grid, tmp_path, "--out", folder / "a.csv", "--threads", 1)
        numbers.append((cradle.start(words, folder), folder, grid))
    for number, folder, grid in numbers:
        ended = cradle.wait(number, folder)
        assert ended.code == 0, ended.err
        assert (folder / "a.csv").read_bytes() == wanted(grid)
    with Store.read(tmp_path / "a.db") as store:
        places = [request.place for request in store.requests()]
        assert places == list(range(12))
        assert len(stored_rows(store)) == 12
    assert sorted(exported(tmp_path).splitlines()) == sorted(wanted(UNIFORM).splitlines())


def test_stopped_before_anything_is_begun(tmp_path: Path, monkeypatch, capsys) -> None:
    """Ctrl-C while a large store is being read says that what it holds is there, not that nothing is."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pairsim.sweeps.run.make_groups", interrupted)
    monkeypatch.setattr("sys.argv", ["pairsim", *sweep_words(UNIFORM, tmp_path)])
    with pytest.raises(SystemExit) as stop:
        main.run()
    assert stop.value.code == 130
    assert "finished blocks are stored; resume with: pairsim sweep" in capsys.readouterr().err
