"""Work for engines to do in their tests: functions and objects that other processes can import by name."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any


def power(context: int, unit: int) -> int:
    return int(context**unit)


def snooze(context: float, unit: Any) -> Any:
    time.sleep(context)
    return unit


def snooze_as_told(context: Any, unit: float) -> float:
    time.sleep(unit)
    return unit


def note_run(folder: str, unit: Any) -> int:
    """Leave one byte for this run of the unit; returns how many there were before."""
    with open(Path(folder) / f"unit-{unit}", "ab") as file:
        before = file.tell()
        file.write(b".")
    return before


def runs_of(folder: Path, unit: Any) -> int:
    file = folder / f"unit-{unit}"
    return file.stat().st_size if file.exists() else 0


def raise_as_told(folder: str, unit: tuple[int, int]) -> int:
    """Raise in the first `times` runs of a unit (number, times), then return its number."""
    number, times = unit
    before = note_run(folder, number)
    if before < times:
        raise ValueError(f"run {before} of unit {number}")
    return number


def die_as_told(folder: str, unit: tuple[int, int]) -> int:
    """Kill the process in the first `times` runs of a unit (number, times)."""
    number, times = unit
    if note_run(folder, number) < times:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.02)
    return number


def tell_process(context: Any, unit: Any) -> int:
    time.sleep(0.05)
    return os.getpid()


def meet(context: Any, unit: tuple[str, int]) -> int:
    """Tell the process once `number` processes have come to the folder of a unit (folder, number)."""
    folder, number = unit
    (Path(folder) / str(os.getpid())).touch()
    end = time.monotonic() + 60
    while len(list(Path(folder).iterdir())) < number:
        assert time.monotonic() < end, "the others did not come"
        time.sleep(0.01)
    return os.getpid()


class OneWayError(Exception):
    """Can be packed but not unpacked: the arguments it stores are not those it takes."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} and {second}")


class HeldError(Exception):
    """Cannot be packed."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.held = lambda: None


class OneWayResult:
    """Can be packed but not unpacked."""

    def __reduce__(self) -> tuple[Any, ...]:
        return refuse_reading, ("a result of one way",)


class UnreadableUnit:
    def __reduce__(self) -> tuple[Any, ...]:
        return refuse_reading, ("a unit of one way",)


class UnreadableContext:
    def __reduce__(self) -> tuple[Any, ...]:
        return refuse_reading, ("a context of one way",)


def refuse_reading(what: str) -> None:
    raise LookupError(f"nobody can read {what}")


class DeadlyContext:
    def __reduce__(self) -> tuple[Any, ...]:
        return os._exit, (3,)


def answer_oddly(context: Any, unit: str) -> Any:
    """Do what the unit says; each is something that does not travel well."""
    if unit == "lambda":
        return lambda: None
    if unit == "one-way result":
        return OneWayResult()
    if unit == "one-way error":
        raise OneWayError("this", "that")
    if unit == "held error":
        raise HeldError("kept here")
    if unit == "exit":
        raise SystemExit(7)
    return unit


class CountedContext:
    """Leaves a file with each reading, named after the process."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        with open(Path(self.folder) / f"read-by-{os.getpid()}", "ab") as file:
            file.write(b".")


def burn(folder: str, unit: Any) -> None:
    """Never let go of the interpreter's lock by choice for a minute, which no test lasts; tell the process first."""
    (Path(folder) / f"busy-{os.getpid()}").touch()
    end = time.monotonic() + 60
    while time.monotonic() < end:
        pass
