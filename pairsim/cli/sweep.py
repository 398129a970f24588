"""`pairsim sweep`: the main job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pairsim.cli import options
from pairsim.cli.console import announce_compiling, note, print_table, progress_bar

if TYPE_CHECKING:
    from pairsim.sweeps.rows import Row


def sweep_command(
    n: options.ClassesOption = None,
    p: options.ChanceOption = None,
    oracle: options.OracleOption = None,
    r: options.SimilarityOption = None,
    matrix: options.MatrixOption = None,
    decoder: options.DecoderOption = None,
    trials: options.TrialsOption = None,
    seed: options.SeedOption = 0,
    ties: options.TiesOption = None,
    method: options.MethodOption = "auto",
    confidence: options.ConfidenceOption = 0.95,
    format_: options.FormatOption = "table",
    out: Annotated[Path | None, typer.Option("--out", help="Results file: .csv, .json or .parquet.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Picture of the curves: .png, .svg or .pdf.")] = None,
    threads: options.ThreadsOption = None,
) -> None:
    """Estimate the success probability of decoders over a grid of n and p.

    Example: pairsim sweep --p 0.7 --n 16..512 --plot curve.png
    """
    options.check_format(format_)
    if out is not None:
        from pairsim.sweeps.files import check_table_target

        check_table_target(out)
    if plot is not None:
        from pairsim.cli.plot import check_picture_target

        check_picture_target(plot)
    oracles = options.make_oracles(oracle, n, p, r, matrix)
    decoders = options.make_decoders(decoder, ties)

    from pairsim.simulation import check_trials
    from pairsim.sweeps import check_grid, sweep_rows

    check_grid(oracles, decoders, trials)
    announce_compiling()
    work = {each.n: sum(one.cost(each.n).queries for one in decoders) for each in oracles}
    total = sum(check_trials("sweep", trials, each) * work[each.n] for each in oracles)
    with progress_bar("sweep", total) as advance:
        rows = sweep_rows(
            oracles,
            decoders,
            trials,
            seed,
            confidence,
            method=method,
            threads=threads,
            progress=lambda each, count: advance(count * work[each.n], f"n = {each.n}"),
        )
    show(rows, format_)
    if out is not None:
        from pairsim.sweeps.files import write_table

        write_table(rows, out)
        note(f"wrote {out}")
    if plot is not None:
        from pairsim.cli.plot import draw
        from pairsim.sweeps.rows import to_frame

        draw(to_frame(rows), plot)


def show(rows: list[Row], format_: str) -> None:
    """Print the rows in the format that was asked for."""
    if format_ == "table":
        print_table(rows)
        return
    from pairsim.sweeps.files import csv_text, json_text

    typer.echo(csv_text(rows) if format_ == "csv" else json_text(rows), nl=False)
