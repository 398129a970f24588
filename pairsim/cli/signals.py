"""What Ctrl-C and SIGTERM do to the program, from its first line on.

Python raises KeyboardInterrupt wherever it happens to be: in the middle of an import, of a compiled kernel or of a
callback, where it is swallowed, turned into another error or printed. So the program ends in the handler: drafts are
removed, one line is printed, and that is all. The exceptions are transactions, which raise and roll back, and sweeps,
which have handlers of their own (`DeferredInterrupt`, `noticing_sigterm`) while they run.

This module is loaded before the rest of the program, so it imports next to nothing.
"""

from __future__ import annotations

import os
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

NAMES = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}
LATE = 1.0  # seconds until the main thread is taken to be inside a long call that runs no handler,
LATE_IN_TRANSACTION = 10.0  # such as a commit to a slow disk
ERASE_LINE_SHOW_CURSOR = b"\r\x1b[K\x1b[?25h"


class Terminated(BaseException):
    """SIGTERM came; like KeyboardInterrupt it is nothing to be caught on the way."""


class Handler:
    """The program's handler of both signals.

    Attributes
    ----------
    kept : str
        What to say of the work so far; by default, which files were written.
    deferrable : bool
        Tells `DeferredInterrupt` that it may stand in for this handler for a while.
    """

    deferrable = True

    def __init__(self) -> None:
        self.kept = ""
        self._handled = 0.0  # when it was run the last time

    def install(self, in_place_of: object) -> None:
        """Handle from now on the signals that were handled by `in_place_of`."""
        for number in NAMES:
            if signal.getsignal(number) is in_place_of:
                signal.signal(number, self)
        self._watch()

    def retire(self) -> None:
        """Ignore the signals from now on: the outcome is decided, and Python is taken apart."""
        for number in NAMES:
            signal.signal(number, signal.SIG_IGN)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """End the program, or the transaction first."""
        self._handled = time.monotonic()
        if _in_transaction():
            raise KeyboardInterrupt if number == signal.SIGINT else Terminated
        self.leave(number)

    def leave(self, number: int) -> None:
        """End the program here and now, from any thread."""
        drafts: Any = sys.modules.get("pairsim.drafts")  # there may be a part of it only: an import may be under way
        files = [path.name for path in getattr(drafts, "written", ())]
        getattr(drafts, "drop_drafts", int)()
        after = f" after writing {', '.join(files)}" if files else ""
        kept = self.kept or f"nothing {'else ' if files else ''}was written."
        line = f"pairsim: stopped by {NAMES[signal.Signals(number)]}{after}; {kept}\n"
        try:
            if "rich.live" in sys.modules and os.isatty(2):
                os.write(2, ERASE_LINE_SHOW_CURSOR)
            os.write(2, line.encode(errors="backslashreplace"))
        except OSError:
            pass
        os._exit(128 + number)

    def _watch(self) -> None:
        """Let a thread end the program where the main thread runs no handler: kernels may take minutes."""
        import threading

        receiving, sending = os.pipe()
        os.set_blocking(sending, False)
        signal.set_wakeup_fd(sending, warn_on_full_buffer=False)
        threading.Thread(target=self._watch_for, args=(receiving,), name="signals", daemon=True).start()

    def _watch_for(self, receiving: int) -> None:
        while number := os.read(receiving, 1):
            came = time.monotonic()
            while number[0] in NAMES and self._is_due(number[0], came):
                time.sleep(0.05)
                if time.monotonic() - came > (LATE_IN_TRANSACTION if _in_transaction() else LATE):
                    self.leave(number[0])

    def _is_due(self, number: int, came: float) -> bool:
        """Whether this handler is still to be run for a signal that came at that time."""
        ours: object = signal.getsignal(number)
        return ours is self and self._handled < came - LATE / 2


def _in_transaction() -> bool:
    is_writing = getattr(sys.modules.get("pairsim.store"), "is_writing", None)
    return is_writing is not None and bool(is_writing())


HANDLER = Handler()
