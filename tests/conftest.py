"""What all tests share."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from pairsim.cli import main

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as it is for what a shell runs in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)  # processes of the tests inherit it


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def pairsim_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Run the command line in this process, as `pairsim *arguments`."""

    def run(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["pairsim", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main.run()
        captured = capsys.readouterr()
        # whether kernels are compiled depends on what ran before, on this machine
        told = [line for line in captured.err.splitlines(keepends=True) if "compiling kernels" not in line]
        return Outcome(int(stop.value.code or 0), captured.out, "".join(told))

    return run
