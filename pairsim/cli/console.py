"""What people see: tables on stdout, a progress bar on stderr when that is a terminal."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from pairsim.sweeps.rows import Row

PIPE_WIDTH = 200  # a table in a pipe is not cut to a terminal that is not there


def print_table(rows: list[Row]) -> None:
    """Print rows as a table for people: rounded figures, the interval beside the estimate."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    single_oracle = len({row.oracle for row in rows}) == 1
    if not single_oracle:
        table.add_column("oracle")
    for name in ("n", "p"):
        table.add_column(name, justify="right")
    table.add_column("decoder", no_wrap=True)
    for name in ("success", "interval", "queries", "distinct", "rounds", "agreement"):
        table.add_column(name, justify="right", no_wrap=True)
    previous = None
    for row in rows:
        point = (row.oracle, row.n, row.p)
        if previous is not None and point != previous:
            table.add_section()
        previous = point
        cells = [
            str(row.n),
            "" if row.p != row.p else f"{row.p:g}",
            str(row.decoder),
            f"{row.success:.4f}",
            "exact" if row.method == "exact" else f"{row.low:.4f} .. {row.high:.4f}",
            count(row.queries),
            count(row.distinct),
            count(row.rounds),
            "" if row.agreement != row.agreement else f"{row.agreement:.4f}",
        ]
        table.add_row(*(cells if single_oracle else [str(row.oracle), *cells]))
    methods = ", ".join(dict.fromkeys(row.method for row in rows))
    trials = max(row.trials for row in rows)
    table.caption = f"{rows[0].oracle if single_oracle else 'several oracles'}, {trials:,} trials, {methods}"
    table.caption_justify = "left"
    print_plainly(table)


def print_plainly(table: Table) -> None:
    """Print a table as it is: names in it that look like markup or emoji stay what they are."""
    from rich.console import Console

    if sys.stdout.isatty():
        console = Console(markup=False, emoji=False)
    else:
        console = Console(markup=False, emoji=False, width=PIPE_WIDTH, no_color=True)
    console.print(table)


def count(value: float) -> str:
    """Return an amount for people: whole, or with one digit."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


@contextlib.contextmanager
def progress_bar(description: str, total: float) -> Iterator[Callable[[float, str], None]]:
    """Yield a function to call with (work done, what is being done); it draws on a terminal and is silent in a pipe."""
    if not sys.stderr.isatty():
        yield lambda done, label: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(description, total=total)
        yield lambda done, label: bar.update(task, advance=done, description=f"{description} {label}")


@functools.cache
def announce_compiling() -> None:
    """Say in one line, when it happens, that kernels are compiled; from then on they come from the cache."""
    from pairsim.simulation import watch_compiler

    watch_compiler(lambda: note("compiling kernels; this happens once and takes some seconds ..."))


def note(message: str) -> None:
    """Tell the user something on stderr, on one line."""
    import typer

    # blanks stay as they are, for the message may hold a command to be copied
    typer.echo("pairsim: " + " ".join(line.strip() for line in message.splitlines() if line.strip()), err=True)
