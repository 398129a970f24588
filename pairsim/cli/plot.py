"""`pairsim plot`: plots of results."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pairsim.cli.console import note, noting_left_out
from pairsim.cli.results import Results, open_results
from pairsim.errors import parameter_error

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from matplotlib.figure import Figure


def plot_command(
    results: Annotated[
        Path, typer.Argument(help="A results store (.db), or a table that pairsim wrote: .csv, .json or .parquet.")
    ],
    out: Annotated[Path, typer.Option("--out", help="Plot file: .png, .svg or .pdf.")],
    x: Annotated[str, typer.Option("--x", help="Variable on the x axis: auto, n, p or queries.")] = "auto",
    scale: Annotated[str, typer.Option("--scale", help="Scale of the x axis: auto, linear or log2.")] = "auto",
) -> None:
    """Plot the results of a sweep or an evaluation.

    One success curve per decoder with its intervals; for evaluations, accuracy against queries.

    Example: pairsim plot results.csv --out fig.png
    """
    check_picture_target(out)

    with open_results(results) as found:
        if found.evaluates:
            _plot_evaluation(found, out, x, scale)
        else:
            from pairsim.sweeps.rows import to_frame

            with noting_left_out() as left_out:
                rows = found.rows(left_out)
            draw(to_frame(rows), out, x=x, scale=scale)
    note(f"drew {out}")


def _plot_evaluation(found: Results, out: Path, x: str, scale: str) -> None:
    from pairsim.cli.evaluate import draw_evaluation
    from pairsim.cli.evaluation_table import warn_of_narrow_intervals

    if (x, scale) != ("auto", "auto"):
        raise parameter_error("plot", "x and scale", "omitted for evaluations (queries, log)", f"{x!r} and {scale!r}")
    with noting_left_out(made_by="evaluation") as left_out:
        evaluated, _ = found.evaluation(left_out)
    warn_of_narrow_intervals(evaluated)
    draw_evaluation(evaluated, out)


def check_picture_target(path: Path) -> None:
    """Reject a plot file that could not be written or is not ours to replace."""
    from pairsim.outputs import check_target
    from pairsim.plots import PLOT_SUFFIXES, is_our_picture

    check_target(path, PLOT_SUFFIXES, "plot", is_our_picture)


def draw(frame: pd.DataFrame, path: Path, *, x: str = "auto", scale: str = "auto") -> None:
    """Draw the rows of a sweep to a picture file."""
    from pairsim.plots import plot_panels
    from pairsim.sweeps.rows import TEXT_COLUMNS

    save_figure(frame, TEXT_COLUMNS, lambda rows: plot_panels(rows, x=x, scale=scale), path)


def save_figure(
    frame: pd.DataFrame, text: tuple[str, ...], draw_rows: Callable[[pd.DataFrame], Figure], path: Path
) -> None:
    """Draw rows with these columns of text, which may be any names, to a picture file."""
    from pairsim.outputs import write_whole
    from pairsim.plots import save_picture

    names = {name: frame[name].str.replace("$", r"\$") for name in text}  # which would begin a formula
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as on letters that the font does not have
        figure = draw_rows(frame.assign(**names))
        write_whole(path, lambda temporary: save_picture(figure, temporary))
