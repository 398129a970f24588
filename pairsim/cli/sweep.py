"""`pairsim sweep`: the main job."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pairsim.cli import options
from pairsim.cli.console import announce_compiling, note, print_table
from pairsim.cli.stops import OUTSIDE_TROUBLE, Stopped, ending_well, shell_command, what_is_kept
from pairsim.errors import refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from pairsim.engines import Engine
    from pairsim.store import Store
    from pairsim.sweeps.campaign import Campaign
    from pairsim.sweeps.rows import Row

StoreOption = Annotated[
    Path | None,
    typer.Option("--store", help="Keep finished blocks in this file (.db) and go on from what it has."),
]
HalfWidthOption = Annotated[
    str | None,
    typer.Option("--half-width", help="Stop a task when its interval is at most +- this: 0.001, or 1% of the chance."),
]


def sweep_command(
    n: options.ClassesOption = None,
    p: options.ChanceOption = None,
    oracle: options.OracleOption = None,
    r: options.SimilarityOption = None,
    matrix: options.MatrixOption = None,
    order: options.OrderOption = None,
    difficulty: options.DifficultyOption = None,
    decoder: options.DecoderOption = None,
    trials: options.TrialsOption = None,
    half_width: HalfWidthOption = None,
    max_failures: Annotated[
        int | None, typer.Option("--max-failures", help="Stop a task when so many failures were counted.")
    ] = None,
    max_seconds: Annotated[
        float | None, typer.Option("--max-seconds", help="Start no block after this time; --store keeps the rest open.")
    ] = None,
    seed: options.SeedOption = 0,
    ties: options.TiesOption = None,
    method: options.MethodOption = "auto",
    confidence: options.ConfidenceOption = 0.95,
    store: StoreOption = None,
    format_: options.FormatOption = "table",
    out: Annotated[Path | None, typer.Option("--out", help="Results file: .csv, .json or .parquet.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Picture of the curves: .png, .svg or .pdf.")] = None,
    threads: options.ThreadsOption = None,
    workers: Annotated[int | None, typer.Option("--workers", help="Run on so many processes.")] = None,
    scheduler: Annotated[
        str | None, typer.Option("--scheduler", help="Run on a Dask cluster: tcp://host:port (extra pairsim[dask]).")
    ] = None,
    shard: Annotated[
        str | None, typer.Option("--shard", help="Do part i of k only, 2/4: one part a machine, then merge the stores.")
    ] = None,
    progress: Annotated[
        str, typer.Option("--progress", help="auto, bar, lines (one every 30 s), json or none, on stderr.")
    ] = "auto",
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress and no notes.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the tasks and their cost, and do nothing.")] = False,
) -> None:
    """Estimate the success probability of decoders over a grid of n and p.

    Example: pairsim sweep --p 0.7 --n 16..512 --plot curve.png

    With --store the same command goes on where it was stopped, and more trials or points reuse what is there:

    Example: pairsim sweep --p 0.7 --n 16..512 --half-width 0.001 --store results.db
    """
    from pairsim.cli.progress import check_progress

    options.check_format(format_)
    style = check_progress(progress, quiet)
    check_targets(store, out, plot)
    if shard is not None and store is None:
        raise refusal("sweep", "shard", "given with --store, so that the parts can be merged", repr(shard))
    oracles = options.make_oracles(oracle, n, p, r, matrix, order, difficulty)
    decoders = options.make_decoders(decoder, ties)

    from pairsim.sweeps import engine_for, make_order, open_campaign, rows_of

    request = make_order(
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
    with ending_well(command if store is not None else None) as look:
        with contextlib.ExitStack() as stack:
            opened = stack.enter_context(_opened(store, dry_run)) if store is not None else None
            if dry_run:
                _show_tasks(open_campaign(request, opened, dry_run=True), format_)
                return
            engine = stack.enter_context(engine_for(threads, workers, None, scheduler))
            campaign = open_campaign(request, opened, command)
            if campaign.ledger.found:
                tell(f"{store} has {campaign.ledger.found:,} of the blocks already")
            if not quiet:
                announce_compiling()
            _run(campaign, engine, style, look, command if store is not None else None)
            rows = rows_of(campaign)
            lost = _report(campaign, tell, store)
        _deliver(rows, format_, out, plot, tell)
    if lost:
        raise Stopped(lost, OUTSIDE_TROUBLE)


def _deliver(rows: list[Row], format_: str, out: Path | None, plot: Path | None, tell: Callable[[str], None]) -> None:
    """Show the rows, and write the files that were asked for."""
    if rows or format_ != "table":  # a program gets an empty table that it can read
        show(rows, format_)
    if not rows:
        return
    if out is not None:
        from pairsim.sweeps.files import write_table

        write_table(rows, out)
        tell(f"wrote {out}")
    if plot is not None:
        from pairsim.cli.plot import draw
        from pairsim.sweeps.rows import to_frame

        draw(to_frame(rows), plot)


def check_targets(store: Path | None, out: Path | None, plot: Path | None, *, evaluation: bool = False) -> None:
    """Refuse files that could not be written, before any work is done."""
    if store is not None:
        from pairsim.sweeps.files import TABLE_SUFFIXES

        if store.suffix.lower() in TABLE_SUFFIXES:
            must_be = "a store such as results.db (--out is for tables)"
            raise refusal("sweep", "store", must_be, repr(str(store)))
    if out is not None:
        if evaluation:
            from pairsim.evaluation import EVALUATION_TABLE as TABLE
        else:
            from pairsim.sweeps.files import SWEEP_TABLE as TABLE

        TABLE.check_target(out)
    if plot is not None:
        from pairsim.cli.plot import check_picture_target

        check_picture_target(plot)


def _opened(path: Path, dry_run: bool) -> contextlib.AbstractContextManager[Store | None]:
    from pairsim.store import Store

    if not dry_run:
        return Store.create_or_open(path)
    return Store.read(path) if path.exists() else contextlib.nullcontext(None)


def _run(campaign: Campaign, engine: Engine, style: str, look: Callable[[], None], command: str | None) -> None:
    """Run the campaign; when something outside ends it, say how to go on."""
    from pairsim.cli.progress import watching
    from pairsim.engines import EngineLost
    from pairsim.store import StoreError

    try:
        with watching(campaign, engine, style) as show_progress:

            def tick() -> None:
                look()
                show_progress()

            campaign.run(engine, tick)
    except EngineLost as error:
        raise Stopped(f"{error}; {what_is_kept(command)}", OUTSIDE_TROUBLE) from None
    except StoreError as error:
        raise Stopped(f"{error} Go on with: {command}", OUTSIDE_TROUBLE) from None
    look()


def _report(campaign: Campaign, tell: Callable[[str], None], store: Path | None) -> str:
    """Tell what is not as it was asked for; return the message when blocks were lost."""
    unfinished = sum(not cell.ended for cell in campaign.cells)
    if campaign.out_of_time:
        tell(f"time is up with {unfinished} tasks unfinished" + ("; the same command goes on" if store else ""))
    elif campaign.shard is not None:
        tell(f"shard {campaign.shard[0]}/{campaign.shard[1]} is done; put the parts together with: pairsim merge")
    lost = [(cell, block, why) for cell in campaign.cells for block, why in cell.lost.items()]
    for cell, block, why in lost[:5]:
        note(f"block {block} of {cell.task.decoder.spec} at n = {cell.task.oracle.n} failed three times: {why}")
    return f"{len(lost)} blocks could not be played; all others were" if lost else ""


def _show_tasks(campaign: Campaign, format_: str) -> None:
    """Print what a sweep would do."""
    from pairsim.cli.records import show_records

    records: list[dict[str, Any]] = []
    for cell in campaign.grid_cells():
        stored = sum(1 for _ in cell.tallies(campaign.ledger))
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
                "questions": trials * cell.task.decoder.cost(cell.task.oracle.n).queries,
            }
        )
    at_most = "at most, " if any(cell.stop.is_rule for cell in campaign.cells) else ""
    total = sum(record["questions"] for record in records)
    missing = sum(record["blocks"] - record["stored"] for record in records)
    caption = f"{at_most}{len(records)} tasks, {missing:,} blocks to play, {total:.3g} questions in all"
    show_records(records, format_, caption)


def show(rows: list[Row], format_: str) -> None:
    """Print the rows in the format that was asked for."""
    if format_ == "table":
        print_table(rows)
        return
    from pairsim.sweeps.files import csv_text, json_text

    typer.echo(csv_text(rows) if format_ == "csv" else json_text(rows), nl=False)
