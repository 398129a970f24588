"""Sweeps as processes of their own, to be killed: `python sweep_processes.py` is a nursery of such processes.

Starting Python and loading the kernels takes longer than the sweeps of the tests. So the nursery does that once, and
then forks a process for each command; what is killed is a process like any other, found at any point of its work.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pairsim.store import Store

OFTEN = 0.02  # seconds between writes, so that a kill has a fair probability to meet one
PATIENCE = 120.0  # seconds until a process that should have ended is taken for hanging
UNIFORM = ["--p", "0.7,0.9", "--n", "8,12,16", "--decoder", "max-win", "--decoder", "adag", "--trials", "1600000"]
DECODERS = ["--decoder", "poll:l=2,ties=lose", "--decoder", "adag", "--decoder", "ddag"]
SIMILAR = ["--r", "zipf:1.0", "--n", "8,12", *DECODERS, "--trials", "800000"]


STOPPING = (signal.SIGINT, signal.SIGTERM)


class Ended(NamedTuple):
    """How a process ended: its exit code, as a shell would say it, and what it wrote."""

    code: int
    out: str
    err: str


def sweep_words(grid: Sequence[str], folder: Path, *more: object) -> list[str]:
    """Return the arguments of a sweep that keeps its blocks in `folder` and writes its table there."""
    files = ["--store", str(folder / "a.db"), "--out", str(folder / "a.csv")]
    return ["sweep", *grid, *files, "--format", "csv", *map(str, more)]


def environment() -> dict[str, str]:
    """Return an environment in which a shell finds the `pairsim` of this Python."""
    return os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


class Process:
    """`pairsim *words`, as a process that leads a group of its own; it is over when the block ends.

    `before` is code that is run first, such as to shorten a wait.
    """

    def __init__(self, words: Sequence[str], folder: Path, before: str = "pass") -> None:
        self._files = (folder / "stdout", folder / "stderr")
        often = f"from pairsim.sweeps import block_results; block_results.SECONDS_BETWEEN_WRITES = {OFTEN}"
        command = [sys.executable, "-c", f"{often}; {before}; from pairsim.cli import run; run()", *words]
        with self._files[0].open("wb") as out, self._files[1].open("wb") as err:
            self._popen = subprocess.Popen(command, stdout=out, stderr=err, start_new_session=True)
        self.pid = self._popen.pid

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        if self._popen.poll() is None:
            self._popen.kill()
        self._popen.wait()

    def is_over(self) -> bool:
        return self._popen.poll() is not None

    def wait(self) -> Ended:
        code = self._popen.wait(PATIENCE)
        return Ended(code if code >= 0 else 128 - code, *(file.read_text() for file in self._files))


class Nursery:
    """Starts processes quickly. A child is not reaped before it is asked for, so that its number stays its own."""

    def __init__(self, popen: subprocess.Popen[str]) -> None:
        self._popen = popen

    def _ask(self, **query: object) -> int:
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        self._popen.stdin.write(json.dumps(query) + "\n")
        self._popen.stdin.flush()
        return int(self._popen.stdout.readline())

    def start(self, words: Sequence[str], folder: Path, most_bytes: int | None = None) -> int:
        """Start `pairsim *words`, which can write files of so many bytes only, and return the process's number."""
        return self._ask(words=list(words), folder=str(folder), most_bytes=most_bytes)

    def wait(self, number: int, folder: Path) -> Ended:
        """Wait for the end of a process."""
        code = self._ask(wait=number)
        return Ended(code, (folder / "stdout").read_text(), (folder / "stderr").read_text())

    def run(self, words: Sequence[str], folder: Path, most_bytes: int | None = None) -> Ended:
        return self.wait(self.start(words, folder, most_bytes), folder)


@contextlib.contextmanager
def nursery() -> Iterator[Nursery]:
    """Give a nursery; it and all its children are over when the block ends."""
    command = [sys.executable, __file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as popen:
        assert popen.stdout is not None
        assert popen.stdout.readline() == "ready\n"
        yield Nursery(popen)


def is_running(number: int) -> bool:
    """Whether a process is there and not just waiting to be buried by whoever inherited it."""
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def workers_of(number: int) -> list[int]:
    """Return the worker processes of a parent, by its children."""
    try:
        children = Path(f"/proc/{number}/task/{number}/children").read_text().split()
        return [int(child) for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]
    except OSError:  # one of them has just gone
        return []


def all_gone(numbers: Sequence[int]) -> bool:
    """Wait for processes to end on their own; false when one does not."""
    deadline = time.monotonic() + PATIENCE
    while any(map(is_running, numbers)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def until_there(path: Path, size: int = 0) -> None:
    """Wait for a file of at least that size."""
    deadline = time.monotonic() + PATIENCE
    while not path.exists() or path.stat().st_size < size:
        assert time.monotonic() < deadline, f"{path} did not come"
        time.sleep(0.002)


def until_grown(path: Path, blocks: int, number: int) -> None:
    """Wait until a store has more blocks than so many, or until the process that writes them is over."""
    until_there(path)
    deadline = time.monotonic() + PATIENCE
    while is_running(number):
        with Store.read(path) as store:
            if store.count_blocks() > blocks:
                return
        assert time.monotonic() < deadline, f"{path} does not grow"
        time.sleep(0.01)


def until_stored(path: Path) -> None:
    """Wait until a store has some blocks."""
    until_there(path)
    deadline = time.monotonic() + PATIENCE
    while True:
        with Store.read(path) as store:
            if store.count_blocks():
                return
        assert time.monotonic() < deadline, f"{path} stays empty"
        time.sleep(0.01)


def _begin(words: list[str], folder: str, most_bytes: int | None) -> None:
    """In a new process, with signals blocked: be `pairsim *words`, which from its first line on handles them."""
    os.setsid()
    if most_bytes is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
    for descriptor, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(f"{folder}/{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), descriptor)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.argv = ["pairsim", *words]
    from pairsim.cli import _leave, run

    for number in STOPPING:
        signal.signal(number, _leave)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)
    code: object = 70
    try:
        run()
    except SystemExit as end:
        code = end.code
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(code or 0) if isinstance(code, int | None) else 70)


def _reap(number: int) -> int:
    deadline = time.monotonic() + PATIENCE
    while True:
        found, status = os.waitpid(number, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            os.kill(number, signal.SIGKILL)  # a child of ours that was not reaped: the number is its own
        time.sleep(0.005)


def _serve() -> None:
    from pairsim import Adag, Ddag, MaxWin, Poll, Similarity, Uniform, sweep
    from pairsim.cli import main  # noqa: F401 - loaded here for all children
    from pairsim.sweeps import block_results

    block_results.SECONDS_BETWEEN_WRITES = OFTEN
    sweep([Uniform(8, 0.7), Uniform(8, 0.9)], [MaxWin(), Adag()], trials=64, threads=1)
    sweep([Similarity.profile("zipf:1.0", 8)], [Poll(2, ties="lose"), Adag(), Ddag()], trials=64, threads=1)
    print("ready", flush=True)
    children = set()
    for line in sys.stdin:
        query = json.loads(line)
        if "wait" in query:
            code = _reap(query["wait"])
            children.discard(query["wait"])
            print(code if code >= 0 else 128 - code, flush=True)
            continue
        signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)  # until the child is a program that handles them
        number = os.fork()
        if number == 0:
            _begin(**query)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)
        children.add(number)
        print(number, flush=True)
    for number in children:
        os.kill(number, signal.SIGKILL)


if __name__ == "__main__":
    _serve()
