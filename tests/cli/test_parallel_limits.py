"""How many threads and processes may be asked for, and that no more are started than there is work for."""

from __future__ import annotations

import multiprocessing
import threading
import time
from pathlib import Path

import engine_work as work
import pytest

from pairsim import MaxWin, ParameterError, Recorded, Uniform, fit_oracles, plan, simulate, sweep
from pairsim.checks import MOST_ANYWHERE, MOST_PER_CORE, check_parallel, usable_cores
from pairsim.engines import ProcessEngine, ThreadEngine, run_units
from pairsim.engines.ordered_threads import OrderedThreads

MOST = max(MOST_ANYWHERE, MOST_PER_CORE * usable_cores())
SWEEP = ["sweep", "--p", "0.7", "--n", "4", "--trials", "64", "--quiet"]
COMMANDS = {
    "workers": [*SWEEP, "--workers"],
    "threads": [*SWEEP, "--threads"],
    "dry run": [*SWEEP, "--dry-run", "--workers"],
    "plan": ["plan", "--n", "8", "--p", "0.9", "--target", "0.9", "--threads"],
    "evaluate": ["evaluate", "--data", "iris", "--reduction", "one-vs-all", "--jobs"],
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("number", [MOST + 1, 100_000, 10**18])
def test_commands_refuse_more_than_a_machine_can_bear(pairsim_command, command: str, number: int, tmp_path: Path):
    store = ["--store", tmp_path / "a.db"] if command in ("workers", "threads") else []
    ended = pairsim_command(*COMMANDS[command], number, *store)
    assert ended.code == 2, ended.err
    assert len(ended.err.splitlines()) == 1
    assert f"from 1 to {MOST}" in ended.err
    assert str(number) in ended.err
    assert list(tmp_path.iterdir()) == []  # rejected before anything was made


def test_the_limit_itself_is_no_refusal():
    assert check_parallel("sweep", "workers", MOST) == MOST
    assert simulate(Uniform(4, 1.0), MaxWin(), 100, threads=MOST).success == pytest.approx(1.0)
    assert len(sweep([Uniform(4, 1.0)], [MaxWin()], 64, threads=64)) == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda: simulate(Uniform(4, 0.9), MaxWin(), 64, threads=10**6),
        lambda: sweep([Uniform(4, 0.9)], [MaxWin()], 64, threads=10**6),
        lambda: sweep([Uniform(4, 0.9)], [MaxWin()], 64, workers=10**18),
        lambda: plan(Uniform(4, 0.9), 0.5, threads=10**6),
        lambda: fit_oracles(Recorded.of(Uniform(4, 0.9), 20), [MaxWin()], threads=10**6),
        lambda: ThreadEngine(10**6),
        lambda: ProcessEngine(10**18),
    ],
    ids=["simulate", "sweep threads", "sweep workers", "plan", "fit_oracles", "ThreadEngine", "ProcessEngine"],
)
def test_functions_refuse_them_too(call):
    with pytest.raises(ParameterError, match=rf"must be an integer from 1 to {MOST} \(16 per usable core"):
        call()


def test_a_thread_is_started_only_with_a_piece_of_work():
    before = threading.active_count()
    seen = []

    def count(piece):
        time.sleep(0.01)
        seen.append(threading.active_count() - before)
        return piece

    assert list(OrderedThreads(count, range(3)).work(5000)) == [0, 1, 2]
    assert max(seen) == 2  # and the caller's
    assert list(OrderedThreads(count, range(0)).work(5000)) == []


def test_where_no_thread_can_be_started_the_others_do_the_work(monkeypatch):
    started = []

    class Scarce(threading.Thread):
        def start(self):
            if len(started) == 2:
                raise RuntimeError("can't start new thread")
            started.append(self)
            super().start()

    def square(piece):
        time.sleep(0.005)
        return piece**2

    monkeypatch.setattr(threading, "Thread", Scarce)
    assert list(OrderedThreads(square, range(50)).work(8)) == [piece**2 for piece in range(50)]
    assert len(started) == 2


def workers() -> int:
    return sum(child.name == "pairsim-worker" for child in multiprocessing.active_children())


@pytest.mark.parametrize("units", [0, 1, 3])
def test_no_more_workers_are_started_than_there_are_units(units: int):
    left, seen, done = iter(range(units)), [0], []
    with ProcessEngine(40) as engine:
        engine.start(work.snooze, 0.3)
        run_units(
            engine,
            lambda: next(left, None),
            lambda unit, *_: done.append(unit),
            pytest.fail,
            tick=lambda: seen.append(workers()),
        )
    assert sorted(done) == list(range(units))
    assert max(seen) == units
    assert workers() == 0
