"""`pairsim sweep`: success probabilities over a grid, stored and resumed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pairsim.cli import options
from pairsim.cli.console import announce_compiling, note, print_for_programs, write_then_show
from pairsim.cli.exits import OUTSIDE_TROUBLE, Stopped, exit_cleanly, noticing_sigterm, shell_command, what_is_kept
from pairsim.cli.oracle_options import Grid, with_oracles
from pairsim.cli.records import print_records, show_records
from pairsim.cli.running import refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from pairsim.sweeps import Sweep
    from pairsim.sweeps.rows import Row

StoreOption = Annotated[
    Path | None,
    typer.Option("--store", help="Keep finished blocks in this file (.db) and resume from it."),
]
HalfWidthOption = Annotated[
    str | None,
    typer.Option("--half-width", help="Stop a task at this CI half-width: 0.001, or 1% (relative)."),
]


@with_oracles
def sweep_command(
    grid: Grid,
    decoder: options.DecoderOption = None,
    trials: options.TrialsOption = None,
    half_width: HalfWidthOption = None,
    max_failures: Annotated[
        int | None, typer.Option("--max-failures", help="Stop a task after this many failures.")
    ] = None,
    max_seconds: Annotated[
        float | None, typer.Option("--max-seconds", help="Start no block after this time; resume later with --store.")
    ] = None,
    seed: options.SeedOption = 0,
    ties: options.TiesOption = None,
    method: options.MethodOption = "auto",
    confidence: options.ConfidenceOption = 0.95,
    store: StoreOption = None,
    format_: options.FormatOption = "table",
    out: Annotated[Path | None, typer.Option("--out", help="Results file: .csv, .json or .parquet.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Plot of the curves: .png, .svg or .pdf.")] = None,
    threads: options.ThreadsOption = None,
    workers: Annotated[int | None, typer.Option("--workers", help="Number of worker processes.")] = None,
    scheduler: Annotated[
        str | None, typer.Option("--scheduler", help="Run on a Dask cluster: tcp://host:port (extra pairsim[dask]).")
    ] = None,
    shard: Annotated[
        str | None, typer.Option("--shard", help="Run shard i of k, e.g. 2/4; then merge the stores.")
    ] = None,
    progress: Annotated[
        str, typer.Option("--progress", help="auto, bar, lines (one every 30 s), json or none, on stderr.")
    ] = "auto",
    quiet: Annotated[bool, typer.Option("--quiet", help="Suppress progress and notes.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the tasks and their cost without running them.")
    ] = False,
) -> None:
    """Estimate success probabilities over a grid of n and p.

    Example: pairsim sweep --p 0.7 --n 16..512 --plot curve.png

    With --store the same command resumes after any interruption, and more trials or points reuse stored blocks:

    Example: pairsim sweep --p 0.7 --n 16..512 --half-width 0.001 --store results.db
    """
    from pairsim.cli.progress import check_progress

    options.check_format(format_)
    style = check_progress(progress, quiet)
    check_targets(store, out, plot)
    if shard is not None and store is None:
        raise refused("shard", "used with --store, so that the parts can be merged", repr(shard))
    oracles = grid()
    decoders = options.make_decoders(decoder, ties)

    from pairsim.sweeps import EngineChoice, Sweep, make_request

    choice = EngineChoice(threads, workers, None, scheduler)
    request = make_request(
        oracles,
        decoders,
        trials,
        seed,
        confidence,
        method=method,
        half_width=half_width,
        max_failures=max_failures,
        max_seconds=max_seconds,
        shard=shard,
    )
    tell: Callable[[str], None] = (lambda message: None) if quiet else note
    command = shell_command(["pairsim", *sys.argv[1:]])
    kept = command if store is not None else None
    with exit_cleanly(kept):
        if dry_run:
            with Sweep.open(request, store) as sweep:
                _show_tasks(sweep, format_)
            return
        with Sweep.open(request, store, choice, command=command, tell=tell) as sweep:
            if sweep.results.found:
                tell(f"{store} already has {sweep.results.found:,} of the blocks")
            if not quiet:
                announce_compiling()
            _run(sweep, style, kept)
            rows = sweep.rows()
            lost = _report(sweep, tell)
        _deliver(rows, format_, out, plot, tell)
    if lost:
        raise Stopped(lost, OUTSIDE_TROUBLE)


def _deliver(rows: list[Row], format_: str, out: Path | None, plot: Path | None, tell: Callable[[str], None]) -> None:
    """Write the files that were asked for, then show the rows."""
    writers: list[Callable[[], None]] = []
    if rows and out is not None:
        writers.append(lambda: _write(rows, out, tell))
    if rows and plot is not None:
        writers.append(lambda: _draw(rows, plot, tell))
    write_then_show(writers, lambda: show(rows, format_))


def _write(rows: list[Row], out: Path, tell: Callable[[str], None]) -> None:
    from pairsim.sweeps.files import write_table

    write_table(rows, out)
    tell(f"wrote {out}")


def _draw(rows: list[Row], plot: Path, tell: Callable[[str], None]) -> None:
    from pairsim.cli.plot import draw
    from pairsim.sweeps.rows import to_frame

    draw(to_frame(rows), plot)
    tell(f"drew {plot}")


def check_targets(store: Path | None, out: Path | None, plot: Path | None, *, evaluation: bool = False) -> None:
    """Reject files that could not be written, before any work is done."""
    if store is not None:
        from pairsim.sweeps.files import TABLE_SUFFIXES

        if store.suffix.lower() in TABLE_SUFFIXES:
            must_be = "a store such as results.db (--out is for tables)"
            raise refused("store", must_be, repr(str(store)))
    if out is not None:
        if evaluation:
            from pairsim.evaluation import EVALUATION_TABLE as TABLE
        else:
            from pairsim.sweeps.files import SWEEP_TABLE as TABLE

        TABLE.check_target(out)
    if plot is not None:
        from pairsim.cli.plot import check_picture_target

        check_picture_target(plot)


def _run(sweep: Sweep, style: str, command: str | None) -> None:
    """Run the sweep; when something outside ends it, say how to resume."""
    from pairsim.cli.progress import watching
    from pairsim.engines import EngineLost
    from pairsim.store import StoreError

    try:
        with noticing_sigterm() as look, watching(sweep, style) as show_progress:

            def tick() -> None:
                look()
                show_progress()

            sweep.run(tick)
            look()
    except EngineLost as error:
        raise Stopped(f"{error}; {what_is_kept(command)}", OUTSIDE_TROUBLE) from None
    except StoreError as error:
        raise Stopped(f"{error} Resume with: {command}", OUTSIDE_TROUBLE) from None


def _report(sweep: Sweep, tell: Callable[[str], None]) -> str:
    """Tell what is not as it was asked for; return the message when blocks were lost."""
    cells, shard = sweep.cells(), sweep.request.shard
    if sweep.out_of_time:
        unfinished = sum(not cell.ended for cell in cells)
        resumes = "; the same command resumes" if sweep.store is not None else ""
        tell(f"time is up with {unfinished} tasks unfinished{resumes}")
    elif shard is not None:
        tell(f"shard {shard[0]}/{shard[1]} is done; merge the stores with: pairsim merge")
    lost = [(cell, block, why) for cell in cells for block, why in cell.lost.items()]
    for cell, block, why in lost[:5]:
        note(f"block {block} of {cell.task.decoder.spec} at n = {cell.task.oracle.n} failed three times: {why}")
    return f"{len(lost)} blocks failed; the rest completed" if lost else ""


def _show_tasks(sweep: Sweep, format_: str) -> None:
    """Print what a sweep would do."""
    records: list[dict[str, Any]] = []
    for cell in sweep.cells():
        stored = sum(1 for _ in cell.tallies(sweep.results))
        trials = cell.stop.trials if cell.blocks else 0
        records.append(
            {
                "task": cell.task.id[:12],
                "oracle": cell.label,
                "n": cell.task.oracle.n,
                "p": cell.task.oracle.p,
                "decoder": cell.task.decoder.spec,
                "method": cell.shown,
                "trials": trials,
                "blocks": cell.blocks,
                "stored": stored,
                "queries": trials * cell.task.decoder.cost(cell.task.oracle.n).queries,
            }
        )
    at_most = "at most, " if sweep.request.has_rule else ""
    total = sum(record["queries"] for record in records)
    missing = sum(record["blocks"] - record["stored"] for record in records)
    caption = f"{at_most}{len(records)} tasks, {missing:,} blocks to run, {total:.3g} queries in all"
    show_records(records, format_, caption)


def show(rows: list[Row], format_: str) -> None:
    """Print the rows in the format that was asked for."""
    if format_ == "table":
        if rows:  # a program gets an empty table that it can read
            print_records([row._asdict() for row in rows])
        return
    from pairsim.sweeps.files import csv_text, json_text

    print_for_programs(csv_text(rows) if format_ == "csv" else json_text(rows))
