"""Where a sweep runs: on threads, processes, an executor or a Dask cluster."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING

from pairsim.checks import check_parallel
from pairsim.engines import DaskEngine, Engine, ExecutorEngine, ProcessEngine, ThreadEngine, check_address
from pairsim.errors import parameter_error
from pairsim.simulation import check_threads

if TYPE_CHECKING:
    from concurrent.futures import Executor


@dataclasses.dataclass(frozen=True)
class EngineChoice:
    """The parameters that choose an engine, checked before anything is started; at most one may be given.

    Examples
    --------
    >>> with EngineChoice(threads=2).engine() as engine:
    ...     engine.describe()
    '2 threads'
    """

    threads: int | None = None
    workers: int | None = None
    executor: Executor | None = None
    scheduler: str | None = None

    def __post_init__(self) -> None:
        given = [field.name for field in dataclasses.fields(self) if getattr(self, field.name) is not None]
        if len(given) > 1:
            raise parameter_error("sweep", given[1], f"omitted: it cannot be combined with {given[0]}", "both")
        check_threads("sweep", self.threads)
        if self.workers is not None:
            check_parallel("sweep", "workers", self.workers)
        if self.scheduler is not None:
            check_address(self.scheduler)

    def engine(self, tell: Callable[[str], None] | None = None) -> Engine:
        """Return the engine, to be used as a context manager; threads where nothing was chosen.

        `tell` takes a line on a worker process that has gone silent; a warning is issued when it is left out.
        """
        if self.workers is not None:
            return ProcessEngine(self.workers, tell=tell)
        if self.executor is not None:
            return ExecutorEngine(self.executor)
        if self.scheduler is not None:
            return DaskEngine(self.scheduler)
        return ThreadEngine(check_threads("sweep", self.threads))
