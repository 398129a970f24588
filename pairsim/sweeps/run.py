"""Running a sweep: every decoder on every oracle, block after block, on any engine, with or without a store."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pairsim.checks import check_callable
from pairsim.decoders import Decoder
from pairsim.engines import Engine
from pairsim.errors import parameter_error
from pairsim.input_files import as_path
from pairsim.oracles import Oracle
from pairsim.store import Store
from pairsim.sweeps.block_results import BlockResults
from pairsim.sweeps.engine_choice import EngineChoice
from pairsim.sweeps.losses import raise_if_blocks_were_lost
from pairsim.sweeps.progress import TaskProgress
from pairsim.sweeps.requests import register
from pairsim.sweeps.rows import Row, to_frame
from pairsim.sweeps.scheduler import BlockJob, SweepScheduler
from pairsim.sweeps.sweep_request import SweepRequest, make_request
from pairsim.sweeps.tasks import make_groups

if TYPE_CHECKING:
    from concurrent.futures import Executor

    import pandas as pd

    Progress = Callable[[Oracle, int], None]


class Sweep:
    """A sweep: request, store and engine in, rows out. `pairsim.sweep` and the command both use it.

    Parameters
    ----------
    request : SweepRequest
        What `make_request` returns.
    store : Store, optional
        Open; blocks that it has are not run again, and what was asked for is written down in it.
    engine : Engine, optional
        Where missing blocks run. Without one, the sweep can be looked at only, and the store is not written to.
    command : str, optional
        What the store keeps as the origin of the rows.

    Examples
    --------
    >>> from pairsim import Adag, Uniform
    >>> from pairsim.engines import ThreadEngine
    >>> with ThreadEngine(2) as engine:
    ...     sweep = Sweep(make_request([Uniform(4, 1.0)], [Adag()], 100, method="simulated"), engine=engine)
    ...     sweep.run()
    >>> sweep.rows()[0].success
    1.0
    """

    def __init__(
        self,
        request: SweepRequest,
        store: Store | None = None,
        engine: Engine | None = None,
        *,
        command: str | None = None,
    ) -> None:
        self.request, self.store, self.engine = request, store, engine
        trials = [stop.trials for stop in request.stops]
        groups = make_groups(
            request.oracles, request.decoders, trials, request.method, request.seed, paired=store is not None
        )
        stops = [request.stops[group.places[0]] for group in groups]
        self.results = BlockResults(store)
        self._scheduler = SweepScheduler(
            groups, stops, request.confidence, self.results, shard=request.shard, max_seconds=request.max_seconds
        )
        if store is not None and engine is not None:
            register(store, groups, self.cells(), command)

    @classmethod
    @contextlib.contextmanager
    def open(
        cls,
        request: SweepRequest,
        path: Path | None = None,
        choice: EngineChoice | None = None,
        *,
        command: str | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> Iterator[Sweep]:
        """Yield the sweep with its store opened and its engine started; without an engine, the store is only read.

        `tell` is that of `EngineChoice.engine`.
        """
        with contextlib.ExitStack() as stack:
            store = engine = None
            if path is not None and choice is not None:
                store = stack.enter_context(Store.create_or_open(path))
            elif path is not None and path.exists():
                store = stack.enter_context(Store.read(path))
            if choice is not None:
                engine = stack.enter_context(choice.engine(tell))
            yield cls(request, store, engine, command=command)

    def cells(self) -> list[TaskProgress]:
        """Return the rows that were asked for, and how far each is: oracle by oracle, decoder by decoder."""
        return self._scheduler.grid_cells()

    @property
    def out_of_time(self) -> bool:
        """Whether `max_seconds` ended the sweep while blocks were missing."""
        return self._scheduler.out_of_time

    def run(self, tick: Callable[[], None] | None = None, progress: Progress | None = None) -> None:
        """Run what is missing. Whatever ends it, finished blocks are in the results and in the store.

        `tick` is called every quarter of a second or more often, `progress` with the oracle and the number of trials of
        each block.
        """
        if self.engine is None:
            raise parameter_error("Sweep", "engine", "given, to run what is missing", self.engine)

        if progress is not None:
            self._scheduler.on_block = self._teller(progress)
        self._scheduler.run(self.engine, tick)

    def _teller(self, progress: Progress) -> Callable[[BlockJob], None]:
        """Return what reports the oracles and the trials of a block."""

        def tell(job: BlockJob) -> None:
            oracles = self._scheduler.groups[job.group].simulator.oracles
            for place in job.oracles:
                progress(oracles[place], job.count)

        return tell

    def rows(self) -> list[Row]:
        """Return the rows in the order of the grid; tasks of which nothing is known yet have none."""
        rows = (cell.row(self.results) for cell in self.cells())
        return [row for row in rows if row is not None]

    def frame(self) -> pd.DataFrame:
        """Return the rows as a table; raise `LostBlocksError` where blocks failed in every attempt."""
        rows = to_frame(self.rows())
        raise_if_blocks_were_lost(self.cells(), rows, stored=self.store is not None)
        return rows


def sweep(
    oracles: Sequence[Oracle],
    decoders: Sequence[Decoder],
    trials: int | None = None,
    seed: int = 0,
    confidence: float = 0.95,
    *,
    method: str = "auto",
    half_width: float | str | None = None,
    max_failures: int | None = None,
    max_seconds: float | None = None,
    store: Path | str | None = None,
    threads: int | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Simulate every decoder on every oracle and return one row per pair.

    Parameters
    ----------
    oracles, decoders : sequences
        The grid. All decoders run on the same tournaments of an oracle.
    trials, seed, confidence, method
        As in `simulate`.
    half_width : float or str, optional
        Stop a task at this half-width of its interval; "1%" is relative to the probability of the rarer outcome.
        `trials` is then the maximum (default: 10,000,000).
    max_failures : int, optional
        Stop a task after this many failures; estimate and interval allow for it.
    max_seconds : float, optional
        Start no block after this time; rows are made of the finished blocks.
    store : path, optional
        A results store: finished blocks are kept in it and reused. See `pairsim export`.
    threads, workers, executor, scheduler : optional
        Where to run, at most one of: number of threads (default: one per core), number of processes, any
        `concurrent.futures.Executor`, or a Dask scheduler ("tcp://host:port"). The result does not depend on it.
    progress : callable, optional
        Called with the oracle and the number of trials just finished.

    Returns
    -------
    pandas.DataFrame
        Columns oracle, n, p, decoder, method, trials, success, low, high, queries, distinct, rounds, agreement,
        agreement_low, agreement_high.

    Raises
    ------
    pairsim.sweeps.LostBlocksError
        Some blocks failed in every attempt. Its `rows` are the frame without them; finished blocks are in the store.

    Examples
    --------
    >>> from pairsim import Adag, MaxWin, Uniform, sweep
    >>> rows = sweep([Uniform(n, 1.0) for n in (4, 8)], [MaxWin(), Adag()], trials=100)
    >>> rows[["n", "decoder", "success", "queries"]]
       n  decoder  success  queries
    0  4  max-win      1.0      6.0
    1  4     adag      1.0      3.0
    2  8  max-win      1.0     28.0
    3  8     adag      1.0      7.0
    """
    request = make_request(
        oracles,
        decoders,
        trials,
        seed,
        confidence,
        method=method,
        half_width=half_width,
        max_failures=max_failures,
        max_seconds=max_seconds,
    )
    choice = EngineChoice(threads, workers, executor, scheduler)
    check_callable("sweep", "progress", progress, "a callable that takes an oracle and a number of trials")
    path = None if store is None else as_path("sweep", "store", store, "the path of a results store")
    with Sweep.open(request, path, choice) as opened:
        opened.run(progress=progress)
        return opened.frame()
