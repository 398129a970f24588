"""Running a sweep: every decoder on every oracle, block after block, on any engine, with or without a store."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pairsim.checks import check_number, check_whole
from pairsim.decoders import Decoder
from pairsim.engines import Engine, ExecutorEngine, ProcessEngine, ThreadEngine
from pairsim.errors import refusal
from pairsim.oracles import Oracle
from pairsim.simulation import check_seed, check_threads, check_trials
from pairsim.simulation.methods import check_method
from pairsim.stats import check_confidence
from pairsim.store import Store
from pairsim.sweeps.campaign import Campaign, Job
from pairsim.sweeps.ledger import Ledger
from pairsim.sweeps.requests import register
from pairsim.sweeps.rows import Row, to_frame
from pairsim.sweeps.stopping import Stop, make_stop
from pairsim.sweeps.tasks import TRIALS_LIMIT, make_groups

if TYPE_CHECKING:
    from concurrent.futures import Executor

    import pandas as pd

    Progress = Callable[[Oracle, int], None]


@dataclasses.dataclass(frozen=True)
class Order:
    """What a sweep is asked to do, checked: the grid, and when each task is finished."""

    oracles: tuple[Oracle, ...]
    decoders: tuple[Decoder, ...]
    stops: tuple[Stop, ...]  # one an oracle
    seed: int
    confidence: float
    method: str
    max_seconds: float | None = None
    shard: tuple[int, int] | None = None

    @property
    def has_rule(self) -> bool:
        """Whether tasks may end before their number of trials."""
        return any(stop.is_rule for stop in self.stops)


def make_order(
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
) -> Order:
    """Check everything before any work is done."""
    check_grid(oracles, decoders, trials)
    check_method("sweep", method)
    if max_failures is not None:
        if method == "conditional":
            raise refusal("sweep", "max_failures", "left out where chances, not failures, are added up", max_failures)
        method = "simulated" if method == "auto" else method  # failures have to be counted
    stops = []
    for oracle in oracles:
        stop = make_stop(trials, check_trials("sweep", None, oracle), half_width, max_failures)
        stops.append(dataclasses.replace(stop, trials=min(stop.trials, oracle.rows or stop.trials)))
    if max_seconds is not None:
        must_be = "a number of seconds above 0"
        max_seconds = check_number("sweep", "max_seconds", max_seconds, must_be)
        if not max_seconds > 0.0:
            raise refusal("sweep", "max_seconds", must_be, max_seconds)
    order = Order(
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
        raise refusal("sweep", "shard", "left out where a rule needs all blocks in order", repr(shard))
    return order


def _read_shard(shard: str | None) -> tuple[int, int] | None:
    if shard is None:
        return None
    must_be = "i/k with whole numbers 1 <= i <= k, for example 1/4"
    first, slash, second = shard.partition("/")
    if not slash or not (first.isdecimal() and second.isdecimal()) or not 1 <= int(first) <= int(second):
        raise refusal("sweep", "shard", must_be, repr(shard))
    return int(first), int(second)


def open_campaign(order: Order, store: Store | None, command: str | None = None, *, dry_run: bool = False) -> Campaign:
    """Return the campaign of an order, with the blocks that the store has; say in the store what was asked for."""
    trials = [stop.trials for stop in order.stops]
    groups = make_groups(order.oracles, order.decoders, trials, order.method, order.seed, paired=store is not None)
    stops = [order.stops[group.places[0]] for group in groups]
    ledger = Ledger(store)
    campaign = Campaign(groups, stops, order.confidence, ledger, shard=order.shard, max_seconds=order.max_seconds)
    if store is not None and not dry_run:
        register(store, campaign, command)
    return campaign


def rows_of(campaign: Campaign) -> list[Row]:
    """Return the rows of a campaign in the order of the grid; tasks of which nothing is known yet have none."""
    rows = (cell.row(campaign.ledger) for cell in campaign.grid_cells())
    return [row for row in rows if row is not None]


@contextlib.contextmanager
def engine_for(
    threads: int | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    scheduler: str | None = None,
) -> Iterator[Engine]:
    """Yield the engine that the parameters describe; threads when there are none."""
    given = [name for name, value in (("threads", threads), ("workers", workers), ("executor", executor),
                                      ("scheduler", scheduler)) if value is not None]  # fmt: skip
    if len(given) > 1:
        raise refusal("sweep", given[1], f"left out where {given[0]} is given", "both")
    engine: Engine
    if workers is not None:
        engine = ProcessEngine(check_whole("sweep", "workers", workers, 1))
    elif executor is not None:
        engine = ExecutorEngine(executor)
    elif scheduler is not None:
        from pairsim.engines import DaskEngine

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
    """Simulate every decoder on every oracle and return one row for each.

    Parameters
    ----------
    oracles, decoders : sequences
        The grid. All decoders see the same tournaments of an oracle.
    trials, seed, confidence, method
        As in `simulate`.
    half_width : float or str, optional
        Stop a task when half its interval is at most this, or, as in "1%", this share of the rarer outcome's chance.
        `trials` is then the most it may take (10,000,000 when left out).
    max_failures : int, optional
        Stop a task when so many failures were counted; estimate and interval allow for it.
    max_seconds : float, optional
        Start no block after this time; rows are made of what is there.
    store : path, optional
        A results store: finished blocks are kept in it, and what it has is not played again. See `pairsim export`.
    threads, workers, executor, scheduler : optional
        Where to run, at most one of: so many threads (by itself one a core), so many processes, any
        `concurrent.futures.Executor`, or a Dask scheduler ("tcp://host:port"). The result does not depend on it.
    progress : callable, optional
        Called with the oracle and the number of trials just finished.

    Returns
    -------
    pandas.DataFrame
        Columns oracle, n, p, decoder, method, trials, success, low, high, queries, distinct, rounds, agreement.

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
    order = make_order(
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
    with contextlib.ExitStack() as stack:
        opened = None if store is None else stack.enter_context(Store.create_or_open(Path(store)))
        campaign = open_campaign(order, opened)
        engine = stack.enter_context(engine_for(threads, workers, executor, scheduler))
        if progress is not None:
            campaign.on_block = tell_progress(campaign, progress)
        campaign.run(engine)
        return to_frame(rows_of(campaign))


def tell_progress(campaign: Campaign, progress: Progress) -> Callable[[Job], None]:
    """Return what tells of each finished block: its oracles and its trials."""

    def tell(job: Job) -> None:
        oracles = campaign.groups[job.group].bench.oracles
        for oracle in job.oracles:
            progress(oracles[oracle], job.count)

    return tell


def check_grid(oracles: Sequence[Oracle], decoders: Sequence[Decoder], trials: int | None) -> None:
    """Refuse a grid with an empty side, or with a decoder that does not fit a number of classes, before any work."""
    if not oracles:
        raise refusal("sweep", "oracles", "at least one oracle", "none")
    if not decoders:
        raise refusal("sweep", "decoders", "at least one decoder", "none")
    for oracle in oracles:
        if not isinstance(oracle, Oracle):
            raise refusal("sweep", "oracles", "oracles such as Uniform(16, 0.9)", repr(oracle))
        if check_trials("sweep", trials, oracle) > TRIALS_LIMIT:
            raise refusal("sweep", "trials", "at most 2**62", trials)
        for decoder in decoders:
            if not isinstance(decoder, Decoder):
                raise refusal("sweep", "decoders", "decoders such as MaxWin()", repr(decoder))
            decoder.cost(oracle.n)
