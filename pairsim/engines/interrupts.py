"""Ctrl-C at a moment of our choosing, so that no finished unit is lost between two lines of code."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Self


class DeferredInterrupt:
    """While entered, the first Ctrl-C is noted and raised by `check`; a second one is raised at once.

    Only Python's own handler is replaced, and only in the main thread: who has installed a handler keeps it.

    Examples
    --------
    >>> with DeferredInterrupt() as interrupt:
    ...     interrupt.check()
    """

    def __init__(self) -> None:
        self.noted = False
        self._installed = False

    def __enter__(self) -> Self:
        in_main = threading.current_thread() is threading.main_thread()
        if in_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._note)
            self._installed = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self._installed = False
        if kind is None:
            self.check()

    def check(self) -> None:
        """Raise KeyboardInterrupt when Ctrl-C was pressed."""
        if self.noted:
            raise KeyboardInterrupt

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.noted:
            raise KeyboardInterrupt
        self.noted = True
