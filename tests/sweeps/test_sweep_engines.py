"""Sweeps on every engine: threads, processes, executors of others and a Dask cluster give the same bits."""

from __future__ import annotations

import multiprocessing
import shutil
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest
from engine_cluster import Cluster, wait_until
from sweep_tools import rows_in, swept

import pairsim
from pairsim import Adag, MaxWin, ParameterError, Poll, Recorded, Similarity, Uniform
from pairsim.engines import DaskEngine, EngineLost
from pairsim.sweeps import EngineChoice
from pairsim.sweeps.work import Context
from pairsim.version import VERSION

ORACLES = [Uniform(4, 0.8), Uniform(4, 0.9), Similarity([0.5, 0.3, 0.2]), Recorded([[True], [False], [True]])]
DECODERS = [MaxWin(), Poll(2), Adag(order="given")]
FIXED = {"trials": None, "seed": 7}  # 10,000 trials an oracle, and all rows of the recorded one
LONG = {"trials": 1_200_000, "seed": 7, "method": "simulated"}  # 19 blocks
RULES = [{"max_failures": 12, "seed": 3}, {"half_width": "40%", "seed": 3}]
RARE = [Uniform(4, 0.9999), Uniform(4, 0.999)]


@pytest.fixture(scope="module")
def expected() -> list[list[tuple[str, ...]]]:
    """Return the rows of all jobs on one thread."""
    return [do(job, threads=1) for job in range(4)]


def do(job: int, **where) -> list[tuple[str, ...]]:
    if job == 0:
        return swept(ORACLES, DECODERS, **FIXED, **where)
    if job == 1:
        return swept(ORACLES[:3], DECODERS, **LONG, **where)
    return swept(RARE, [Adag(), Poll(9)], **RULES[job - 2], **where)


def check_all(expected, tmp_path, **where) -> None:
    """Do all jobs somewhere into stores, and one without."""
    assert do(0, **where) == expected[0]
    for job, wanted in enumerate(expected):
        store = tmp_path / f"{job}.db"
        assert do(job, store=store, **where) == wanted
        assert rows_in(store) == wanted


@pytest.mark.parametrize("threads", [2, 3])
def test_threads(expected, tmp_path, threads):
    check_all(expected, tmp_path, threads=threads)
    assert do(0, threads=threads) != expected[1]  # the comparison can fail
    assert swept(ORACLES, DECODERS, seed=8, threads=threads) != expected[0]


@pytest.mark.parametrize("workers", [1, 2])
def test_processes(expected, tmp_path, workers):
    store = tmp_path / "results.db"
    for job in (0,) if workers == 1 else (1, 2):
        assert do(job, store=store, workers=workers) == expected[job]
        assert rows_in(store)[-len(expected[job]) :] == expected[job]


def test_executors_of_others(expected, tmp_path):
    with ThreadPoolExecutor(2) as pool:
        check_all(expected, tmp_path, executor=pool)
        assert pool.submit(int).result() == 0  # it was not ours to shut down
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as processes:
        (tmp_path / "processes").mkdir()
        check_all(expected, tmp_path / "processes", executor=processes)
        assert processes.submit(int).result() == 0


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[Cluster]:
    pytest.importorskip("distributed")
    with Cluster(tmp_path_factory.mktemp("cluster")) as running:
        running.add_worker()
        running.add_worker()
        with DaskEngine(running.address) as engine:
            wait_until(lambda: engine.slots >= 2, "the workers")
        yield running


def test_a_cluster(expected, tmp_path, cluster):
    check_all(expected, tmp_path, scheduler=cluster.address)


def test_a_worker_that_is_killed_changes_nothing(expected, tmp_path, cluster):
    victim = cluster.add_worker()
    with DaskEngine(cluster.address) as engine:
        wait_until(lambda: engine.slots >= 3, "the victim")

    def kill_once(oracle, trials):
        victim.kill()

    store = tmp_path / "results.db"
    assert do(1, store=store, scheduler=cluster.address, progress=kill_once) == expected[1]
    assert victim.wait(60) == -9
    assert rows_in(store) == expected[1]


