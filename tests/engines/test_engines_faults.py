"""Workers that die, parents that die, and Ctrl-C: real processes, really killed."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import engine_work as work
import pytest
from engine_cluster import wait_until

from pairsim.engines import EngineLost, ExecutorEngine, ProcessEngine, ThreadEngine, WorkerDied, run_units
from pairsim.engines.interrupts import DeferredInterrupt

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes through /proc")


def feed(units: list[Any]) -> Callable[[], Any | None]:
    left = iter(units)
    return lambda: next(left, None)


def is_running(number: int) -> bool:
    """Whether a process is there and not just waiting to be buried by whoever inherited it."""
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def busy_workers(folder: Path) -> list[int]:
    return [int(file.name.removeprefix("busy-")) for file in folder.glob("busy-*")]


def run_deadly(folder: Path, units: list[tuple[int, int]], attempts: int) -> tuple[list[int], list[tuple[Any, Any]]]:
    done: list[int] = []
    failed: list[tuple[Any, Any]] = []
    with ProcessEngine(2) as engine:
        engine.start(work.die_as_told, str(folder))
        run_units(
            engine,
            feed(units),
            lambda unit, result, seconds: done.append(result),
            lambda *failure: failed.append(failure),
            attempts=attempts,
        )
    return done, failed


def test_a_unit_that_always_kills_its_worker_is_found_and_given_up(tmp_path: Path) -> None:
    units = [(number, 99 if number in (3, 11) else 0) for number in range(24)]
    done, failed = run_deadly(tmp_path, units, attempts=3)
    assert sorted(done) == [number for number in range(24) if number not in (3, 11)]
    assert sorted(unit for unit, _ in failed) == [(3, 99), (11, 99)]
    assert all(isinstance(error, WorkerDied) and "killed by SIGKILL" in str(error) for _, error in failed)
    # blame is exact: the guilty ran three times each, and nobody else was run twice
    assert [work.runs_of(tmp_path, number) for number in range(24)] == [
        3 if number in (3, 11) else 1 for number in range(24)
    ]


def test_a_unit_that_kills_its_worker_once_gets_done(tmp_path: Path) -> None:
    units = [(number, int(number % 5 == 0)) for number in range(15)]
    done, failed = run_deadly(tmp_path, units, attempts=2)
    assert sorted(done) == list(range(15))
    assert failed == []
    done, failed = run_deadly(tmp_path, [(99, 1)], attempts=1)  # with one attempt, once is too often
    assert (done, [unit for unit, _ in failed]) == ([], [(99, 1)])


def test_workers_killed_from_outside_again_and_again() -> None:
    probability, kills, done = random.Random(20), [0], []

    def kill_one() -> None:
        workers = [child for child in multiprocessing.active_children() if child.name == "pairsim-worker"]
        if kills[0] < 15 and workers and probability.random() < 0.6:
            victim = probability.choice(workers)
            assert victim.pid is not None
            os.kill(victim.pid, signal.SIGKILL)
            kills[0] += 1

    units = list(range(300))
    with ProcessEngine(3) as engine:
        engine.start(work.snooze, 0.02)
        run_units(engine, feed(units), lambda unit, *_: done.append(unit), pytest.fail, tick=kill_one, attempts=99)
    assert sorted(done) == units
    assert kills[0] >= 5


def test_workers_that_die_while_they_start_lose_the_engine() -> None:
    with ProcessEngine(2) as engine:
        engine.start(work.snooze, work.DeadlyContext())
        with pytest.raises(EngineLost, match=r"keep dying before they do anything \(process \d+, exit code 3\)"):
            run_units(engine, feed([1, 2, 3]), pytest.fail, pytest.fail)
        engine.start(work.power, 2)
        results: list[int] = []
        run_units(engine, feed([5]), lambda unit, result, seconds: results.append(result), pytest.fail)
    assert results == [32]


def test_a_pool_of_somebody_else_that_breaks_is_lost(tmp_path: Path) -> None:
    done: list[int] = []
    with (
        ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool,
        ExecutorEngine(pool) as engine,
    ):
        engine.start(work.die_as_told, str(tmp_path))
        with pytest.raises(EngineLost, match="ProcessPoolExecutor takes no more units"):
            run_units(
                engine, feed([(0, 0), (1, 0), (2, 9), (3, 0)]), lambda unit, *_: done.append(unit[0]), pytest.fail
            )
    assert len(done) == len(set(done))


SCRIPT = """
import sys, time
import engine_work as work
from pairsim.engines import ProcessEngine, ThreadEngine, run_units

def main():
    delivered = []
    units = iter(range(10**6))
    try:
        with {engine} as engine:
            engine.start(work.{work}, {context!r})
            print("started", flush=True)
            run_units(engine, lambda: next(units), lambda unit, *_: delivered.append(unit), print)
    except KeyboardInterrupt:
        print("interrupted", len(delivered) == len(set(delivered)), len(delivered) > 0, flush=True)
        sys.exit(130)

if __name__ == "__main__":
    main()
"""


@pytest.fixture
def start_parent(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a script of its own process group that runs an engine; what it leaves running is ended."""
    parents: list[subprocess.Popen[str]] = []

    def start(script: str = SCRIPT, **blanks: Any) -> subprocess.Popen[str]:
        file = tmp_path / "parent.py"
        file.write_text(textwrap.dedent(script).format(**blanks) if blanks else textwrap.dedent(script))
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        parent = subprocess.Popen(
            [sys.executable, str(file)], text=True, env=environment, start_new_session=True, **pipes
        )
        parents.append(parent)
        return parent

    yield start
    for parent in parents:
        parent.kill()
    for number in busy_workers(tmp_path):
        if is_running(number):
            os.kill(number, signal.SIGKILL)
    for parent in parents:
        parent.communicate(timeout=30)


