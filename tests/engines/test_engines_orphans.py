"""Workers whose parent is killed end at once, whatever they are doing: starting, importing or working."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from engine_cluster import wait_until
from sweep_processes import is_running

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes through /proc")

PARENT = """
import sys, time
if __name__ != "__main__":
    open(f"{folder}/importing-" + str(__import__("os").getpid()), "w").close()
    time.sleep({slow})  # a main module that takes its time, imported again by every worker
from pairsim.engines import ProcessEngine, run_units
import engine_work as work

if __name__ == "__main__":
    units = iter(range(10**6))
    with ProcessEngine(3) as engine:
        engine.start(work.snooze, 0.01)
        print("started", flush=True)
        run_units(engine, lambda: next(units), lambda *_: None, print)
"""


def start(folder: Path, slow: float) -> subprocess.Popen[str]:
    file = folder / "parent.py"
    file.write_text(PARENT.format(folder=folder, slow=slow))
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    return subprocess.Popen(
        [sys.executable, str(file)], stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )


def in_session(session: int) -> list[int]:
    """Return the processes of a session that run, but for its leader."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != session:
            try:
                if int((entry / "stat").read_text().rpartition(")")[2].split()[3]) == session:
                    found.append(int(entry.name))
            except (OSError, IndexError):
                continue
    return [number for number in found if is_running(number)]


def kill_and_watch(parent: subprocess.Popen[str], patience: float) -> int:
    """Kill the parent and return how many of its processes it left, all of which end in time."""
    before = in_session(parent.pid)
    parent.kill()
    assert parent.stdout is not None
    try:
        wait_until(lambda: not in_session(parent.pid), "the workers to end", patience)
    finally:
        for number in in_session(parent.pid):
            os.kill(number, signal.SIGKILL)
        parent.stdout.close()
        parent.wait()
    return len(before)


def test_a_worker_does_not_finish_its_imports_without_its_parent(tmp_path: Path) -> None:
    parent = start(tmp_path, slow=300.0)
    wait_until(lambda: len(list(tmp_path.glob("importing-*"))) == 3, "the workers to import")
    assert kill_and_watch(parent, 20.0) >= 3


def test_parents_killed_at_random_moments_leave_nobody(tmp_path: Path) -> None:
    moments, left = random.Random(13), 0
    for _ in range(12):
        parent = start(tmp_path, slow=0.0)
        assert parent.stdout is not None
        assert parent.stdout.readline() == "started\n"
        time.sleep(moments.random() * 0.7)
        left += kill_and_watch(parent, 20.0)
    assert left  # there were workers to look for


@pytest.mark.parametrize("thread", ["main", "other"])
def test_the_thread_that_starts_a_worker_may_end(
    tmp_path: Path, thread: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Linux would kill a worker with the thread that started it: only the main thread may ask for that."""
    program = """
import threading, time
from pairsim.engines.guarded_process import make_process

if __name__ == "__main__":
    process = make_process(time.sleep, (2.0,), "sleeper")
    if {in_thread}:
        starter = threading.Thread(target=process.start)
        starter.start()
        starter.join()
    else:
        process.start()
    process.join()
    print(process.exitcode)
"""
    file = tmp_path / "program.py"
    file.write_text(program.format(in_thread=thread == "other"))
    run: Callable[..., subprocess.CompletedProcess[str]] = subprocess.run
    ended = run([sys.executable, str(file)], capture_output=True, text=True, timeout=60, check=True)
    assert (ended.stdout, ended.stderr) == ("0\n", "")