def test_a_scheduler_that_is_killed_leaves_what_is_done(expected, tmp_path):
    pytest.importorskip("distributed")
    store = tmp_path / "results.db"
    with Cluster(tmp_path) as doomed:
        doomed.add_worker()

        def kill_once(oracle, trials):
            doomed.scheduler.kill()

        with pytest.raises(EngineLost):
            do(1, store=store, scheduler=doomed.address, progress=kill_once)
    kept = rows_in(store)
    assert kept  # at least the block that was told of
    assert kept != expected[1]
    assert do(1, store=store, threads=2) == expected[1]
    assert rows_in(store) == expected[1]


DIFFERENT = {
    "version": (
        "import pairsim.version\npairsim.version.VERSION = '0.0.1'\n",
        r"pairsim 0\.0\.1, the sweep has pairsim 0",
    ),
    "stream": (
        "import pairsim.kernels.stream as s\ns.STREAM_VERSION = 99\n",
        r"pairsim \S+ \(stream 99\), the sweep has pairsim \S+ \(stream \d\)",
    ),
    "digits": (
        "import pairsim.simulation.conditional as c\nc.DIGITS_VERSION = 99\n",
        r"pairsim \S+ \(digits 99\), the sweep has pairsim \S+ \(digits \d\)",
    ),
}
OTHER_SOURCES = r"pairsim \S+ \(sources [0-9a-f]{12}\), the sweep has pairsim \S+ \(sources [0-9a-f]{12}\)"


@pytest.mark.parametrize("name", DIFFERENT)
def test_workers_that_differ_are_refused(tmp_path, monkeypatch, name):
    change, said = DIFFERENT[name]
    guarded = f"import sys\nif '--multiprocessing-fork' in sys.orig_argv:\n    {change.replace(chr(10), '; ')}\n"
    (tmp_path / "sitecustomize.py").write_text(guarded)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(EngineLost, match=f"this worker has {said}"):
        do(0, workers=1)


def other_sources(folder) -> str:
    """Copy the package and edit a kernel, as if a worker had another checkout; return what to put on the path."""
    package = Path(pairsim.__file__).parent
    shutil.copytree(package, folder / "pairsim", ignore=shutil.ignore_patterns("__pycache__"))
    edited = folder / "pairsim" / "kernels" / "stream.py"
    edited.write_text(edited.read_text() + "\n# edited\n")
    return str(folder)


def test_workers_with_other_kernels_are_refused(tmp_path, monkeypatch):
    path = other_sources(tmp_path / "other")
    (tmp_path / "sitecustomize.py").write_text(
        f"import sys\nif '--multiprocessing-fork' in sys.orig_argv:\n    sys.path.insert(0, {path!r}); import pairsim\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(EngineLost, match=f"this worker has {OTHER_SOURCES}"):
        do(0, workers=1)


def test_dask_workers_with_other_kernels_are_refused(tmp_path):
    pytest.importorskip("distributed")
    (tmp_path / "cluster").mkdir()
    with Cluster(tmp_path / "cluster", PYTHONPATH=other_sources(tmp_path / "other")) as cluster:
        cluster.add_worker()
        with pytest.raises(EngineLost, match=f"this worker has {OTHER_SOURCES}"):
            do(0, scheduler=cluster.address)


def test_workers_and_sweeps_of_0_2_refuse_each_other_in_words():
    unpack, (version, stream, content) = Context([]).__reduce__()
    assert unpack(version, stream, content)._simulators == []
    with pytest.raises(RuntimeError, match=r"the sweep has pairsim \S+ \(digits 0, sources unknown\)"):
        unpack(VERSION, stream, [])  # as they were sent by 0.2
    assert version != VERSION  # by which 0.2 finds that it is not meant


def test_one_place_at_a_time():
    with pytest.raises(
        ParameterError, match="'workers' parameter of sweep must be omitted: it cannot be combined with threads"
    ):
        do(0, threads=2, workers=2)
    for where in ({"threads": 0}, {"workers": 0}, {"workers": True}, {"scheduler": "nowhere"}, {"executor": 5}):
        (name,) = where
        with pytest.raises(ParameterError, match=f"The '{name}' parameter of .* must be"):
            EngineChoice(**where).engine()
