"""The parent's side of one worker process: its pipe, and the units it has been given."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import time
from collections import deque
from collections.abc import Iterator
from multiprocessing import resource_tracker
from typing import Any

from pairsim.engines.interrupts import DeferredInterrupt
from pairsim.engines.packing import unpack
from pairsim.engines.worker_process import GOODBYE, serve

PATIENCE = 5.0
"""Seconds an idle worker has to end by itself before it is killed."""


class WorkerHandle:
    """One worker process, from its start to its burial.

    Attributes
    ----------
    greeted, ready : bool
        Whether the process is up, and whether it has read its context.
    units : deque of (unit, packed unit, when it was its turn)
        Given and not yet answered, in order; the worker is running the first.
    """

    def __init__(self) -> None:
        spawn = multiprocessing.get_context("spawn")
        self.pipe, theirs = spawn.Pipe()
        # a daemon, so that a parent that forgets to stop its engine still ends
        self.process = spawn.Process(target=serve, args=(theirs,), name="pairsim-worker", daemon=True)
        with DeferredInterrupt(), _interrupts_held():  # a start that is broken off would leave half a message to read
            self.process.start()
        theirs.close()
        self.greeted = self.ready = False
        self.units: deque[tuple[Any, bytes, float]] = deque()

    def watched(self) -> tuple[Any, ...]:
        """Return what shows that the worker has spoken or ended."""
        return self.pipe, self.process.sentinel

    def has_ended(self) -> bool:
        """Whether the process is over."""
        return not self.process.is_alive()

    def receive(self) -> tuple[Any, ...]:
        """Read one message."""
        message: tuple[Any, ...] = unpack(self.pipe.recv_bytes())
        return message

    def send(self, data: bytes) -> None:
        """Send bytes; a worker that is gone is noticed by its sentinel, not here."""
        with contextlib.suppress(OSError):
            self.pipe.send_bytes(data)

    def give(self, unit: Any, packed: bytes) -> None:
        """Pass one unit on."""
        self.units.append((unit, packed, time.perf_counter()))
        self.send(packed)

    def next_done(self) -> Any:
        """Return the unit that was just answered; the one behind it begins."""
        unit = self.units.popleft()[0]
        if self.units:
            behind, packed, _ = self.units[0]
            self.units[0] = (behind, packed, time.perf_counter())
        return unit

    def dismiss(self, *, now: bool) -> None:
        """Tell the worker to end, or end it."""
        if self.ready and not now:
            self.send(GOODBYE)
        else:
            self.process.kill()

    def bury(self) -> str:
        """Wait for the end of the process, free what it held, and say how it ended."""
        self.process.join(PATIENCE)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        code, number = self.process.exitcode or 0, self.process.pid
        self.pipe.close()
        self.process.close()
        return f"process {number}, {_ending(code)}"


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
