"""The command line. Heavy imports are made inside the commands, so that `pairsim --help` answers at once."""

from __future__ import annotations

import os
import signal

__all__ = ["app", "run"]


def run() -> None:
    """Run the program and exit, see `pairsim.cli.main.run`; signals are handled before anything else is imported."""
    for number, default in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL)):
        if signal.getsignal(number) is default:  # not when it is ignored, as in a background job
            signal.signal(number, _leave)
    from pairsim.cli.signals import HANDLER

    HANDLER.install(in_place_of=_leave)
    from pairsim.cli import main

    try:
        main.run()
    finally:
        HANDLER.retire()


def _leave(number: int, frame: object) -> None:
    """End the program before it has begun."""
    name = "Ctrl-C" if number == signal.SIGINT else "SIGTERM"
    try:
        os.write(2, f"pairsim: stopped by {name}; nothing was written.\n".encode())
    finally:
        os._exit(128 + number)


def __getattr__(name: str) -> object:
    if name == "app":
        from pairsim.cli.main import app

        return app
    raise AttributeError(f"module 'pairsim.cli' has no attribute {name!r}")
