"""Units on threads of this process: best for work that releases the interpreter's lock."""

from __future__ import annotations

import contextlib
import time
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any

from pairsim.checks import check_parallel
from pairsim.engines.base import EngineLost, Finished, Work
from pairsim.engines.executors import ExecutorEngine

FEWEST_AHEAD, MOST_AHEAD = 2, 64  # units a thread, running or waiting for it:
SECONDS_AHEAD = 0.1  # as many as it does in this time, as whoever hands them out may be busy with a file meanwhile
LONGEST_PAUSE = 0.02  # seconds


class ThreadEngine(ExecutorEngine):
    """Runs units on threads of its own.

    A running thread cannot be ended from outside: `stop(now=True)` returns at once and drops what has not begun,
    and leaving the `with` block waits for the units that are running.

    Parameters
    ----------
    threads : int
        How many units run at once.

    Examples
    --------
    >>> with ThreadEngine(2) as engine:
    ...     engine.start(pow, 2)
    ...     engine.submit(5)
    ...     engine.wait(None)[0].result
    32
    """

    def __init__(self, threads: int) -> None:
        self._threads = check_parallel("ThreadEngine", "threads", threads)
        self._pools: list[ThreadPoolExecutor] = []
        self._usual_seconds = SECONDS_AHEAD  # of a unit
        super().__init__(ThreadPoolExecutor(self._threads), self._threads)  # no thread before the first unit

    @property
    def room(self) -> int:
        """Many more than the slots where units are short, so that none waits for whoever hands them out."""
        ahead = int(SECONDS_AHEAD / max(self._usual_seconds, 1e-6))
        return min(MOST_AHEAD, max(FEWEST_AHEAD, ahead)) * self.slots

    def describe(self) -> str:
        """Say in a few words where the units run."""
        return f"{self.slots} thread{'s' * (self.slots > 1)}"

    def wait(self, timeout: float | None) -> list[Finished]:
        """Return what has finished; while units are waiting for a thread, a little later, with what came meanwhile.

        Whoever wakes up for a result takes a core from one that works.
        """
        finished = super().wait(timeout)
        waiting = len(self._units) - self.slots
        if finished and waiting > 0:
            self._usual_seconds = sum(each.seconds for each in finished) / len(finished)
            time.sleep(min(LONGEST_PAUSE, waiting * self._usual_seconds / self.slots / 4))
            with contextlib.suppress(EngineLost):  # told the next time: what has finished goes first
                finished += super().wait(0.0)
        return finished

    def start(self, work: Work, context: Any) -> None:
        """Make the threads' pool."""
        self._executor = ThreadPoolExecutor(self._threads, thread_name_prefix="pairsim")
        self._pools.append(self._executor)
        super().start(work, context)

    def stop(self, *, now: bool) -> None:
        """End the pool; with `now`, drop what has not begun and do not wait for what has."""
        super().stop(now=now)
        for pool in self._pools:
            pool.shutdown(wait=not now, cancel_futures=now)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        for pool in self._pools:
            pool.shutdown(wait=True)
        self._pools.clear()
