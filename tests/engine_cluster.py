"""A Dask scheduler and its workers as processes of their own, on the loopback address, for tests."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

PATIENCE = 60.0


def wait_until(true: Callable[[], bool], what: str, patience: float = PATIENCE) -> None:
    """Poll until something holds; a generous limit keeps a broken test from hanging."""
    deadline = time.monotonic() + patience
    while not true():
        assert time.monotonic() < deadline, f"gave up waiting for {what}"
        time.sleep(0.02)


HERE = Path(__file__).parent


class Cluster:
    """One scheduler on a free port; workers are added one by one. Leaving it kills what is still there."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self.environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), str(HERE / "engines")]), **settings}
        self.workers: list[subprocess.Popen[bytes]] = []
        self.nannies: list[subprocess.Popen[bytes]] = []
        file = folder / "scheduler.json"
        self.scheduler = self._run("dask_scheduler", "--port", "0", "--scheduler-file", str(file))
        wait_until(lambda: file.exists() and file.read_text().endswith("}"), "the scheduler")
        self.address: str = json.loads(file.read_text())["address"]

    def _run(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{module}", *arguments]
        command += ["--host", "127.0.0.1", "--no-dashboard"]
        with open(self.folder / f"{module}.log", "ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, env=self.environment, cwd=self.folder)

    def add_worker(self, *, nanny: bool = False) -> subprocess.Popen[bytes]:
        """Start a worker of one thread; with a nanny, which starts it again when it dies."""
        arguments = [self.address, "--nthreads", "1", "--local-directory", str(self.folder)]
        arguments += ["--nanny" if nanny else "--no-nanny"]
        worker = self._run("dask_worker", *arguments)
        self.workers.append(worker)
        if nanny:
            self.nannies.append(worker)
        return worker

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in [*self.workers, self.scheduler]:
            if process in self.nannies:
                process.terminate()  # ends its worker first
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(10)
            process.kill()
            process.wait()
