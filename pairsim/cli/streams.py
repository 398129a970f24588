"""Standard output and standard error that may be closed, full, or a pipe whose reader has left."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import TextIO

BROKEN_PIPE = 141  # what a shell reports of a program that SIGPIPE has ended


class StdoutLost(Exception):  # noqa: N818 - the event is the name
    """Standard output cannot be written any more.

    It is no OSError: typer takes a broken pipe for its own and ends with 1.
    """

    def __init__(self, error: OSError) -> None:
        super().__init__(f"standard output: {error.strerror or error}")
        self.is_broken_pipe = isinstance(error, BrokenPipeError)


def open_streams() -> None:
    """Make standard output and standard error usable, however the program was started.

    Closed ones (`>&-`) get somewhere to write to. Otherwise the next file that is opened, such as a store, would become
    descriptor 1 or 2, and whatever the system or a library writes to standard error would end up in it.
    """
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - it stays open until the program ends
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        raw = sys.stdout.buffer
        if isinstance(raw, io.RawIOBase):  # PYTHONUNBUFFERED: what a write leaves over would be lost without a word
            buffered = io.BufferedWriter(raw)
            sys.stdout = io.TextIOWrapper(buffered, sys.stdout.encoding, sys.stdout.errors, line_buffering=True)
        if sys.stdout.errors == "strict":
            sys.stdout.reconfigure(errors="backslashreplace")  # letters that the terminal's encoding lacks


def write_stdout(text: str) -> None:
    """Write text to standard output; raise `StdoutLost` when that cannot be done."""
    try:
        sys.stdout.write(text)
    except OSError as error:
        raise StdoutLost(error) from None


def write_stderr(text: str) -> None:
    """Write text to standard error; when that cannot be done, nobody is there to be told, and the work goes on."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        discard(sys.stderr)


def flush_stdout() -> None:
    """Write what is still buffered; raise `StdoutLost` when that cannot be done."""
    try:
        sys.stdout.flush()
    except OSError as error:
        raise StdoutLost(error) from None


def discard(stream: TextIO) -> None:
    """Send what is left in a broken stream to nowhere, or the interpreter would complain when it ends."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
