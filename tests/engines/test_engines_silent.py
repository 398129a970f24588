"""Workers that are stopped (SIGSTOP) and go on later: reported, replaced, and every unit counted once."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import engine_work as work
import pytest
from sweep_processes import PATIENCE, UNIFORM, Process, sweep_words, until_stored, workers_of

from pairsim.engines import ProcessEngine, run_units

SILENCE = 1.5


@pytest.fixture
def stopped() -> Iterator[list[int]]:
    """Collect numbers of stopped processes; those that are still there go on at the end."""
    numbers: list[int] = []
    yield numbers
    for number in numbers:
        try:
            os.kill(number, signal.SIGCONT)
        except ProcessLookupError:
            continue


def workers() -> list[int]:
    return sorted(
        child.pid for child in multiprocessing.active_children() if child.name == "pairsim-worker" and child.pid
    )


class Run:
    """One run of snoozing units on an engine with little patience; `act` is called at every tick."""

    def __init__(self, units: list[Any], processes: int, nap: float, act: Callable[[Run], None]) -> None:
        self.done: list[Any] = []
        self.told: list[str] = []
        self.notes: dict[str, Any] = {}
        left, limit = iter(units), time.monotonic() + PATIENCE

        def tick() -> None:
            assert time.monotonic() < limit, self.told
            act(self)

        with ProcessEngine(processes, silence=SILENCE, tell=self.told.append) as engine:
            engine.start(work.snooze, nap)
            self.engine = engine
            run_units(engine, lambda: next(left, None), lambda unit, *_: self.done.append(unit), pytest.fail, tick=tick)


def test_a_stopped_worker_is_reported_and_its_units_are_done_by_another(stopped: list[int]) -> None:
    def stop_one(run: Run) -> None:
        if not stopped and len(run.done) >= 4:
            stopped.append(workers()[0])
            os.kill(stopped[0], signal.SIGSTOP)

    units = list(range(40))
    run = Run(units, 2, 0.05, stop_one)
    assert Counter(run.done) == Counter(units)
    (line,) = run.told
    number, seconds = re.fullmatch(
        r"worker process (\d+) has been silent for (\d+) s; its units go to another worker", line
    ).groups()
    assert (int(number), int(seconds) >= 1) == (stopped[0], True)
    assert workers() == []  # the engine has ended it, stopped as it was


def test_a_worker_that_goes_on_is_counted_once(stopped: list[int]) -> None:
    def stop_and_go_on(run: Run) -> None:
        if not stopped and len(run.done) >= 4:
            stopped.append(workers()[0])
            os.kill(stopped[0], signal.SIGSTOP)
        elif len(run.told) == 1:
            os.kill(stopped[0], signal.SIGCONT)

    units = list(range(120))
    run = Run(units, 2, 0.05, stop_and_go_on)
    assert Counter(run.done) == Counter(units)
    assert run.told[1:] == [f"worker process {stopped[0]} is back"]


def test_all_workers_stopped_at_once_are_all_replaced(stopped: list[int]) -> None:
    def stop_all(run: Run) -> None:
        if not stopped and len(run.done) >= 4:
            stopped.extend(workers())
            for number in stopped:
                os.kill(number, signal.SIGSTOP)

    units = list(range(30))
    run = Run(units, 2, 0.05, stop_all)
    assert Counter(run.done) == Counter(units)
    assert len(run.told) == len(stopped) == 2


def test_a_stopped_worker_that_is_killed_is_no_bad_attempt_of_its_unit(stopped: list[int]) -> None:
    def stop_then_kill(run: Run) -> None:
        if not stopped and len(run.done) >= 4:
            stopped.append(workers()[0])
            os.kill(stopped[0], signal.SIGSTOP)
        elif len(run.told) == 1 and "killed" not in run.notes:
            os.kill(stopped[0], signal.SIGKILL)
            run.notes["killed"] = True

    units = list(range(80))
    run = Run(units, 2, 0.05, stop_then_kill)
    assert Counter(run.done) == Counter(units)


def test_a_long_unit_is_not_silence() -> None:
    run = Run(["long"], 1, 2.5 * SILENCE, lambda run: None)
    assert (run.done, run.told) == (["long"], [])


def test_large_units_do_not_block_on_a_worker_that_does_not_read(stopped: list[int]) -> None:
    """More than any pipe holds: whoever sent it directly would wait for the stopped worker for ever."""

    def stop_one(run: Run) -> None:
        if not stopped and len(run.done) >= 2:
            stopped.append(workers()[0])
            os.kill(stopped[0], signal.SIGSTOP)

    units = [bytes([number]) * 3_000_000 for number in range(20)]
    run = Run(units, 2, 0.05, stop_one)
    assert Counter(run.done) == Counter(units)
    assert len(run.told) == 1


def test_a_parent_that_was_stopped_itself_does_not_blame_its_workers(tmp_path: Path) -> None:
    words = sweep_words([*UNIFORM, "--trials", "40000000"], tmp_path, "--workers", 2)
    with Process(words, tmp_path, before="from pairsim.engines import processes; processes.SILENCE = 2.0") as process:
        until_stored(tmp_path / "a.db")
        os.killpg(process.pid, signal.SIGSTOP)  # as Ctrl-Z does
        time.sleep(4.0)
        os.killpg(process.pid, signal.SIGCONT)
        time.sleep(2.0)
        os.kill(process.pid, signal.SIGINT)
        ended = process.wait()
    assert ended.code == 130
    assert "silent" not in ended.err


def test_a_sweep_says_who_is_silent_and_goes_on(tmp_path: Path, stopped: list[int]) -> None:
    grid = ["--p", "0.7,0.9", "--n", "8", "--decoder", "max-win", "--decoder", "adag", "--trials", "12000000"]
    words = sweep_words(grid, tmp_path, "--workers", 2)
    with Process(words, tmp_path, before="from pairsim.engines import processes; processes.SILENCE = 2.0") as process:
        until_stored(tmp_path / "a.db")
        stopped.extend(workers_of(process.pid)[:1])
        os.kill(stopped[0], signal.SIGSTOP)
        ended = process.wait()
    assert ended.code == 0, ended.err
    assert f"pairsim: worker process {stopped[0]} has been silent for " in ended.err
    again = Process(sweep_words(grid, tmp_path, "--threads", 1, "--store", tmp_path / "b.db"), tmp_path)
    with again:
        assert again.wait().out == ended.out
