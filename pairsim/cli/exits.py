"""Ending before the end: Ctrl-C, SIGTERM and what goes wrong outside, as one line and an exit code."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from types import FrameType

from pairsim.cli.signals import HANDLER, Terminated

OUTSIDE_TROUBLE = 1
BAD_INPUT = 2
INTERRUPTED = 130
TERMINATED = 143


class Stopped(Exception):  # noqa: N818 - the event is the name
    """The program ends with this message and exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


@contextlib.contextmanager
def noticing_sigterm() -> Iterator[Callable[[], None]]:
    """Yield a function to call now and then: it raises `Terminated` once SIGTERM has come."""
    came = False

    def look() -> None:
        if came:
            raise Terminated

    if threading.current_thread() is not threading.main_thread():
        yield look  # only the main thread may set handlers; elsewhere signals are the host program's business
        return

    def notice(number: int, frame: FrameType | None) -> None:
        nonlocal came  # not an Event: its lock would be taken twice when a second signal interrupts the handler
        came = True

    before = signal.signal(signal.SIGTERM, notice)
    try:
        yield look
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def exit_cleanly(command: str | None) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM end in one line that says what is kept, and which command resumes it."""
    HANDLER.kept = what_is_kept(command)
    try:
        yield
    except KeyboardInterrupt:
        raise Stopped(f"stopped by Ctrl-C; {what_is_kept(command)}", INTERRUPTED) from None
    except Terminated:
        raise Stopped(f"stopped by SIGTERM; {what_is_kept(command)}", TERMINATED) from None
    finally:
        HANDLER.kept = ""


def what_is_kept(command: str | None) -> str:
    """Return what an interrupted sweep has kept; `command` is None when it had no store."""
    if command is None:
        return "nothing was kept (--store FILE.db keeps finished blocks)"
    return f"finished blocks are stored; resume with: {command}"


def shell_command(words: Iterable[str]) -> str:
    r"""Return the words as one line for a shell, which must understand $'...' only where a word is not plain text.

    Examples
    --------
    >>> print(shell_command(["pairsim", "sweep", "--store", "my  results.db"]))
    pairsim sweep --store 'my  results.db'
    >>> print(shell_command(["two\nlines"]))
    $'two\nlines'
    """
    return " ".join(shlex.quote(word) if word.isprintable() else _in_escapes(word) for word in words)


def _in_escapes(word: str) -> str:
    shown = []
    for letter in word:
        if letter in "\\'":
            shown.append("\\" + letter)
        elif letter == "\n":
            shown.append("\\n")
        elif letter.isprintable():
            shown.append(letter)
        else:  # bytes of a file name that are not text come as lone surrogates, and leave as the bytes they were
            shown.extend(f"\\{byte:03o}" for byte in os.fsencode(letter))
    return f"$'{''.join(shown)}'"
