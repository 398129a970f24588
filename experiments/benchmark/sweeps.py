"""Rows of the sweeps: what a store costs, how fast it resumes and merges, and what a cluster on one machine loses."""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from experiments.benchmark.timing import Measured, best_process_seconds, best_seconds
from pairsim import Uniform, decoder, sweep
from pairsim.decoders import PAPER_SPECS
from pairsim.engines import DaskEngine, Engine, ProcessEngine
from pairsim.simulation import block_trials
from pairsim.store import BlockRecord, Store, TaskRecord, merge_stores, task_id
from pairsim.sweeps import Sweep, make_request

PROGRAM = [sys.executable, "-c", "from pairsim.cli import run; run()"]


def store_rows() -> list[Measured]:
    """Measure a store beside the same sweep without one, a finished sweep asked again, and many stores merged."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return [_overhead(folder), _resume(folder), _merge(folder)]


def _overhead(folder: Path) -> Measured:
    """Return how much longer a sweep with a store takes: six tasks of a second each, the best of several runs."""
    decoders = [decoder(spec) for spec in PAPER_SPECS]
    oracles, trials = [Uniform(64, 0.7)], 8_000_000
    numbers = itertools.count()
    plain = functools.partial(sweep, oracles, decoders, trials)

    def stored() -> None:
        sweep(oracles, decoders, trials, store=folder / f"overhead-{next(numbers)}.db")

    without, with_store = best_seconds(plain, 1), best_seconds(stored, 1)
    for _ in range(3):  # the machine's speed drifts: alternate
        without, with_store = min(without, best_seconds(plain, 1)), min(with_store, best_seconds(stored, 1))
    detail = f"{with_store:.3g} s against {without:.3g} s"
    return Measured("store overhead of a sweep", 100 * (with_store / without - 1), 5, "%", at_most=True, detail=detail)


def _resume(folder: Path) -> Measured:
    """Return the seconds of the whole process, when the same command finds its 1,000 tasks finished."""
    probabilities = ",".join(f"{0.5 + k / 1000:.3f}" for k in range(250))
    command = [
        *PROGRAM,
        "sweep",
        "--p",
        probabilities,
        "--n",
        "8",
        "--trials",
        "1000",
        "--store",
        str(folder / "resume.db"),
    ]
    for spec in ("max-win", "poll:l=log", "adag", "ddag"):
        command += ["--decoder", spec]
    command += ["--format", "csv"]
    seconds = best_process_seconds(command, 3)  # its first run, which is not counted, does the work
    return Measured("resume of a finished sweep of 1,000 tasks", seconds, 2, "s", at_most=True)


def _merge(folder: Path) -> Measured:
    """Return the seconds of merging 100 stores with 1,000 blocks each."""
    tasks = [TaskRecord(task_id(text), text) for text in (f'{{"task":{number}}}' for number in range(10))]
    paths = []
    for place in range(100):
        paths.append(folder / f"part-{place}.db")
        with Store.create_or_open(paths[-1]) as store:
            store.add_tasks(tasks)
            store.record(
                BlockRecord(task.id, block, 16_384, (float(block), 0.5, 0.25, 0.125, 1e6, 1e6, 1e3))
                for task in tasks
                for block in range(100 * place, 100 * place + 100)
            )
    numbers = itertools.count()
    seconds = best_seconds(lambda: merge_stores(paths, folder / f"merged-{next(numbers)}.db"), 2)
    return Measured("merging 100 stores of 1,000 blocks", seconds, 5, "s", at_most=True)


def dask_rows() -> list[Measured]:
    """Measure blocks a second on a Dask cluster here against as many local processes, in the steady state."""
    with _cluster(2) as address:
        rates: dict[str, float] = {}
        for _ in range(3):
            rates["processes"] = max(rates.get("processes", 0.0), _rate(ProcessEngine(2)))
            rates["dask"] = max(rates.get("dask", 0.0), _rate(DaskEngine(address)))
    detail = f"{rates['dask']:.3g} against {rates['processes']:.3g} blocks/s"
    return [
        Measured("Dask on loopback against local processes", rates["dask"] / rates["processes"], 0.8, "", detail=detail)
    ]


def _rate(engine: Engine) -> float:
    """Return the blocks a second between the first and the last that came in."""
    request = make_request([Uniform(64, 0.7)], [decoder(spec) for spec in PAPER_SPECS], 48 * block_trials(64))
    moments: list[float] = []
    with engine:
        Sweep(request, engine=engine).run(progress=lambda oracle, trials: moments.append(time.perf_counter()))
    ahead = 4  # the first results of all workers mark the start
    return (len(moments) - ahead) / (moments[-1] - moments[ahead - 1])


@contextlib.contextmanager
def _cluster(workers: int) -> Iterator[str]:
    """Start a scheduler and single-threaded workers on loopback; yield the address."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        described = Path(folder, "scheduler.json")

        def start(*arguments: str) -> None:
            command = [sys.executable, "-m", *arguments, "--host", "127.0.0.1", "--no-dashboard"]
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
            stack.callback(process.wait)
            stack.callback(process.kill)

        start("distributed.cli.dask_scheduler", "--port", "0", "--scheduler-file", str(described))
        while not (described.exists() and described.read_text().endswith("}")):
            time.sleep(0.05)
        address: str = json.loads(described.read_text())["address"]
        for _ in range(workers):
            start("distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny")
        yield address


GROUPS = {"store": store_rows, "dask": dask_rows}
