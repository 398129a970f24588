"""Laws that hold on every engine: each unit is reported once, and what goes wrong stays with its unit."""

from __future__ import annotations

import multiprocessing
import os
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import engine_work as work
import pytest
from engine_cluster import Cluster
from hypothesis import given, settings
from hypothesis import strategies as st

from pairsim.engines import DaskEngine, Engine, EngineLost, ExecutorEngine, Finished, ProcessEngine, ThreadEngine
from pairsim.engines import run_units as run_units_on
from pairsim.engines.kept_context import KEPT
from pairsim.engines.packing import UnitError
from pairsim.errors import ParameterError

MakeEngine = Callable[[], Any]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster")) as running:
        running.add_worker()
        running.add_worker()
        yield running


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as running:
        yield running


@pytest.fixture(params=["threads", "processes", "thread pool", "process pool", "dask"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with opened(request.param, request) as opened_engine:
        yield opened_engine


@pytest.fixture(params=["processes", "process pool", "dask"])
def remote(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with opened(request.param, request) as opened_engine:
        yield opened_engine


ONE_AT_A_TIME: tuple[type[Engine], ...] = ()  # engines with one slot, in the process of the caller


def needs_two_slots(engine: Engine) -> None:
    if isinstance(engine, ONE_AT_A_TIME):
        pytest.skip("it takes one unit at a time")


@contextmanager
def opened(name: str, request: pytest.FixtureRequest) -> Iterator[Engine]:
    if name == "threads":
        with ThreadEngine(2) as engine:
            yield engine
    elif name == "processes":
        with ProcessEngine(2) as engine:
            yield engine
    elif name == "thread pool":
        with ThreadPoolExecutor(2) as threads, ExecutorEngine(threads) as engine:
            yield engine
    elif name == "process pool":
        with ExecutorEngine(request.getfixturevalue("pool")) as engine:
            yield engine
    else:
        pytest.importorskip("distributed")
        with DaskEngine(request.getfixturevalue("cluster").address) as engine:
            yield engine


class Report:
    """What `run_units` told its callbacks."""

    def __init__(self) -> None:
        self.done: list[tuple[Any, Any, float]] = []
        self.failed: list[tuple[Any, BaseException]] = []

    def results(self) -> dict[Any, Any]:
        return {unit: result for unit, result, _ in self.done}

    def check_once(self, units: list[Any]) -> None:
        """Each unit is in exactly one of the two lists, once."""
        reported = [unit for unit, *_ in self.done] + [unit for unit, _ in self.failed]
        assert Counter(map(repr, reported)) == Counter(map(repr, units))


def run_units(engine: Engine, units: list[Any], **options: Any) -> Report:
    report, left = Report(), iter(units)
    run_units_on(
        engine,
        lambda: next(left, None),
        lambda *finished: report.done.append(finished),
        lambda *failure: report.failed.append(failure),
        **options,
    )
    return report


def test_every_unit_is_reported_exactly_once(engine: Engine) -> None:
    engine.start(work.power, 3)
    units = list(range(60))
    report = run_units(engine, units)
    report.check_once(units)
    assert report.results() == {unit: 3**unit for unit in units}


def test_an_engine_that_reports_twice_does_not_pass_the_check() -> None:
    class Doubling(ThreadEngine):
        def wait(self, timeout: float | None) -> list[Finished]:
            return [finished for finished in super().wait(timeout) for _ in range(2)]

    with Doubling(1) as engine:
        engine.start(work.power, 3)
        report = run_units(engine, [1, 2, 3])
    with pytest.raises(AssertionError):
        report.check_once([1, 2, 3])


def test_a_unit_that_raises_is_tried_again(engine: Engine, tmp_path: Path) -> None:
    engine.start(work.raise_as_told, str(tmp_path))
    units = [(number, 2 if number == 5 else 0) for number in range(12)]
    report = run_units(engine, units, attempts=3)
    report.check_once(units)
    assert not report.failed
    assert [work.runs_of(tmp_path, number) for number in range(12)] == [3 if number == 5 else 1 for number in range(12)]


def test_a_unit_that_always_raises_is_given_up_and_the_rest_goes_on(engine: Engine, tmp_path: Path) -> None:
    engine.start(work.raise_as_told, str(tmp_path))
    units = [(number, 99 if number == 5 else 0) for number in range(12)]
    report = run_units(engine, units, attempts=3)
    report.check_once(units)
    ((unit, error),) = report.failed
    assert unit == (5, 99)
    assert isinstance(error, ValueError)
    assert str(error) == "run 2 of unit 5"
    assert work.runs_of(tmp_path, 5) == 3


@pytest.mark.parametrize("odd", ["lambda", "one-way result", "one-way error", "held error", "exit"])
def test_what_cannot_travel_spoils_its_own_unit_only(remote: Engine, odd: str) -> None:
    remote.start(work.answer_oddly, None)
    units = ["a", odd, "b", "c"]
    report = run_units(remote, units, attempts=2)
    report.check_once(units)
    ((unit, error),) = report.failed
    assert unit == odd
    words = {"one-way error": "this and that", "held error": "kept here", "exit": "7", "lambda": "cannot be sent back"}
    assert words.get(odd, "nobody can read") in str(error)
    assert isinstance(error, SystemExit if odd == "exit" else UnitError)


def test_the_traceback_of_a_remote_error_comes_with_it(remote: Engine, tmp_path: Path) -> None:
    remote.start(work.raise_as_told, str(tmp_path))
    ((_, error),) = run_units(remote, [(1, 9)], attempts=1).failed
    assert any("raise_as_told" in note for note in error.__notes__)


def test_a_unit_that_cannot_be_sent_or_read_fails_alone(remote: Engine) -> None:
    remote.start(work.snooze, 0.0)
    unsendable, unreadable = (lambda: None), work.UnreadableUnit()
    units = [1, unsendable, 2, unreadable, 3]
    report = run_units(remote, units)
    report.check_once(units)
    messages = {unit: str(error) for unit, error in report.failed}
    assert "cannot be sent to another process" in messages[unsendable]
    assert "could not be read by its worker" in messages[unreadable]


def test_a_context_that_cannot_be_sent_is_refused(remote: Engine) -> None:
    with pytest.raises(ParameterError, match=r"'context' parameter of .* must be made of things that can be sent"):
        remote.start(work.snooze, lambda: None)
    with pytest.raises(ParameterError, match="'context' parameter"):
        remote.start(lambda context, unit: unit, None)


def test_a_context_that_cannot_be_read_loses_the_engine(remote: Engine) -> None:
    remote.start(work.snooze, work.UnreadableContext())
    with pytest.raises(EngineLost, match=r"cannot read their work units \(LookupError: nobody can read"):
        run_units(remote, [1, 2, 3])
    remote.start(work.power, 2)  # the engine is fine, the context was not
    assert run_units(remote, [10]).results() == {10: 1024}


def test_the_context_is_read_once_by_each_worker(remote: Engine, tmp_path: Path) -> None:
    remote.start(work.tell_process, work.CountedContext(str(tmp_path)))
    report = run_units(remote, list(range(12)))
    workers = {result for _, result, _ in report.done}
    assert os.getpid() not in workers
    assert {f"read-by-{number}" for number in workers} <= {file.name for file in tmp_path.iterdir()}
    assert {file.stat().st_size for file in tmp_path.iterdir()} == {1}


def test_more_units_may_come_after_results(engine: Engine) -> None:
    engine.start(work.power, 2)
    ready, results = [1], []

    def done(unit: int, result: int, seconds: float) -> None:
        results.append(result)
        if unit < 6:
            ready.extend([unit + 1] * (unit % 2 + 1))

    run_units_on(engine, lambda: ready.pop() if ready else None, done, pytest.fail)
    assert Counter(results) == {2: 1, 4: 2, 8: 2, 16: 4, 32: 4, 64: 8}


def test_units_and_results_larger_than_any_pipe(engine: Engine) -> None:
    engine.start(work.snooze, 0.0)
    units = [bytes([number]) * 2_000_000 for number in range(8)]
    report = run_units(engine, units)
    assert not report.failed
    assert report.results() == {unit: unit for unit in units}


def test_nothing_to_do_ends_at_once(engine: Engine) -> None:
    engine.start(work.power, 2)
    assert run_units(engine, []).done == []
    assert engine.wait(None) == []


def test_waiting_ends_with_the_time_and_seconds_are_those_of_the_work(engine: Engine) -> None:
    engine.start(work.snooze, 0.3)
    engine.submit("unit")
    assert engine.wait(0.0) == []
    (finished,) = engine.wait(None)
    assert finished[:3] == ("unit", "unit", None)
    assert finished.seconds >= 0.29


def test_results_come_in_order_of_completion(engine: Engine) -> None:
    needs_two_slots(engine)
    engine.start(work.snooze_as_told, None)
    run_units(engine, [0.0, 0.001, 0.002, 0.003])  # by now every worker is up
    order = [unit for unit, *_ in run_units(engine, [0.6, 0.1]).done]
    assert order == [0.1, 0.6]


@pytest.mark.parametrize("where", ["next_unit", "done", "failed", "tick"])
def test_an_exception_of_a_callback_goes_through_and_stops_the_engine(
    engine: Engine, where: str, tmp_path: Path
) -> None:
    engine.start(work.raise_as_told, str(tmp_path))
    units = ((number, 99 * (number == 3)) for number in count())  # without the exception this would never end
    calls = Counter[str]()

    def call(name: str, *arguments: Any) -> Any:
        calls[name] += 1
        if name == where and calls[name] > (0 if where == "failed" else 2):
            raise LookupError(name)
        return next(units) if name == "next_unit" else None

    with pytest.raises(LookupError, match=where):
        run_units_on(
            engine,
            lambda: call("next_unit"),
            lambda *finished: call("done"),
            lambda *failure: call("failed"),
            tick=lambda: call("tick"),
            attempts=1,
        )
    assert calls[where] == (1 if where == "failed" else 3)
    assert engine.wait(None) == []  # dropped
    engine.start(work.power, 2)
    assert run_units(engine, [4]).results() == {4: 16}


def test_what_has_finished_is_delivered_before_the_exception_goes_on(engine: Engine) -> None:
    needs_two_slots(engine)
    engine.start(work.snooze_as_told, None)
    run_units(engine, [0.2, 0.2, 0.2, 0.2])  # by now every worker is up
    units, delivered = iter([0.0, 0.1, 9.0]), []

    def next_unit() -> float | None:
        unit = next(units)
        if unit == 9.0:
            time.sleep(0.6)  # the first two are over by then, and nobody has asked for them
            raise LookupError("no more")
        return unit

    with pytest.raises(LookupError, match="no more"):
        run_units_on(engine, next_unit, lambda unit, *_: delivered.append(unit), pytest.fail)
    assert delivered == [0.0, 0.1]


def test_nothing_is_delivered_after_done_has_raised() -> None:
    calls = []

    def done(unit: int, result: int, seconds: float) -> None:
        calls.append(unit)
        raise LookupError

    with ThreadEngine(2) as engine:
        engine.start(work.power, 2)
        units = iter(range(10))
        with pytest.raises(LookupError):
            run_units_on(engine, lambda: next(units, None), done, pytest.fail, tick=lambda: time.sleep(0.01))
    assert len(calls) == 1


def test_ticks_come_while_units_are_slow(engine: Engine) -> None:
    engine.start(work.snooze, 0.7)
    ticks = []
    run_units(engine, [1], tick=lambda: ticks.append(time.monotonic()))
    assert len(ticks) >= 2


def test_stop_now_drops_and_start_begins_afresh(engine: Engine) -> None:
    engine.start(work.snooze, 0.2)
    for unit in range(8):
        engine.submit(("old", unit))
    engine.stop(now=True)
    engine.stop(now=True)
    assert engine.wait(None) == []
    engine.start(work.snooze, 0.0)
    units = [("new", unit) for unit in range(8)]
    run_units(engine, units).check_once(units)


def test_stop_without_haste_lets_units_end(engine: Engine, tmp_path: Path) -> None:
    engine.start(work.note_run, str(tmp_path))
    for unit in range(6):
        engine.submit(unit)
    engine.stop(now=False)
    assert [work.runs_of(tmp_path, unit) for unit in range(6)] == [1] * 6


def test_starting_again_without_a_stop_forgets_the_first_run(engine: Engine) -> None:
    engine.start(work.snooze, 0.1)
    engine.submit("old")
    engine.start(work.power, 2)
    assert run_units(engine, [3, 4]).results() == {3: 8, 4: 16}


def test_slots_and_words(engine: Engine) -> None:
    engine.start(work.power, 2)
    run_units(engine, list(range(4)))
    if isinstance(engine, DaskEngine):  # both workers may need a moment to be counted
        deadline = time.monotonic() + 30
        while engine.slots != 2 and time.monotonic() < deadline:
            time.sleep(0.05)
    slots = 1 if isinstance(engine, ONE_AT_A_TIME) else 2
    assert engine.slots == slots
    assert engine.capacity >= 2 * slots or slots == 1
    assert str(slots) in engine.describe()
    here = isinstance(engine, (ThreadEngine, *ONE_AT_A_TIME))
    assert engine.in_process == (here or "ThreadPool" in engine.describe())


def test_threads_share_objects_and_need_not_pack_them() -> None:
    marker, unit = object(), object()
    with ThreadEngine(1) as engine:
        engine.start(lambda context, unit: (context, unit), marker)
        assert run_units(engine, [unit]).results() == {unit: (marker, unit)}


def test_nothing_is_left_behind() -> None:
    before = set(threading.enumerate())
    with ThreadEngine(3) as threads, ProcessEngine(2) as processes:
        for engine in (threads, processes):
            engine.start(work.snooze, 0.01)
            run_units(engine, list(range(6)))
        assert len(multiprocessing.active_children()) >= 2  # the check below can fail
        children = [child.pid for child in multiprocessing.active_children() if child.name == "pairsim-worker"]
    assert set(threading.enumerate()) <= before
    assert len(children) == 2
    assert not {child.pid for child in multiprocessing.active_children()} & set(children)


def test_an_executor_is_never_shut_down_and_its_end_is_told() -> None:
    with ThreadPoolExecutor(1) as threads:
        with ExecutorEngine(threads) as engine:
            engine.start(work.power, 2)
            assert run_units(engine, [3]).results() == {3: 8}
        assert threads.submit(int, "7").result() == 7
    with ExecutorEngine(threads, slots=5) as engine:
        assert engine.slots == 5
        engine.start(work.power, 2)
        with pytest.raises(EngineLost, match="ThreadPoolExecutor takes no more units"):
            run_units(engine, [3])


def test_a_worker_keeps_the_contexts_of_several_runs(pool: ProcessPoolExecutor, tmp_path: Path) -> None:
    with ExecutorEngine(pool) as first, ExecutorEngine(pool) as second:
        for number, engine in enumerate((first, second)):
            folder = tmp_path / str(number)
            folder.mkdir()
            engine.start(work.tell_process, work.CountedContext(str(folder)))
        for _ in range(KEPT):
            for engine in (first, second):
                run_units(engine, [1, 2, 3])
    assert {file.stat().st_size for file in tmp_path.glob("*/*")} == {1}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ThreadEngine(0), "'threads' parameter of ThreadEngine must be an integer from 1 to .* Got 0"),
        (lambda: ProcessEngine(1.5), "'workers' parameter of ProcessEngine must be an integer"),  # type: ignore[arg-type]
        (lambda: ExecutorEngine("pool"), "'executor' parameter of ExecutorEngine must be"),  # type: ignore[arg-type]
        (lambda: ExecutorEngine(ThreadPoolExecutor(1), slots=0), "'slots' parameter of ExecutorEngine must be"),
        (lambda: run_units(ThreadEngine(1), [], attempts=0), "'attempts' parameter of run_units must be"),
    ],
)
def test_refusals(make: MakeEngine, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make()


class Scripted(Engine):
    """An engine without any worker: units wait in a queue, and each fails as often as the script says."""

    in_process = True

    def __init__(self, slots: int, failures: list[int], last_first: bool) -> None:
        self.slots, self.failures, self.last_first = slots, failures, last_first
        self.waiting: queue.Queue[int] = queue.LifoQueue() if last_first else queue.Queue()
        self.deepest = 0

    def start(self, work: Any, context: Any) -> None: ...

    def submit(self, unit: int) -> None:
        self.waiting.put(unit)
        self.deepest = max(self.deepest, self.waiting.qsize())

    def wait(self, timeout: float | None) -> list[Finished]:
        if self.waiting.empty():
            return []
        unit = self.waiting.get()
        self.failures[unit] -= 1
        return [Finished(unit, unit, KeyError(unit) if self.failures[unit] >= 0 else None, 0.0)]

    def stop(self, *, now: bool) -> None: ...


@settings(derandomize=True, deadline=None, max_examples=100)
@given(
    failures=st.lists(st.integers(0, 5), max_size=30),
    slots=st.integers(1, 5),
    attempts=st.integers(1, 4),
    last_first=st.booleans(),
)
def test_a_unit_is_done_exactly_when_it_fails_less_often_than_it_may(
    failures: list[int], slots: int, attempts: int, last_first: bool
) -> None:
    units = list(range(len(failures)))
    with Scripted(slots, list(failures), last_first) as engine:
        report = run_units(engine, units, attempts=attempts)
    report.check_once(units)
    assert {unit for unit, *_ in report.done} == {unit for unit in units if failures[unit] < attempts}
    assert engine.deepest <= engine.capacity
