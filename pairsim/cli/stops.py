"""Ending before the end: Ctrl-C, SIGTERM and what goes wrong outside, as one line and an exit code."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

OUTSIDE_TROUBLE = 1
BAD_INPUT = 2
INTERRUPTED = 130
TERMINATED = 143


class Stopped(Exception):  # noqa: N818 - the event is the name
    """The program ends with this message and exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class Terminated(BaseException):
    """SIGTERM came; like KeyboardInterrupt it is nothing to be caught on the way."""


@contextlib.contextmanager
def noticing_sigterm() -> Iterator[Callable[[], None]]:
    """Yield a function to call now and then: it raises `Terminated` once SIGTERM has come."""
    came = threading.Event()

    def look() -> None:
        if came.is_set():
            raise Terminated

    if threading.current_thread() is not threading.main_thread():
        yield look  # only the main thread may set handlers; elsewhere signals are the host program's business
        return

    def notice(number: int, frame: FrameType | None) -> None:
        came.set()

    before = signal.signal(signal.SIGTERM, notice)
    try:
        yield look
    finally:
        signal.signal(signal.SIGTERM, before)
