"""Units on processes of this machine, for work that holds the interpreter's lock."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from multiprocessing import connection
from typing import Any

from pairsim.checks import check_whole
from pairsim.engines.base import Engine, EngineLost, Finished, Work, WorkerDied
from pairsim.engines.kept_context import pack_context
from pairsim.engines.packing import Reply, in_words, pack, read_reply, unsent
from pairsim.engines.worker_handle import WorkerHandle
from pairsim.engines.worker_process import CANNOT

QUEUED = 2
"""Units a worker holds at most: the one it runs and the next, so that it never waits for the parent."""


class ProcessEngine(Engine):
    """Runs units on worker processes of its own, started afresh (spawned), each behind a pipe of its own.

    Since a worker runs its units in order and shares nothing with the others, it is known which unit a dead
    worker was running: that one is reported with `WorkerDied`, what was queued behind it goes to others, and a new
    worker takes the place. Workers ignore Ctrl-C and end by themselves when this process is gone, however it went.

    Parameters
    ----------
    workers : int
        How many processes.

    Examples
    --------
    >>> with ProcessEngine(1) as engine:
    ...     engine.start(pow, 2)
    ...     engine.submit(5)
    ...     engine.wait(None)[0].result
    32
    """

    in_process = False

    def __init__(self, workers: int) -> None:
        self.slots = check_whole("ProcessEngine", "workers", workers, 1)
        self._workers: list[WorkerHandle] = []
        self._forget()

    def _forget(self) -> None:
        self._backlog: deque[tuple[Any, bytes]] = deque()
        self._finished: list[Finished] = []
        self._stillborn = 0
        self._lost: EngineLost | None = None

    def describe(self) -> str:
        """Say in a few words where the units run."""
        return f"{self.slots} process{'es' * (self.slots > 1)}"

    def start(self, work: Work, context: Any) -> None:
        """Start the workers; they get the context as soon as they are up."""
        self._packed = pack_context(type(self).__name__, work, context)
        self.stop(now=True)
        for _ in range(self.slots):
            self._hire()
        if self._lost is not None:
            raise self._lost

    def _hire(self) -> None:
        try:
            self._workers.append(WorkerHandle())
        except OSError as error:
            self._lost = EngineLost(f"no worker process can be started ({in_words(error)})")

    def submit(self, unit: Any) -> None:
        """Take one unit."""
        try:
            packed = pack(unit)
        except Exception as caught:
            self._finished.append(unsent(unit, caught))
            return
        self._backlog.append((unit, packed))
        self._hand_out()

    def wait(self, timeout: float | None) -> list[Finished]:
        """Return what has finished."""
        deadline = None if timeout is None else time.monotonic() + timeout
        self._attend(0.0)
        while not self._finished and self._lost is None and self._unfinished():
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                break
            self._attend(left)
        if not self._finished and self._lost is not None:
            raise self._lost
        finished, self._finished = self._finished, []
        return finished

    def _unfinished(self) -> bool:
        return bool(self._backlog) or any(worker.units for worker in self._workers)

    def _attend(self, timeout: float | None) -> None:
        """Wait for a sign of any worker, hear all that spoke, replace the dead and give out units."""
        watched: dict[Any, WorkerHandle] = {}
        for worker in self._workers:
            watched.update(dict.fromkeys(worker.watched(), worker))
        spoken = {id(watched[sign]): watched[sign] for sign in connection.wait(list(watched), timeout)}
        for worker in spoken.values():
            alive = self._hear(worker)
            if not alive:
                self._replace(worker)
        self._hand_out()

    def _hear(self, worker: WorkerHandle) -> bool:
        """Take in what a worker has said; false when it has ended."""
        ended = worker.has_ended()  # looked at before reading, so that last words are never missed
        try:
            while worker.pipe.poll():
                self._understand(worker, worker.receive())
        except (EOFError, OSError):
            return False
        return not ended

    def _understand(self, worker: WorkerHandle, message: tuple[Any, ...]) -> None:
        if len(message) == len(Reply._fields):
            self._finished.append(read_reply(worker.next_done(), Reply(*message)))
        elif message[0] == CANNOT:
            self._lost = EngineLost(f"the workers cannot read what they should work on ({message[1]})")
        elif worker.greeted:
            worker.ready = True
            self._stillborn = 0
        else:
            worker.greeted = True
            worker.send(self._packed)

    def _replace(self, worker: WorkerHandle) -> None:
        """Bury a dead worker, blame the unit it was running, and start another in its place."""
        cause = worker.bury()
        self._workers.remove(worker)
        if worker.units:
            unit, _, began = worker.units.popleft()
            error = WorkerDied(f"the worker process died while it ran the unit ({cause})")
            self._finished.append(Finished(unit, None, error, time.perf_counter() - began))
            self._backlog.extendleft((unit, packed) for unit, packed, _ in reversed(worker.units))
        if not worker.ready:
            self._stillborn += 1
        if self._stillborn > 2 * self.slots + 2 and self._lost is None:
            self._lost = EngineLost(
                f"worker processes keep dying before they do anything ({cause}); "
                "a script must start its run under if __name__ == '__main__'"
            )
        if self._lost is None:
            self._hire()

    def _hand_out(self) -> None:
        """Give units to idle workers first; a second one to a worker only when every other will have its first."""
        ready = [worker for worker in self._workers if worker.ready]
        for worker in ready:
            if self._backlog and not worker.units:
                worker.give(*self._backlog.popleft())
        unserved = sum(not worker.units for worker in self._workers)
        for worker in ready:
            if len(self._backlog) > unserved and len(worker.units) < QUEUED:
                worker.give(*self._backlog.popleft())

    def stop(self, *, now: bool) -> None:
        """End the workers; with `now`, whatever they are doing."""
        with contextlib.suppress(EngineLost):
            while not now and self._unfinished():
                self.wait(None)
        for worker in self._workers:
            worker.dismiss(now=now)
        for worker in self._workers:
            worker.bury()
        self._workers.clear()
        self._forget()
