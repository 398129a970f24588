"""Running a sweep: every decoder on every oracle, block after block, on any engine, with or without a store."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pairsim.checks import check_callable, check_list, check_members, check_number, check_parallel, check_text
from pairsim.decoders import Decoder
from pairsim.engines import DaskEngine, Engine, ExecutorEngine, ProcessEngine, ThreadEngine, check_address
from pairsim.errors import parameter_error, shown
from pairsim.input_files import as_path
from pairsim.oracles import Oracle
from pairsim.simulation import check_seed, check_threads, check_trials
from pairsim.simulation.methods import check_method
from pairsim.stats import check_confidence
from pairsim.store import Store
from pairsim.sweeps.block_results import BlockResults
from pairsim.sweeps.losses import raise_if_blocks_were_lost
from pairsim.sweeps.requests import register
from pairsim.sweeps.rows import Row, to_frame
from pairsim.sweeps.scheduler import BlockJob, SweepScheduler
from pairsim.sweeps.stopping import Stop, make_stop
from pairsim.sweeps.tasks import TRIALS_LIMIT, make_groups

if TYPE_CHECKING:
    from concurrent.futures import Executor

    import pandas as pd

    Progress = Callable[[Oracle, int], None]


@dataclasses.dataclass(frozen=True)
class SweepRequest:
    """What a sweep is asked to do, checked: the grid, and when each task is finished."""

    oracles: tuple[Oracle, ...]
    decoders: tuple[Decoder, ...]
    stops: tuple[Stop, ...]  # one per oracle
    seed: int
    confidence: float
    method: str
    max_seconds: float | None = None
    shard: tuple[int, int] | None = None

    @property
    def has_rule(self) -> bool:
        """Whether tasks may end before their number of trials."""
        return any(stop.is_rule for stop in self.stops)


def make_request(
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
    shard: str | None = None,
) -> SweepRequest:
    """Check everything before any work is done."""
    # once: an iterator is empty the second time
    oracles = check_list("sweep", "oracles", oracles, "at least one oracle, all such as Uniform(16, 0.9)")
    decoders = check_list("sweep", "decoders", decoders, "at least one decoder, all such as MaxWin()")
    check_grid(oracles, decoders, trials)
    check_method("sweep", method)
    if max_failures is not None:
        if method == "conditional":
            raise parameter_error(
                "sweep", "max_failures", "omitted where probabilities, not failures, are added up", max_failures
            )
        method = "simulated" if method == "auto" else method  # failures have to be counted
    stops = []
    for oracle in oracles:
        stop = make_stop(trials, check_trials("sweep", None, oracle), half_width, max_failures)
        stops.append(dataclasses.replace(stop, trials=min(stop.trials, oracle.rows or stop.trials)))
    if max_seconds is not None:
        must_be = "a number of seconds above 0"
        max_seconds = check_number("sweep", "max_seconds", max_seconds, must_be)
        if not max_seconds > 0.0:
            raise parameter_error("sweep", "max_seconds", must_be, max_seconds)
    order = SweepRequest(
        tuple(oracles),
        tuple(decoders),
        tuple(stops),
        check_seed("sweep", seed),
        check_confidence("sweep", confidence),
        method,
        max_seconds,
        _read_shard(shard),
    )
    if order.shard is not None and order.has_rule:
        raise parameter_error("sweep", "shard", "omitted: it cannot be combined with a stopping rule", shown(shard))
    return order


def _read_shard(shard: str | None) -> tuple[int, int] | None:
    if shard is None:
        return None
    must_be = "i/k with integers 1 <= i <= k, for example 1/4"
    first, slash, second = check_text("sweep", "shard", shard, must_be).partition("/")
    if not slash or not (first.isdecimal() and second.isdecimal()) or not 1 <= int(first) <= int(second):
        raise parameter_error("sweep", "shard", must_be, shown(shard))
    return int(first), int(second)


def schedule_sweep(
    order: SweepRequest, store: Store | None, command: str | None = None, *, dry_run: bool = False
) -> SweepScheduler:
    """Return the campaign of an order, with the blocks that the store has; say in the store what was asked for."""
    trials = [stop.trials for stop in order.stops]
    groups = make_groups(order.oracles, order.decoders, trials, order.method, order.seed, paired=store is not None)
    stops = [order.stops[group.places[0]] for group in groups]
    ledger = BlockResults(store)
    campaign = SweepScheduler(groups, stops, order.confidence, ledger, shard=order.shard, max_seconds=order.max_seconds)
    if store is not None and not dry_run:
        register(store, campaign, command)
    return campaign


def rows_of(campaign: SweepScheduler) -> list[Row]:
    """Return the rows of a campaign in the order of the grid; tasks of which nothing is known yet have none."""
    rows = (cell.row(campaign.ledger) for cell in campaign.grid_cells())
    return [row for row in rows if row is not None]


def check_engine(
    threads: int | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    scheduler: str | None = None,
) -> None:
    """Refuse what describes no engine, before anything is started, opened or written."""
    given = [name for name, value in (("threads", threads), ("workers", workers), ("executor", executor),
                                      ("scheduler", scheduler)) if value is not None]  # fmt: skip
    if len(given) > 1:
        raise parameter_error("sweep", given[1], f"omitted: it cannot be combined with {given[0]}", "both")
    check_threads("sweep", threads)
    if workers is not None:
        check_parallel("sweep", "workers", workers)
    if scheduler is not None:
        check_address(scheduler)


@contextlib.contextmanager
def engine_for(
    threads: int | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    scheduler: str | None = None,
    tell: Callable[[str], None] | None = None,
) -> Iterator[Engine]:
    """Yield the engine that the parameters describe; threads when there are none.

    `tell` takes a line on a worker process that has gone silent; a warning is issued when it is left out.
    """
    check_engine(threads, workers, executor, scheduler)
    engine: Engine
    if workers is not None:
        engine = ProcessEngine(workers, tell=tell)
    elif executor is not None:
        engine = ExecutorEngine(executor)
    elif scheduler is not None:
        engine = DaskEngine(scheduler)
    else:
        engine = ThreadEngine(check_threads("sweep", threads))
    with engine:
        yield engine


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
    order = make_request(
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
    check_engine(threads, workers, executor, scheduler)
    check_callable("sweep", "progress", progress, "a callable that takes an oracle and a number of trials")
    path = None if store is None else as_path("sweep", "store", store, "the path of a results store")
    with contextlib.ExitStack() as stack:
        opened = None if path is None else stack.enter_context(Store.create_or_open(path))
        campaign = schedule_sweep(order, opened)
        engine = stack.enter_context(engine_for(threads, workers, executor, scheduler))
        if progress is not None:
            campaign.on_block = tell_progress(campaign, progress)
        campaign.run(engine)
        rows = to_frame(rows_of(campaign))
        raise_if_blocks_were_lost(campaign, rows)
        return rows


def tell_progress(campaign: SweepScheduler, progress: Progress) -> Callable[[BlockJob], None]:
    """Return what tells of each finished block: its oracles and its trials."""

    def tell(job: BlockJob) -> None:
        oracles = campaign.groups[job.group].bench.oracles
        for oracle in job.oracles:
            progress(oracles[oracle], job.count)

    return tell


def check_grid(oracles: Sequence[Oracle], decoders: Sequence[Decoder], trials: int | None) -> None:
    """Refuse a grid with an empty side, or with a decoder that does not fit a number of classes, before any work."""
    check_members("sweep", "oracles", oracles, Oracle, "at least one oracle, all such as Uniform(16, 0.9)")
    check_members("sweep", "decoders", decoders, Decoder, "at least one decoder, all such as MaxWin()")
    for oracle in oracles:
        if check_trials("sweep", trials, oracle) > TRIALS_LIMIT:
            raise parameter_error("sweep", "trials", "at most 2**62", trials)
        for decoder in decoders:
            decoder.cost(oracle.n)
