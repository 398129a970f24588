"""The Dask engine against a real scheduler and real workers: which come late, die, or go away for good."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import engine_work as work
import pytest
from engine_cluster import Cluster, wait_until

from pairsim.engines import DaskEngine, EngineLost, UnitError, dask_cluster, run_units
from pairsim.errors import ParameterError

distributed: Any = pytest.importorskip("distributed")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with Cluster(tmp_path) as running:
        yield running


def feed(units: list[Any]) -> Callable[[], Any | None]:
    left = iter(units)
    return lambda: next(left, None)


def ask_scheduler(address: str, question: Callable[..., Any]) -> Any:
    with distributed.Client(address, set_as_default=False) as client:
        return client.run_on_scheduler(question)


def count_tasks(dask_scheduler: Any) -> int:
    return len(dask_scheduler.tasks)


def test_units_wait_for_workers_and_nothing_stays_at_the_scheduler(cluster: Cluster) -> None:
    done: list[int] = []
    words: list[str] = []
    began = time.monotonic()

    def tick() -> None:
        words.append(engine.describe())
        if not cluster.workers and time.monotonic() - began > 1.0:
            cluster.add_worker()
            cluster.add_worker()

    with DaskEngine(cluster.address) as engine:
        assert (engine.workers, engine.slots) == (0, 0)
        engine.start(work.snooze, 0.02)
        run_units(engine, feed(list(range(50))), lambda unit, *_: done.append(unit), pytest.fail, tick=tick)
        wait_until(lambda: engine.slots == 2, "both workers to be counted")
        assert engine.capacity >= 4
        assert ask_scheduler(cluster.address, count_tasks) >= 1  # the context, and the check below can fail
    assert sorted(done) == list(range(50))
    assert words[0] == f"no worker yet at {cluster.address}"
    assert ask_scheduler(cluster.address, count_tasks) == 0


def test_a_worker_killed_while_it_works_costs_nothing_but_time(cluster: Cluster) -> None:
    victim, _ = cluster.add_worker(), cluster.add_worker()
    done: list[int] = []

    def report(unit: int, result: int, seconds: float) -> None:
        done.append(unit)
        if len(done) == 20:
            victim.kill()

    with DaskEngine(cluster.address) as engine:
        wait_until(lambda: engine.slots == 2, "both workers")
        engine.start(work.snooze, 0.03)
        run_units(engine, feed(list(range(80))), report, pytest.fail)
        wait_until(lambda: engine.slots == 1, "the loss of a worker to be counted")
    assert sorted(done) == list(range(80))
    assert victim.wait() == -signal.SIGKILL


def test_the_context_outlives_the_only_worker_that_had_it(cluster: Cluster) -> None:
    first = cluster.add_worker()
    done: list[int] = []

    def report(unit: int, result: int, seconds: float) -> None:
        done.append(result)
        if len(done) == 3:
            first.kill()
            cluster.add_worker()

    with DaskEngine(cluster.address) as engine:
        engine.start(work.power, 2)
        run_units(engine, feed(list(range(12))), report, pytest.fail)
    assert sorted(done) == [2**unit for unit in range(12)]


def test_a_unit_that_kills_its_workers_is_given_up_and_so_is_such_a_context(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed: list[tuple[Any, BaseException]] = []
    done: list[int] = []
    with Cluster(tmp_path, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0") as cluster:
        cluster.add_worker(nanny=True)
        with DaskEngine(cluster.address) as engine:
            engine.start(work.die_as_told, str(tmp_path))
            for units in ([(0, 0), (1, 0)], [(2, 9)], [(3, 0)]):
                run_units(
                    engine,
                    feed(units),
                    lambda unit, result, seconds: done.append(result),
                    lambda *failure: failed.append(failure),
                    attempts=2,
                )
            monkeypatch.setattr(dask_cluster, "BURIALS", 1)
            engine.start(work.snooze, work.DeadlyContext())
            with pytest.raises(EngineLost, match=r"cannot read their work units \(KilledWorker"):
                run_units(engine, feed([5, 6]), pytest.fail, pytest.fail)
    assert sorted(done) == [0, 1, 3]
    ((unit, error),) = failed
    assert unit == (2, 9)
    assert isinstance(error, UnitError)
    assert "KilledWorker" in str(error)
    assert work.runs_of(tmp_path, 2) == 2


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "closed"])
def test_a_scheduler_that_goes_away_is_told_in_one_line(
    cluster: Cluster, number: signal.Signals, capfd: pytest.CaptureFixture[str]
) -> None:
    cluster.add_worker()
    done: list[int] = []
    threads = set(threading.enumerate())

    def report(unit: int, result: int, seconds: float) -> None:
        done.append(unit)
        if len(done) == 20:
            cluster.scheduler.send_signal(number)

    with DaskEngine(cluster.address) as engine:
        engine.start(work.snooze, 0.02)
        with pytest.raises(EngineLost, match=rf"^the Dask scheduler at {cluster.address} is gone \(.*\)$"):
            run_units(engine, feed(list(range(10_000))), report, pytest.fail)
    assert len(done) == len(set(done)) >= 20
    assert capfd.readouterr() == ("", "")
    assert set(threading.enumerate()) <= threads


def test_an_idle_engine_notices_that_the_scheduler_has_gone(cluster: Cluster) -> None:
    with DaskEngine(cluster.address) as engine:
        engine.start(work.power, 2)
        engine.submit(1)  # there is no worker: it would wait for ever
        cluster.scheduler.kill()
        with pytest.raises(EngineLost, match="is gone"):
            engine.wait(60.0)
        with pytest.raises(EngineLost, match="is gone"):
            engine.submit(2)


def test_a_cluster_restarted_by_somebody_else_is_no_more_than_an_interruption(cluster: Cluster) -> None:
    cluster.add_worker(nanny=True)
    done: list[int] = []

    def report(unit: int, result: int, seconds: float) -> None:
        done.append(unit)
        if len(done) == 5:
            with distributed.Client(cluster.address, set_as_default=False) as other:
                other.restart()

    with DaskEngine(cluster.address) as engine:
        engine.start(work.snooze, 0.02)
        run_units(engine, feed(list(range(15))), report, pytest.fail)
    assert sorted(done) == list(range(15))


def test_nobody_answers() -> None:
    level = distributed.client.logger.level
    with pytest.raises(EngineLost, match=r"^no Dask scheduler answers at tcp://127.0.0.1:9 \(Connection refused\)$"):
        DaskEngine("tcp://127.0.0.1:9", timeout=0.5)
    assert distributed.client.logger.level == level


@pytest.mark.parametrize(
    "address",
    [
        "",
        "localhost",
        "localhost:8786",
        "tcp://",
        "tcp://host",
        "tcp://host:port",
        "http://host:80",
        "tcp://a b:1",
        None,
    ],
)
def test_an_address_of_another_shape_is_refused(address: Any) -> None:
    with pytest.raises(ParameterError, match="'scheduler' parameter of sweep must be an address like tcp://host:port"):
        DaskEngine(address)


@pytest.mark.parametrize("address", ["tcp://host:1", "tls://10.0.0.1:8786", "tcp://[::1]:8786"])
def test_without_the_package_the_way_to_it_is_told(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ParameterError, match=r"omitted: it requires Dask \(pip install 'pairsim\[dask\]'\)"):
        DaskEngine(address)


def test_workers_that_cannot_import_the_work_lose_the_engine(tmp_path: Path) -> None:
    with Cluster(tmp_path, PYTHONPATH=os.pathsep) as cluster:
        cluster.add_worker()
        with DaskEngine(cluster.address) as engine:
            engine.start(work.power, 2)
            with pytest.raises(EngineLost, match=r"cannot read their work units .*engine_work"):
                run_units(engine, feed([1, 2, 3]), pytest.fail, pytest.fail)
