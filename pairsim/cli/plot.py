"""`pairsim plot`: pictures of results."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pairsim.cli.console import note

if TYPE_CHECKING:
    import pandas as pd


def plot_command(
    results: Annotated[
        Path, typer.Argument(help="A results store (.db), or a table that pairsim wrote: .csv, .json or .parquet.")
    ],
    out: Annotated[Path, typer.Option("--out", help="The picture: .png, .svg or .pdf.")],
    x: Annotated[str, typer.Option("--x", help="What goes on the x axis: auto, n or p.")] = "auto",
    scale: Annotated[str, typer.Option("--scale", help="Of the x axis: auto, linear or log2.")] = "auto",
) -> None:
    """Draw success probability curves, one a decoder, with their intervals.

    Example: pairsim plot results.csv --out fig.png
    """
    check_picture_target(out)

    from pairsim.sweeps.results import read_rows
    from pairsim.sweeps.rows import to_frame

    draw(to_frame(read_rows(results)), out, x=x, scale=scale)


def check_picture_target(path: Path) -> None:
    """Refuse a picture file that could not be written or is not ours to replace."""
    from pairsim.plots import PLOT_SUFFIXES, is_our_picture
    from pairsim.sweeps.files import check_target

    check_target(path, PLOT_SUFFIXES, "plot", is_our_picture)


def draw(frame: pd.DataFrame, path: Path, *, x: str = "auto", scale: str = "auto") -> None:
    """Draw the rows to a picture file."""
    from pairsim.plots import plot_panels, save_picture
    from pairsim.sweeps.files import write_whole
    from pairsim.sweeps.rows import TEXT_COLUMNS

    names = {name: frame[name].str.replace("$", r"\$") for name in TEXT_COLUMNS}  # which would begin a formula
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as on letters that the font does not have
        figure = plot_panels(frame.assign(**names), x=x, scale=scale)
        write_whole(path, lambda temporary: save_picture(figure, temporary))
    note(f"drew {path}")
