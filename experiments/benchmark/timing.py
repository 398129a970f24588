"""Measuring: the best of several runs, rows with a goal, and a table of them."""

from __future__ import annotations

import dataclasses
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path


@dataclasses.dataclass(frozen=True)
class Measured:
    """One row: what was measured, the goal, the value, and whether the goal is met."""

    name: str
    value: float
    goal: float
    unit: str
    at_most: bool = False
    detail: str = ""

    @property
    def met(self) -> bool:
        """Whether the value is on the right side of the goal."""
        return self.value <= self.goal if self.at_most else self.value >= self.goal


def best_seconds(work: Callable[[], object], repeats: int = 5, clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the shortest of several runs, after one that is not counted (it may compile or fill caches)."""
    work()
    best = float("inf")
    for _ in range(repeats):
        start = clock()
        work()
        best = min(best, clock() - start)
    return best


def best_process_seconds(command: list[str], repeats: int = 7, **environment: str) -> float:
    """Return the shortest wall time of a command, start of the interpreter included."""

    def run() -> None:
        subprocess.run(command, check=True, capture_output=True, env=os.environ | environment)

    return best_seconds(run, repeats)


def own_peak_megabytes() -> float:
    """Return the peak resident memory of this process.

    Linux is asked for the peak of this program alone: what `getrusage` says counts, too, what the process that started
    it held at that moment.
    """
    status = Path("/proc/self/status")
    if status.exists():
        peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(peak.split()[1]) * 1024 / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


def peak_megabytes(program: str) -> float:
    """Return the peak resident memory of `python -c program` once its kernels are in the cache."""
    code = f"{program}\nfrom experiments.benchmark.timing import own_peak_megabytes\nprint(own_peak_megabytes())"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return float(done.stdout.split()[-1])


def fresh_cache_output(program: str) -> str:
    """Return what `python -c program` prints when the kernel cache is empty."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"PAIRSIM_CACHE_DIR": folder}
        done = subprocess.run(
            [sys.executable, "-c", program], check=True, capture_output=True, text=True, env=environment
        )
    return done.stdout


def print_rows(rows: list[Measured]) -> None:
    """Print the rows as a table."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name, justify in (
        ("row", "left"),
        ("measured", "right"),
        ("goal", "right"),
        ("met", "left"),
        ("detail", "left"),
    ):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    for row in rows:
        goal = f"{'<=' if row.at_most else '>='} {row.goal:g} {row.unit}"
        table.add_row(row.name, f"{row.value:.3g} {row.unit}", goal, "yes" if row.met else "NO", row.detail)
    (Console() if sys.stdout.isatty() else Console(width=200)).print(table)


def write_rows(rows: list[Measured], path: Path) -> None:
    """Write the rows, with the machine they were measured on, as JSON."""
    machine = {"cores": os.cpu_count(), "python": sys.version.split()[0], "load": os.getloadavg()}
    records = [dataclasses.asdict(row) | {"met": row.met} for row in rows]
    path.write_text(json.dumps({"machine": machine, "rows": records}, indent=1) + "\n", encoding="utf-8")


def cpu_seconds() -> float:
    """Return the CPU time of this thread."""
    return time.thread_time()
