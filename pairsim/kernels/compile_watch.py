"""Watching the compiler: say when it starts, count what it takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from numba.core import event


class CompileWatch(event.Listener):
    """Calls `tell` once, when the first kernel is compiled rather than loaded, and adds up the time spent compiling."""

    def __init__(self, tell: Callable[[], None] | None = None) -> None:
        self.seconds = 0.0
        self.kernels = 0
        self._tell = tell
        self._depth = 0
        self._started = 0.0

    def on_start(self, event: Any) -> None:
        """Note that a compilation begins; they nest."""
        if self._tell and not self.kernels:
            self._tell()
        self.kernels += 1
        self._depth += 1
        if self._depth == 1:
            self._started = time.perf_counter()

    def on_end(self, event: Any) -> None:
        """Note that one has ended."""
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._started


def watch_compiler(tell: Callable[[], None] | None = None) -> CompileWatch:
    """Start watching numba's compiler for the rest of the process."""
    watch = CompileWatch(tell)
    event.register("numba:compile", watch)
    return watch