@needs_proc
def test_killing_the_parent_ends_its_busy_workers(
    start_parent: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    parent = start_parent(engine="ProcessEngine(2)", work="burn", context=str(tmp_path))
    wait_until(lambda: len(busy_workers(tmp_path)) == 2, "two busy workers")
    workers = busy_workers(tmp_path)
    assert all(map(is_running, workers))
    parent.kill()
    wait_until(lambda: not any(map(is_running, workers)), "the workers to end", 10.0)


@needs_proc
def test_a_busy_process_without_an_engine_outlives_its_parent(
    start_parent: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    script = f"""
    import multiprocessing
    import engine_work as work

    if __name__ == "__main__":
        multiprocessing.get_context("spawn").Process(target=work.burn, args=({str(tmp_path)!r}, 0)).start()
    """
    parent = start_parent(script)
    wait_until(lambda: len(busy_workers(tmp_path)) == 1, "a busy process")
    parent.kill()
    parent.wait()
    (worker,) = busy_workers(tmp_path)
    with pytest.raises(AssertionError, match="gave up"):
        wait_until(lambda: not is_running(worker), "the process to end", 1.5)


@pytest.mark.parametrize("engine", ["ProcessEngine(2)", "ThreadEngine(2)"])
def test_an_interrupt_of_the_whole_group_ends_it_quietly(
    start_parent: Callable[..., subprocess.Popen[str]], engine: str, tmp_path: Path
) -> None:
    parent = start_parent(engine=engine, work="note_run", context=str(tmp_path))
    wait_until((tmp_path / "unit-40").exists, "some units")
    os.killpg(parent.pid, signal.SIGINT)
    output, errors = parent.communicate(timeout=30)  # ends only when every worker has let go of the pipes
    assert output == "started\ninterrupted True True\n"
    assert errors == ""
    assert parent.returncode == 130


def test_an_interrupt_leaves_no_busy_worker(start_parent: Callable[..., subprocess.Popen[str]], tmp_path: Path) -> None:
    parent = start_parent(engine="ProcessEngine(2)", work="burn", context=str(tmp_path))
    wait_until(lambda: len(busy_workers(tmp_path)) == 2, "two busy workers")
    os.killpg(parent.pid, signal.SIGINT)
    output, errors = parent.communicate(timeout=30)
    assert (output, errors, parent.returncode) == ("started\ninterrupted True False\n", "", 130)
    assert not any(map(is_running, busy_workers(tmp_path)))


def test_an_interrupt_while_workers_start_prints_nothing(start_parent: Callable[..., subprocess.Popen[str]]) -> None:
    parent = start_parent(engine="ProcessEngine(4)", work="snooze", context=0.01)
    assert parent.stdout is not None
    assert parent.stdout.readline() == "started\n"
    os.killpg(parent.pid, signal.SIGINT)
    output, errors = parent.communicate(timeout=30)
    assert output.startswith("interrupted True")
    assert (errors, parent.returncode) == ("", 130)


def test_a_script_without_a_guard_is_told_so(start_parent: Callable[..., subprocess.Popen[str]]) -> None:
    script = """
    from pairsim.engines import EngineLost, ProcessEngine, run_units

    with ProcessEngine(1) as engine:
        engine.start(pow, 2)
        units = [3]
        try:
            run_units(engine, lambda: units.pop() if units else None, print, print)
        except EngineLost as error:
            print(error)
    """
    output, _ = start_parent(script).communicate(timeout=60)
    assert "keep dying before they do anything" in output
    assert "if __name__ == '__main__'" in output


def test_an_interrupt_waits_for_the_callback_and_delivers_what_has_finished() -> None:
    steps: list[Any] = []

    def done(unit: int, result: int, seconds: float) -> None:
        if unit == 0:
            signal.raise_signal(signal.SIGINT)
        steps.append(unit)

    with ThreadEngine(1) as engine:
        engine.start(work.power, 2)
        with pytest.raises(KeyboardInterrupt):
            run_units(engine, feed(list(range(1000))), done, pytest.fail)
    assert steps == list(range(len(steps)))
    assert 1 <= len(steps) < 1000
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_interrupt_does_not_wait() -> None:
    after_first = []

    def done(unit: int, result: int, seconds: float) -> None:
        signal.raise_signal(signal.SIGINT)
        after_first.append(unit)
        signal.raise_signal(signal.SIGINT)
        pytest.fail("the second interrupt was held back")

    with ThreadEngine(1) as engine:
        engine.start(work.power, 2)
        with pytest.raises(KeyboardInterrupt):
            run_units(engine, feed([1]), done, pytest.fail)
    assert after_first == [1]


def test_an_interrupt_at_the_very_end_is_not_lost() -> None:
    with ThreadEngine(1) as engine:
        engine.start(work.power, 2)
        with pytest.raises(KeyboardInterrupt):
            run_units(engine, feed([1]), lambda *_: signal.raise_signal(signal.SIGINT), pytest.fail)


def test_who_has_a_handler_or_another_thread_keeps_it() -> None:
    mine = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with DeferredInterrupt():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, mine)
    seen: list[Any] = []

    def elsewhere() -> None:
        with DeferredInterrupt():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]
    with DeferredInterrupt():
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
