"""What people see: text and tables on stdout, notes and a progress bar on stderr.

All that is printed passes through here. It may come from files, so it goes through `printable`.
"""

from __future__ import annotations

import contextlib
import functools
import io
import shutil
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from pairsim.cli.streams import write_stderr, write_stdout
from pairsim.plain_text import printable

if TYPE_CHECKING:
    from pairsim.cli.layout import Column, Fitted

SPEC_WIDTH = 60  # of a decoder in a note: radag's may list all its errors
NAME_WIDTH = 32
ASCII = {"─": "-", "±": "+-"}


def terminal_width() -> int | None:
    """Return the width of the terminal that stdout is; None when it is a pipe or a file, where nothing is cut."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def say(line: str, *, indent: str = "") -> None:
    """Print one line of text; on a terminal, as several lines that fit, all but the first of them indented."""
    from pairsim.cli.layout import BLANKS, fold

    width = terminal_width()
    text = printable(line)
    write_stdout((text if width is None else fold(text, width, BLANKS, indent)) + "\n")


def say_entries(entries: Sequence[tuple[str, str]]) -> None:
    """Print names with a text each: in two columns, or where a terminal is narrow below each other."""
    width = terminal_width()
    for name, text in entries:
        if width is not None and width < 2 * NAME_WIDTH:
            say(name)
            say(f"    {text}", indent="    ")
        else:
            say(f"{name:<{NAME_WIDTH}} {text}", indent=" " * (NAME_WIDTH + 1))


def print_for_programs(text: str) -> None:
    """Print csv or json as it is: whoever made it has escaped or replaced what is not printable."""
    write_stdout(text)


def print_columns(columns: Sequence[Column], caption: Sequence[str] = (), section_starts: Collection[int] = ()) -> None:
    """Print a table that fits the terminal, the lines of its caption, and which columns there was no room for."""
    from pairsim.cli.layout import fit

    width = terminal_width()
    fitted = fit([_safe(column) for column in columns], width)
    write_stdout(_rendered(fitted, section_starts))
    lines = [line for line in caption if line]
    if fitted.left_out:
        lines.append(f"not shown: {', '.join(fitted.left_out)} (--format csv, wider terminal)")
    if lines:
        write_stdout("\n")
    for line in lines:
        say(line)


def _safe(column: Column) -> Column:
    """Return the column without what would do something to a terminal."""
    from pairsim.cli.layout import Column

    cells = [printable(cell) for cell in column.cells]
    short = column.short and _safe(column.short)
    return Column(printable(column.name), cells, column.is_key, column.rank, column.is_text, short)


def _rendered(fitted: Fitted, section_starts: Collection[int]) -> str:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    from pairsim.cli.layout import GAP, fold

    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, GAP - 1, 0, 0))
    for column, width in zip(fitted.columns, fitted.widths, strict=True):
        justify = "left" if column.is_text else "right"
        table.add_column(fold(column.name, width), justify=justify, width=width, no_wrap=True, overflow="crop")  # type: ignore[arg-type]
    for place, cells in enumerate(zip(*(column.cells for column in fitted.columns), strict=True)):
        if place in section_starts:
            table.add_section()
        table.add_row(*(fold(cell, width) for cell, width in zip(cells, fitted.widths, strict=True)))
    text = io.StringIO()
    room = sum(fitted.widths) + GAP * len(fitted.widths)
    console = Console(
        file=text, width=room, force_terminal=sys.stdout.isatty(), markup=False, emoji=False, highlight=False
    )
    console.print(table)
    shown = text.getvalue()
    if not (sys.stdout.encoding or "utf-8").lower().startswith("utf"):
        for letter, plain in ASCII.items():
            shown = shown.replace(letter, plain)
    return "".join(line.rstrip() + "\n" for line in shown.splitlines())


@contextlib.contextmanager
def progress_bar(description: str, total: float) -> Iterator[Callable[[float, str], None]]:
    """Yield a function to call with (work done, what is being done); it draws on a terminal and is silent in a pipe."""
    if not sys.stderr.isatty():
        yield lambda done, label: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(description, total=total)
        yield lambda done, label: bar.update(task, advance=done, description=printable(f"{description} {label}"))


@contextlib.contextmanager
def progress_steps(description: str) -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function to call with (what is being done, steps done, steps in all), which may become more or fewer."""
    if not sys.stderr.isatty():
        yield lambda label, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(description, total=None)
        yield lambda label, done, total: bar.update(
            task, completed=done, total=total, description=printable(f"{description} {label}")
        )


@functools.cache
def announce_compiling() -> None:
    """Say in one line, when it happens, that kernels are compiled; from then on they come from the cache."""
    from pairsim.simulation import watch_compiler

    watch_compiler(lambda: note("compiling kernels; this happens once and takes some seconds ..."))


@contextlib.contextmanager
def noting_left_out(what: str = "row", made_by: str = "sweep") -> Iterator[list[str]]:
    """Yield a list for the decoders of what is left out of a store, and report in one line at the end what it holds."""
    left_out: list[str] = []
    try:
        yield left_out
    finally:
        if left_out:
            shortened = (spec if len(spec) <= SPEC_WIDTH else spec[:SPEC_WIDTH] + "..." for spec in left_out)
            of = ", ".join(dict.fromkeys(shortened))
            how_many = f"1 {what} is" if len(left_out) == 1 else f"{len(left_out):,} {what}s are"
            why = f"computed by rules that an earlier version had; run the {made_by} again"
            note(f"{how_many} skipped ({of}): {why}")


def note(message: str) -> None:
    """Tell the user something on stderr, on one line."""
    # blanks stay as they are, for the message may hold a command to be copied
    line = " ".join(line.strip() for line in message.splitlines() if line.strip())
    write_stderr(f"pairsim: {printable(line)}\n")


def write_then_show(writers: Sequence[Callable[[], None]], show: Callable[[], None]) -> None:
    """Write the files, then show the result: a screen that fails loses no file, and a file that fails no result."""
    try:
        for write in writers:
            write()
    finally:
        show()
