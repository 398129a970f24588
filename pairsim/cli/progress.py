"""How a sweep is doing: bars on a terminal, a line every half minute elsewhere, or JSON for programs."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from pairsim.cli.console import note
from pairsim.cli.running import refused
from pairsim.cli.streams import write_stderr
from pairsim.plain_text import printable

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pairsim.sweeps import Sweep
    from pairsim.sweeps.progress import TaskProgress

STYLES = ("auto", "bar", "lines", "json", "none")
SECONDS_BETWEEN = {"bar": 0.5, "lines": 30.0, "json": 1.0}
MOST_SHOWN = 8


def check_progress(style: str, quiet: bool) -> str:
    """Return how to show progress: on a terminal bars, elsewhere lines, when nothing else is asked for."""
    if style not in STYLES:
        raise refused("progress", "one of " + ", ".join(STYLES), repr(style))
    if style == "auto":
        style = "bar" if sys.stderr.isatty() else "lines"
    return "none" if quiet else style


class Watch:
    """Reports how far a sweep is."""

    def __init__(self, sweep: Sweep) -> None:
        self.sweep = sweep
        self.started = time.monotonic()
        self.cells = [cell for cell in sweep.cells() if cell.blocks]
        self._costs = [float(cell.task.decoder.cost(cell.task.oracle.n).queries) for cell in self.cells]
        self._at_start = self._done()
        self._trials_at_start = self._trials()

    def _done(self) -> float:
        return sum(cost * cell.running.trials for cost, cell in zip(self._costs, self.cells, strict=True))

    def _trials(self) -> int:
        return sum(cell.running.trials for cell in self.cells)

    def active(self) -> list[TaskProgress]:
        """Return tasks that are begun and not finished; where there are none, the next ones."""
        open_cells = [cell for cell in self.cells if not cell.ended and not cell.given_up]
        return ([cell for cell in open_cells if cell.running.trials] or open_cells)[:MOST_SHOWN]

    def look(self) -> dict[str, Any]:
        """Return the state as plain data."""
        total = sum(cost * cell.expected_trials() for cost, cell in zip(self._costs, self.cells, strict=True))
        done, seconds = self._done(), time.monotonic() - self.started
        speed = (done - self._at_start) / seconds if seconds > 0.0 else 0.0
        return {
            "seconds": round(seconds, 3),
            "tasks": len(self.cells),
            "tasks_done": sum(cell.ended for cell in self.cells),
            "fraction": round(min(1.0, done / total), 6) if total else 1.0,
            "trials": self._trials(),
            "trials_per_second": round((self._trials() - self._trials_at_start) / seconds, 1) if seconds > 0.0 else 0.0,
            "seconds_left": round(max(0.0, total - done) / speed, 1) if speed > 0.0 else None,
            "engine": self.sweep.engine.describe() if self.sweep.engine else "",
            "current": [self.look_at(cell) for cell in self.active()],
        }

    @staticmethod
    def look_at(cell: TaskProgress) -> dict[str, Any]:
        """Return the state of one task."""
        found = cell.running_estimate()
        return {
            "task": cell.task.id,
            "oracle": cell.label,
            "n": cell.task.oracle.n,
            "p": cell.task.oracle.p,
            "decoder": cell.task.decoder.spec,
            "trials": cell.running.trials,
            "expected_trials": cell.expected_trials(),
            "success": found and found.success,
            "low": found and found.low,
            "high": found and found.high,
        }


@contextlib.contextmanager
def watching(sweep: Sweep, style: str) -> Iterator[Callable[[], None]]:
    """Yield a function to call often: it shows how far the sweep is when it is time to."""
    if style == "none":
        yield lambda: None
        return
    watch = Watch(sweep)
    if style == "bar":
        with _live(watch) as draw:
            yield _now_and_then(draw, SECONDS_BETWEEN[style])
        return
    tell = _tell_json if style == "json" else _tell_line
    yield _now_and_then(lambda: tell(watch.look()), SECONDS_BETWEEN[style])
    if style == "json":
        tell(watch.look())


def _now_and_then(show: Callable[[], None], seconds: float) -> Callable[[], None]:
    last = time.monotonic()

    def tick() -> None:
        nonlocal last
        if time.monotonic() - last >= seconds:
            show()
            last = time.monotonic()

    return tick


def _tell_json(state: dict[str, Any]) -> None:
    write_stderr(json.dumps(state) + "\n")


def _tell_line(state: dict[str, Any]) -> None:
    left = "" if state["seconds_left"] is None else f", {duration(state['seconds_left'])} left"
    current = "".join(f"; {_described(each)}" for each in state["current"][:1])
    note(
        f"{state['fraction']:.0%}, {state['tasks_done']} of {state['tasks']} tasks done, "
        f"{state['trials_per_second']:,.0f} trials/s on {state['engine']}{left}{current}"
    )


def _described(each: dict[str, Any]) -> str:
    p = "" if each["p"] is None else f" p = {each['p']:g}"
    estimate = "" if each["success"] is None else f" {each['success']:.5f} ({each['low']:.5f} .. {each['high']:.5f})"
    return printable(f"n = {each['n']}{p} {each['decoder']}{estimate}")


def duration(seconds: float) -> str:
    """Return a length of time for people.

    Examples
    --------
    >>> duration(7), duration(150), duration(9000)
    ('7 s', '2.5 min', '2.5 h')
    """
    if seconds < 120.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60.0:.1f} min" if seconds < 7200.0 else f"{seconds / 3600.0:.1f} h"


@contextlib.contextmanager
def _live(watch: Watch) -> Iterator[Callable[[], None]]:
    """Yield what draws the bars on the terminal; they are gone when the sweep is done."""
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True, markup=False, emoji=False), transient=True, auto_refresh=False) as live:
        yield lambda: live.update(_bars(watch.look()), refresh=True)


def _bars(state: dict[str, Any]) -> RenderableType:
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    table = Table.grid(padding=(0, 1))
    for each in state["current"]:
        bar = ProgressBar(total=max(1, each["expected_trials"]), completed=each["trials"], width=24)
        table.add_row(_described(each), bar, f"{each['trials']:,} trials")
    left = "" if state["seconds_left"] is None else f", {duration(state['seconds_left'])} left"
    table.add_row(
        f"all: {state['tasks_done']} of {state['tasks']} tasks",
        ProgressBar(total=1.0, completed=state["fraction"], width=24),
        printable(f"{state['fraction']:.0%}, {state['trials_per_second']:,.0f} trials/s on {state['engine']}{left}"),
    )
    return table
