"""Plots of sweeps: success against n or p, one curve per decoder with its interval; or against queries."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pairsim.checks import check_choice
from pairsim.errors import parameter_error, shown
from pairsim.plots.style import COLOURS, DASHES, MARKERS, check_axes, count_on_log_axis, point_style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AXES = {
    "n": "number of classes n",
    "p": "probability p that a pair with the true class is correct",
    "queries": "queries per decision",
}
SCALES = ("auto", "linear", "log2")
NEEDED = ("oracle", "n", "p", "decoder", "success", "low", "high", "queries")


def choose_axis(rows: pd.DataFrame, x: str = "auto") -> str:
    """Return the column that goes on the x axis: as asked for, else n where it varies, p where that does, queries."""
    check_choice("plot", "x", x, ("auto", *AXES))
    lacking = [name for name in NEEDED if name not in getattr(rows, "columns", ())]
    if lacking or not hasattr(rows, "groupby") or not len(rows):
        must_be = "a DataFrame of the rows of a sweep, at least one"
        raise parameter_error("plot", "rows", must_be, f"one without {lacking[0]!r}" if lacking else shown(rows))
    if x == "auto":
        x = next((name for name in ("n", "p") if rows[name].nunique() > 1), "queries")
    if rows[x].isna().any():
        raise parameter_error("plot", "x", "a column that every row has", f"{x!r}, which is empty in some")
    return x


def plot_success(
    rows: pd.DataFrame, *, x: str = "auto", scale: str = "auto", ax: Axes | None = None, **line_kwargs: Any
) -> Axes:
    """Draw success against n, p or queries on one set of axes, one curve per decoder, with its interval.

    Parameters
    ----------
    rows : DataFrame
        Rows of a sweep; rows that differ in more than x and decoder are drawn as curves of their own.
    x : {"auto", "n", "p", "queries"}
        Variable on the x axis. Default: n where it varies, else p where that does, else queries.
    scale : {"auto", "linear", "log2"}
        Scale of the x axis. Default: log2 for n that doubles, logarithmic for queries.
    ax : matplotlib Axes, optional
        Where to draw. Default: the axes of a new figure.
    **line_kwargs
        Go to `Axes.plot`.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from pairsim import Adag, Ddag, Uniform, sweep
    >>> from pairsim.plots import plot_success
    >>> rows = sweep([Uniform(n, 0.9) for n in (8, 16, 32)], [Adag(), Ddag()], trials=1000)
    >>> ax = plot_success(rows)
    >>> ax.get_xlabel(), len(ax.lines)
    ('number of classes n', 2)
    """
    from matplotlib.figure import Figure

    axis = choose_axis(rows, x)
    check_choice("plot", "scale", scale, SCALES)
    check_axes("plot_success", ax)
    if ax is None:
        ax = Figure(layout="constrained").subplots()
    others = [key for key in ("oracle", "n", "p") if key != axis]
    keys = ["decoder"] + [key for key in others if rows[key].nunique(dropna=False) > 1]
    decoders = list(dict.fromkeys(rows["decoder"]))
    for place, (values, curve) in enumerate(rows.groupby(keys, sort=False, dropna=False)):
        _draw_curve(ax, curve.sort_values(axis), axis, values, decoders.index(values[0]), place, line_kwargs)
    points = np.unique(rows[axis].to_numpy())
    if axis == "queries" and scale == "auto":
        count_on_log_axis(ax)
    elif scale == "log2" or (scale == "auto" and axis == "n" and _doubles(points)):
        ax.set_xscale("log", base=2)
        if axis == "n" and len(points) <= 16:
            ax.set_xticks(points, [f"{point:g}" for point in points])
            ax.minorticks_off()
    ax.set_xlabel(AXES[axis])
    ax.set_ylabel("success probability")
    ax.set_ylim(-0.02, 1.02)
    ax.grid(alpha=0.25)
    ax.legend(fontsize="small", framealpha=0.9)
    return ax


def _draw_curve(
    ax: Axes,
    curve: pd.DataFrame,
    axis: str,
    values: tuple[Any, ...],
    decoder: int,
    place: int,
    line_kwargs: dict[str, Any],
) -> None:
    """Draw a curve with its band; a single point, which no band would show, with a bar."""
    label = ", ".join(str(value) for value in values)
    if len(curve) == 1:
        _draw_point(ax, curve.iloc[0], axis, point_style(decoder, place) | {"label": label} | line_kwargs)
        return
    style: dict[str, Any] = {
        "color": COLOURS[decoder % len(COLOURS)],
        "marker": MARKERS[place % len(MARKERS)],
        "linestyle": DASHES[place // len(MARKERS) % len(DASHES)],
        "markersize": 4,
        "linewidth": 1.4,
        "label": label,
    }
    xs = curve[axis].to_numpy()
    ax.plot(xs, curve["success"].to_numpy(), **(style | line_kwargs))
    ax.fill_between(xs, curve["low"].to_numpy(), curve["high"].to_numpy(), color=style["color"], alpha=0.18, lw=0)


def _draw_point(ax: Axes, row: pd.Series[Any], axis: str, style: dict[str, Any]) -> None:
    bars = [[max(0.0, row["success"] - row["low"])], [max(0.0, row["high"] - row["success"])]]
    ax.errorbar(row[axis], row["success"], yerr=bars, **({"markersize": 5, "capsize": 2, "elinewidth": 0.8} | style))


def _doubles(points: np.ndarray[Any, Any]) -> bool:
    return len(points) > 2 and bool(np.allclose(points[1:] / points[:-1], 2.0))


def plot_panels(rows: pd.DataFrame, *, x: str = "auto", scale: str = "auto") -> Figure:
    """Draw a figure with one panel for each value of what is not on the x axis (p, else n) and each oracle."""
    from matplotlib.figure import Figure

    axis = choose_axis(rows, x)
    check_choice("plot", "scale", scale, SCALES)
    other = "p" if axis == "n" else "n"
    panels = list(rows.groupby(["oracle", other], sort=False, dropna=False))
    if len(panels) > 12:
        raise parameter_error("plot", "results", f"rows for at most 12 panels ({other} and oracle)", f"{len(panels)}")
    columns = min(len(panels), 3)
    lines = math.ceil(len(panels) / columns)
    figure = Figure(figsize=(5.6 * columns, 4.2 * lines), layout="constrained")
    grid = figure.subplots(lines, columns, squeeze=False, sharey=True)
    for ax in grid.flat[len(panels) :]:
        ax.set_visible(False)
    for ax, ((oracle, value), part) in zip(grid.flat, panels, strict=False):
        plot_success(part, x=axis, scale=scale, ax=ax)
        ax.set_title(str(oracle) if value != value else f"{oracle}, {other} = {value:g}", fontsize="medium")
    shown = list(grid.flat)[: len(panels)]
    handles, labels = shown[0].get_legend_handles_labels()
    if len(shown) > 1 and all(ax.get_legend_handles_labels()[1] == labels for ax in shown):
        for ax in shown:  # one legend beside the panels instead of one over the curves of each
            ax.get_legend().remove()
        figure.legend(handles, labels, loc="outside right upper", fontsize="small")
    return figure
