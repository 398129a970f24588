"""Ctrl-C at a moment of our choosing, so that no finished unit is lost between two lines of code."""

from __future__ import annotations

import signal
import threading
from types import FrameType, MethodType, TracebackType
from typing import Any, Self


class DeferredInterrupt:
    """While entered, the first Ctrl-C is noted and raised by `check`; a second one does what it did before.

    Only Python's own handler is replaced, or one that says that it is `deferrable`, and only in the main thread: who
    has installed another handler keeps it. Inside another one, the two share what was noted.

    Examples
    --------
    >>> with DeferredInterrupt() as interrupt:
    ...     interrupt.check()
    """

    def __init__(self) -> None:
        self.noted = False
        self._before: Any = None
        self._outer: DeferredInterrupt | None = None

    def __enter__(self) -> Self:
        if threading.current_thread() is not threading.main_thread():
            return self
        handler = signal.getsignal(signal.SIGINT)
        if isinstance(handler, MethodType) and isinstance(handler.__self__, DeferredInterrupt):
            self._outer = handler.__self__
        elif handler is signal.default_int_handler or getattr(handler, "deferrable", False):
            self._before = handler
            signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None
        if kind is None:
            self.check()

    def check(self) -> None:
        """Raise KeyboardInterrupt when Ctrl-C was pressed."""
        if self.noted or (self._outer is not None and self._outer.noted):
            raise KeyboardInterrupt

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.noted:
            self._before(number, frame)
        self.noted = True
