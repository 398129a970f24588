"""The parent's side of one worker process: its pipe, and the units it has been given."""

from __future__ import annotations

import contextlib
import dataclasses
import multiprocessing
import queue
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator
from multiprocessing import resource_tracker
from typing import Any

from pairsim.engines.guarded_process import make_process
from pairsim.engines.interrupts import DeferredInterrupt
from pairsim.engines.worker_process import GOODBYE, serve

PATIENCE = 5.0
"""Seconds an idle worker has to end by itself before it is killed."""


@dataclasses.dataclass(eq=False)
class Ticket:
    """One submitted unit, until its first outcome; several workers may hold it when one of them has gone silent."""

    unit: Any
    packed: bytes
    done: bool = False


class WorkerHandle:
    """One worker process, from its start to its burial.

    Whoever is stopped in the middle of a message blocks those who wait for the rest of it. So two threads do nothing
    but send and receive: (handle, message) goes to the inbox, and (handle, None) when the worker has ended.

    Attributes
    ----------
    greeted, ready : bool
        Whether the process is up, and whether it has read its context.
    silent : bool
        Whether it was given up for now, and its units were given to others as well.
    unheard : float
        Seconds without a message.
    tickets : deque of Ticket
        Given and not yet answered, in order; the worker is running the first, since `began`.
    """

    def __init__(self, inbox: queue.SimpleQueue[tuple[WorkerHandle, bytes | None]], heartbeat: float) -> None:
        self._pipe, theirs = multiprocessing.get_context("spawn").Pipe()
        self.process = make_process(serve, (theirs, heartbeat), "pairsim-worker")
        with DeferredInterrupt(), _interrupts_held():  # a start that is broken off would leave half a message to read
            self.process.start()
        theirs.close()
        self.number = int(self.process.pid)
        self.greeted = self.ready = self.silent = False
        self.unheard = 0.0
        self.ended_before = False
        self.tickets: deque[Ticket] = deque()
        self.began = 0.0
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._send_all, name="pairsim-sender", daemon=True),
            threading.Thread(target=self._receive_all, args=(inbox,), name="pairsim-receiver", daemon=True),
        ]
        try:
            for thread in self._threads:
                thread.start()
        except RuntimeError as error:
            self.process.kill()
            raise OSError(str(error)) from error

    def _send_all(self) -> None:
        with contextlib.suppress(OSError):  # a worker that is gone is noticed by the other thread
            while (data := self._outbox.get()) is not None:
                self._pipe.send_bytes(data)

    def _receive_all(self, inbox: queue.SimpleQueue[tuple[WorkerHandle, bytes | None]]) -> None:
        with contextlib.suppress(EOFError, OSError):
            while True:
                inbox.put((self, self._pipe.recv_bytes()))
        inbox.put((self, None))

    def send(self, data: bytes) -> None:
        """Send bytes; never waits."""
        self._outbox.put(data)

    def give(self, ticket: Ticket) -> None:
        """Pass one unit on."""
        if not self.tickets:
            self.began = time.perf_counter()
        self.tickets.append(ticket)
        self.send(ticket.packed)

    def next_done(self) -> Ticket:
        """Return the ticket that was just answered; the one behind it begins."""
        self.began = time.perf_counter()
        return self.tickets.popleft()

    def has_ended(self) -> bool:
        """Whether the process is over, and was so the last time: its last words have been read by now."""
        before, self.ended_before = self.ended_before, not self.process.is_alive()
        return before and self.ended_before

    def dismiss(self, *, now: bool) -> None:
        """Tell the worker to end, or end it."""
        if self.ready and not self.silent and not now:
            self.send(GOODBYE)
        else:
            self.process.kill()

    def bury(self) -> str:
        """Wait for the end of the process, free what it held, and say how it ended."""
        self.process.join(PATIENCE)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        code = self.process.exitcode or 0
        self._outbox.put(None)
        for thread in self._threads:
            thread.join(PATIENCE)
        if not any(thread.is_alive() for thread in self._threads):  # else a child of the worker's holds its pipe
            self._pipe.close()
        self.process.close()
        return f"process {self.number}, {_ending(code)}"


def _ending(code: int) -> str:
    """Name the way a process ended.

    Examples
    --------
    >>> _ending(-9), _ending(3)
    ('killed by SIGKILL', 'exit code 3')
    """
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back while a process starts: it inherits the blocked signal until it ignores it by itself.

    Without this a Ctrl-C during the imports of a new worker would print a traceback of the worker's.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # started with the first process otherwise, which unblocks the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
