"""The folds of data sets, run here or on worker processes that end with this one, however it ends."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Self

from pairsim.checks import usable_cores
from pairsim.engines import ProcessEngine, Work


class Limited(NamedTuple):
    """A context with the work to do on it, and the threads that a linear-algebra library may take meanwhile."""

    work: Work
    context: Any
    threads: int


class FoldWorkers:
    """Calls `work(context, unit)` for each unit, several at a time; the workers stay while the context is the same.

    Examples
    --------
    >>> with FoldWorkers(pow, 1) as workers:
    ...     list(workers.run(2, [3, 4]))
    [8, 16]
    """

    def __init__(self, work: Work, jobs: int) -> None:
        self._work, self._jobs = work, jobs
        self._engine: ProcessEngine | None = None
        self._context: Any = None

    def run(self, context: Any, units: Sequence[Any]) -> Iterator[Any]:
        """Yield the results as they come in; what a unit raises is raised here."""
        if self._jobs == 1:
            yield from (self._work(context, unit) for unit in units)
            return
        if self._engine is None:
            self._engine = ProcessEngine(self._jobs)
        if self._context != context:
            self._context = context
            self._engine.start(run_limited, Limited(self._work, context, max(1, usable_cores() // self._jobs)))
        for unit in units:
            self._engine.submit(unit)
        missing = len(units)
        while missing:
            for finished in self._engine.wait(None):
                if finished.error is not None:
                    raise finished.error
                missing -= 1
                yield finished.result

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._engine is not None:
            self._engine.stop(now=kind is not None)


def run_limited(limited: Limited, unit: Any) -> Any:
    """Do the work with few threads: the processes share the cores."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(ImportError):
            from threadpoolctl import threadpool_limits

            stack.enter_context(threadpool_limits(limited.threads))
        return limited.work(limited.context, unit)
