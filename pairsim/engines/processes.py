"""Units on processes of this machine, for work that holds the interpreter's lock."""

from __future__ import annotations

import contextlib
import queue
import time
import warnings
from collections import deque
from collections.abc import Callable
from typing import Any

from pairsim.checks import check_number, check_parallel
from pairsim.engines.base import Engine, EngineLost, Finished, Work, WorkerDied
from pairsim.engines.kept_context import pack_context
from pairsim.engines.packing import Reply, in_words, pack, read_reply, unpack, unsent
from pairsim.engines.worker_handle import Ticket, WorkerHandle
from pairsim.engines.worker_process import ALIVE, CANNOT
from pairsim.errors import parameter_error

QUEUED = 2
"""Units a worker holds at most: the one it runs and the next, so that it never waits for the parent."""

SILENCE = 30.0
"""Seconds without a word after which a worker's units are given to another; it says a word every few seconds."""

STARTING = 4
"""So many times as long a process may take to start, which it does without a word."""

SPARE = 3
"""There are at most so many times as many processes as wanted, those that have gone silent among them."""


class ProcessEngine(Engine):
    """Runs units on worker processes of its own, started afresh (spawned), each behind a pipe of its own.

    No more workers are started than there are units. Since a worker runs its units in order and shares nothing with
    the others, it is known which unit a dead worker was running: that one is reported with `WorkerDied`, what was
    queued behind it goes to others, and a new worker takes the place. Workers ignore Ctrl-C and end when this process
    is gone, however it went.

    A worker that says nothing for a while (stopped, or on a machine that swaps) is reported, and its units go to
    another as well; the first outcome of a unit counts. When it comes back it continues.

    Parameters
    ----------
    workers : int
        How many processes at most.
    silence : float, optional
        Seconds without a sign of life after which a worker is taken for stopped.
    tell : callable, optional
        Takes one line on a worker that has gone silent or is back; Default: a RuntimeWarning.

    Examples
    --------
    >>> with ProcessEngine(1) as engine:
    ...     engine.start(pow, 2)
    ...     engine.submit(5)
    ...     engine.wait(None)[0].result
    32
    """

    in_process = False

    def __init__(
        self, workers: int, *, silence: float | None = None, tell: Callable[[str], None] | None = None
    ) -> None:
        self.slots = check_parallel("ProcessEngine", "workers", workers)
        must_be = "a number of seconds above 0"
        self._silence = check_number("ProcessEngine", "silence", SILENCE if silence is None else silence, must_be)
        if not self._silence > 0.0:
            raise parameter_error("ProcessEngine", "silence", must_be, repr(silence))
        self._heartbeat = min(2.0, self._silence / 8)
        self._tell = tell or (lambda message: warnings.warn(message, RuntimeWarning, stacklevel=2))
        self._workers: list[WorkerHandle] = []
        self._forget()

    def _forget(self) -> None:
        # workers of an earlier run hold the earlier inbox: what they say is never heard again
        self._inbox: queue.SimpleQueue[tuple[WorkerHandle, bytes | None]] = queue.SimpleQueue()
        self._backlog: deque[Ticket] = deque()
        self._open = 0  # tickets without an outcome
        self._finished: list[Finished] = []
        self._stillborn = 0
        self._looked = time.monotonic()
        self._lost: EngineLost | None = None

    def describe(self) -> str:
        """Say in a few words where the units run."""
        silent = sum(worker.silent for worker in self._workers)
        count = len(self._workers) - silent or self.slots
        return f"{count} process{'es' * (count > 1)}" + f" ({silent} more silent)" * (silent > 0)

    def start(self, work: Work, context: Any) -> None:
        """Get ready; workers are started with the first units, and get the context as soon as they are up."""
        self._packed = pack_context(type(self).__name__, work, context)
        self.stop(now=True)

    def submit(self, unit: Any) -> None:
        """Take one unit."""
        try:
            packed = pack(unit)
        except Exception as caught:
            self._finished.append(unsent(unit, caught))
            return
        self._backlog.append(Ticket(unit, packed))
        self._open += 1
        self._hand_out()

    def wait(self, timeout: float | None) -> list[Finished]:
        """Return what has finished."""
        deadline = None if timeout is None else time.monotonic() + timeout
        self._attend(0.0)
        while not self._finished and self._lost is None and self._open:
            left = self._heartbeat if deadline is None else min(self._heartbeat, deadline - time.monotonic())
            if left <= 0:
                break
            self._attend(left)
        if not self._finished and self._lost is not None:
            raise self._lost
        finished, self._finished = self._finished, []
        return finished

    def _attend(self, timeout: float) -> None:
        """Wait for a word of any worker, hear all that spoke, replace the dead and give out units."""
        with contextlib.suppress(queue.Empty):
            self._hear(*self._inbox.get(timeout=timeout))
            while True:
                self._hear(*self._inbox.get_nowait())
        self._look_around()
        self._hand_out()

    def _hear(self, worker: WorkerHandle, data: bytes | None) -> None:
        if worker not in self._workers:
            return
        if data is None:
            self._replace(worker)
            return
        worker.unheard = 0.0
        if worker.silent:
            worker.silent = False
            self._tell(f"worker process {worker.number} is back")
        self._understand(worker, unpack(data))

    def _understand(self, worker: WorkerHandle, message: tuple[Any, ...]) -> None:
        if len(message) == len(Reply._fields):
            ticket = worker.next_done()
            self._finish(ticket, read_reply(ticket.unit, Reply(*message)))
        elif message == ALIVE:
            pass
        elif message[0] == CANNOT:
            self._lost = EngineLost(f"the workers cannot read their work units ({message[1]})")
        elif worker.greeted:
            worker.ready = True
            self._stillborn = 0
        else:
            worker.greeted = True
            worker.send(self._packed)

    def _finish(self, ticket: Ticket, finished: Finished) -> None:
        """Take in the first outcome of a unit; a second one, of a worker that was silent, is no news."""
        if not ticket.done:
            ticket.done = True
            self._open -= 1
            self._finished.append(finished)

    def _look_around(self) -> None:
        """Notice who has gone silent, or has ended with a pipe that somebody else keeps open."""
        now = time.monotonic()
        # while this process was stopped or busy nobody was listened to: that is not the workers' silence
        passed, self._looked = min(now - self._looked, 2 * self._heartbeat), now
        for worker in list(self._workers):
            worker.unheard += passed
            if worker.has_ended():
                self._replace(worker)
            elif not worker.silent and worker.unheard >= self._silence * (1 if worker.greeted else STARTING):
                worker.silent = True
                self._take_back(worker)
                given = "; its units go to another worker" if worker.tickets else ""
                self._tell(f"worker process {worker.number} has been silent for {worker.unheard:.0f} s{given}")

    def _take_back(self, worker: WorkerHandle) -> None:
        self._backlog.extendleft(ticket for ticket in reversed(worker.tickets) if not ticket.done)

    def _replace(self, worker: WorkerHandle) -> None:
        """Bury a dead worker and blame the unit it was running; another is started in its place when there is work."""
        cause = worker.bury()
        self._workers.remove(worker)
        if not worker.silent:  # else others have its units already
            if worker.tickets:
                ticket = worker.tickets.popleft()
                error = WorkerDied(f"the worker process died while it ran the unit ({cause})")
                self._finish(ticket, Finished(ticket.unit, None, error, time.perf_counter() - worker.began))
            self._take_back(worker)
        if not worker.ready:
            self._stillborn += 1
        if self._stillborn > 2 * len(self._workers) + 4 and self._lost is None:
            self._lost = EngineLost(
                f"worker processes keep dying before they do anything ({cause}); "
                "a script must start its run under if __name__ == '__main__'"
            )

    def _hand_out(self) -> None:
        """Give units to idle workers first; a second one to a worker only when every other will have its first."""
        self._backlog = deque(ticket for ticket in self._backlog if not ticket.done)
        self._hire()
        active = [worker for worker in self._workers if not worker.silent][: self.slots]
        ready = [worker for worker in active if worker.ready]
        for worker in ready:
            if self._backlog and not worker.tickets:
                worker.give(self._backlog.popleft())
        unserved = sum(not worker.tickets for worker in active)
        for worker in ready:
            if len(self._backlog) > unserved and len(worker.tickets) < QUEUED:
                worker.give(self._backlog.popleft())

    def _hire(self) -> None:
        """Start workers while there are units for them."""
        active = sum(not worker.silent for worker in self._workers)
        while self._lost is None and active < min(self.slots, self._open) and len(self._workers) < SPARE * self.slots:
            try:
                self._workers.append(WorkerHandle(self._inbox, self._heartbeat))
            except OSError as error:
                self._lost = EngineLost(f"no worker process can be started ({in_words(error)})")
            active += 1

    def stop(self, *, now: bool) -> None:
        """End the workers; with `now`, whatever they are doing."""
        with contextlib.suppress(EngineLost):
            while not now and self._open:
                self.wait(None)
        for worker in self._workers:
            worker.dismiss(now=now)
        for worker in self._workers:
            worker.bury()
        self._workers.clear()
        self._forget()
