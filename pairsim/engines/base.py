"""What an engine is: it takes units of work one by one and gives back each one's outcome."""

from __future__ import annotations

import abc
from collections.abc import Callable
from types import TracebackType
from typing import Any, NamedTuple, Self

Work = Callable[[Any, Any], Any]
"""`work(context, unit) -> result`; a function of a module, so that other processes can find it by name."""


class Finished(NamedTuple):
    """One attempt at a unit that is over: a result, or the error that came instead, and how long it ran.

    Examples
    --------
    >>> Finished("block 7", 42, None, 0.5).result
    42
    """

    unit: Any
    result: Any
    error: BaseException | None
    seconds: float


class EngineLost(RuntimeError):  # noqa: N818 - the event is the name
    """The scheduler or the pool is gone for good; the message says why, in one line."""


class UnitError(RuntimeError):
    """A unit went wrong, and the exception itself could not travel: the message carries its words."""


class WorkerDied(UnitError):  # noqa: N818
    """The worker running the unit ended without an answer: killed, out of memory, or crashed."""


class Engine(abc.ABC):
    """Runs units of work; use it as a context manager, which leaves no thread, process or connection behind.

    Between `start` and `stop` the engine accepts units with `submit` and hands out what has finished with
    `wait`. An engine that was stopped may be started again. All methods are called from one thread.

    Attributes
    ----------
    slots : int
        How many units run at once.
    in_process : bool
        Whether units run in this process, so that handing one over costs next to nothing.

    Examples
    --------
    The smallest engine runs a unit when somebody waits for it:

    >>> class Lazy(Engine):
    ...     slots, in_process = 1, True
    ...     def start(self, work, context):
    ...         self.work, self.context, self.units = work, context, []
    ...     def submit(self, unit):
    ...         self.units.append(unit)
    ...     def wait(self, timeout):
    ...         units, self.units = self.units, []
    ...         return [Finished(unit, self.work(self.context, unit), None, 0.0) for unit in units]
    ...     def stop(self, *, now):
    ...         self.units = []
    >>> with Lazy() as engine:
    ...     engine.start(pow, 2)
    ...     engine.submit(3)
    ...     engine.wait(None)
    [Finished(unit=3, result=8, error=None, seconds=0.0)]
    """

    slots: int
    in_process: bool

    @property
    def capacity(self) -> int:
        """How many submitted units keep every slot busy while results are being looked at."""
        return 2 * self.slots

    def describe(self) -> str:
        """Say in a few words where the units run, for a line of progress."""
        return f"{self.slots} slots"

    @abc.abstractmethod
    def start(self, work: Work, context: Any) -> None:
        """Get ready to run `work(context, unit)`; the context is sent once to each worker."""

    @abc.abstractmethod
    def submit(self, unit: Any) -> None:
        """Take one unit; it runs as soon as a slot is free."""

    @abc.abstractmethod
    def wait(self, timeout: float | None) -> list[Finished]:
        """Return what has finished, in order of completion; empty when the time passed or nothing is submitted."""

    @abc.abstractmethod
    def stop(self, *, now: bool) -> None:
        """End the work: after what was submitted has run or, with `now`, dropping it and returning promptly."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop(now=kind is not None)
