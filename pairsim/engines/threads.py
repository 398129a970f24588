"""Units on threads of this process: best for work that releases the interpreter's lock."""

from __future__ import annotations

import queue
import time
from types import TracebackType
from typing import Any

from pairsim.checks import check_parallel
from pairsim.engines.base import Engine, EngineLost, Finished, Work
from pairsim.engines.ordered_threads import WorkThreads
from pairsim.engines.packing import perform

FEWEST_AHEAD, MOST_AHEAD = 2, 64  # units per thread, running or waiting for it:
SECONDS_AHEAD = 0.1  # as many as it does in this time, as the thread that hands them out may be busy with a file
LONGEST_PAUSE = 0.02  # seconds


class ThreadEngine(Engine):
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

    in_process = True

    def __init__(self, threads: int) -> None:
        self.slots = check_parallel("ThreadEngine", "threads", threads)
        self._usual_seconds = SECONDS_AHEAD  # of a unit
        self._earlier: list[WorkThreads[Any]] = []  # of runs that are over: the last units may still be running
        self._run: _ThreadRun | None = None

    @property
    def capacity(self) -> int:
        """Many more than the slots where units are short, so that no thread waits for the next."""
        ahead = int(SECONDS_AHEAD / max(self._usual_seconds, 1e-6))
        return min(MOST_AHEAD, max(FEWEST_AHEAD, ahead)) * self.slots

    def describe(self) -> str:
        """Say in a few words where the units run."""
        return f"{self.slots} thread{'s' * (self.slots > 1)}"

    def start(self, work: Work, context: Any) -> None:
        """Remember the work; a thread is started with the first unit that finds none free."""
        self.stop(now=True)
        self._run = _ThreadRun(work, context)

    def submit(self, unit: Any) -> None:
        """Pass one unit to a thread: a new one, while there are fewer than units and than slots."""
        run = self._run
        if run is None:
            raise EngineLost("the threads take no more units")
        run.submitted += 1
        if len(run.threads) < min(self.slots, run.submitted) and run.threads.start(unit):
            return
        if not len(run.threads):
            raise EngineLost("the system has no thread left")
        run.waiting.put(unit)

    def wait(self, timeout: float | None) -> list[Finished]:
        """Return what has finished; while units are waiting for a thread, a little later, with what came meanwhile.

        A thread that wakes up for a result takes a core from one that works.
        """
        run = self._run
        if run is None:
            return []
        finished = run.collect(timeout)
        waiting = run.submitted - self.slots
        if finished and waiting > 0:
            self._usual_seconds = sum(each.seconds for each in finished) / len(finished)
            time.sleep(min(LONGEST_PAUSE, waiting * self._usual_seconds / self.slots / 4))
            finished += run.collect(0.0)
        return finished

    def stop(self, *, now: bool) -> None:
        """End the threads; with `now`, drop what has not begun and do not wait for what has."""
        run, self._run = self._run, None
        if run is None:
            return
        while not now and run.submitted:
            run.collect(None)
        run.threads.stopped = True
        for _ in range(len(run.threads)):
            run.waiting.put(None)  # wakes one that waits
        self._earlier.append(run.threads)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        for threads in self._earlier:
            threads.join()
        self._earlier.clear()


class _ThreadRun:
    """What lies between `start` and `stop`; what its threads bring later is never seen again."""

    def __init__(self, work: Work, context: Any) -> None:
        self.submitted = 0  # and not yet collected
        self.waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
        arrivals: queue.SimpleQueue[Finished] = queue.SimpleQueue()
        self._arrivals = arrivals
        self.threads: WorkThreads[Any] = WorkThreads(
            lambda unit: arrivals.put(Finished(unit, *perform(work, context, unit))), self.waiting.get
        )

    def collect(self, timeout: float | None) -> list[Finished]:
        """Return what has arrived; wait for the first one as long as is allowed."""
        finished: list[Finished] = []
        while self.submitted:
            try:
                finished.append(self._arrivals.get(timeout=0.0 if finished else timeout))
            except queue.Empty:
                break
            self.submitted -= 1
        return finished
