"""Pictures of evaluations: accuracy against queries, one panel a data set."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pairsim.errors import refusal
from pairsim.plots import COLOURS, MARKERS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_PANELS = 12


def plot_accuracy(rows: pd.DataFrame, *, ax: Axes | None = None, **point_kwargs: Any) -> Axes:
    """Draw accuracy against queries a decision on one set of axes, a point with its interval a row.

    Parameters
    ----------
    rows : DataFrame
        Rows of an evaluation; those without queries (other reductions) are drawn as lines across.
    ax : matplotlib Axes, optional
        Where to draw; a new figure's when left out.
    **point_kwargs
        Go to `Axes.errorbar`.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from pairsim.evaluation import evaluate
    >>> from pairsim.evaluation.pictures import plot_accuracy
    >>> plot_accuracy(evaluate(["iris"], ["svc-rbf"], ["max-win", "adag"]).frame).get_xlabel()
    'queries a decision'
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogFormatter

    if ax is None:
        ax = Figure(layout="constrained").subplots()
    decoders, estimators = (list(dict.fromkeys(rows[name])) for name in ("decoder", "estimator"))
    for row in rows.to_dict(orient="records"):
        place, shape = decoders.index(row["decoder"]), estimators.index(row["estimator"])
        label = row["decoder"] if len(estimators) == 1 else f"{row['estimator']}, {row['decoder'] or row['reduction']}"
        colour = COLOURS[(place if row["decoder"] else shape) % len(COLOURS)]
        if math.isnan(row["queries"]):
            ax.axhline(row["accuracy"], color=colour, linewidth=1.0, linestyle="--", label=label)
            continue
        # a shape an estimator; where there is one, shapes tell decoders apart as colours do
        marker = MARKERS[(place if len(estimators) == 1 else shape) % len(MARKERS)]
        style: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 5, "linestyle": ""}
        style |= {"capsize": 2, "elinewidth": 0.8} | point_kwargs
        bars = [[row["accuracy"] - row["low"]], [row["high"] - row["accuracy"]]]
        ax.errorbar(
            row["queries"], row["accuracy"], yerr=bars, label=label, **(style | {"elinewidth": 0.8} | point_kwargs)
        )
    ax.set_xscale("log")
    for name in ("major", "minor"):  # 10 and 300 instead of powers of ten
        getattr(ax.xaxis, f"set_{name}_formatter")(LogFormatter(labelOnlyBase=False, minor_thresholds=(2.0, 0.5)))
    ax.set_xlabel("queries a decision")
    ax.set_ylabel("accuracy")
    ax.grid(alpha=0.25)
    ax.legend(fontsize="x-small", framealpha=0.9)
    return ax


def plot_evaluation(rows: pd.DataFrame) -> Figure:
    """Draw a figure with one panel a data set."""
    from matplotlib.figure import Figure

    panels = list(rows.groupby("data", sort=False))
    if len(panels) > MOST_PANELS:
        raise refusal("plot", "results", f"rows of at most {MOST_PANELS} data sets", f"{len(panels)}")
    columns = min(len(panels), 3)
    lines = math.ceil(len(panels) / columns)
    figure = Figure(figsize=(5.6 * columns, 4.2 * lines), layout="constrained")
    grid = figure.subplots(lines, columns, squeeze=False)
    for ax in grid.flat[len(panels) :]:
        ax.set_visible(False)
    for ax, (name, part) in zip(grid.flat, panels, strict=False):
        plot_accuracy(part, ax=ax)
        ax.set_title(f"{name}, {part['n'].iloc[0]} classes", fontsize="medium")
    shown = list(grid.flat)[: len(panels)]
    handles, labels = shown[0].get_legend_handles_labels()
    if len(shown) > 1 and all(ax.get_legend_handles_labels()[1] == labels for ax in shown):
        for ax in shown:  # one legend beside the panels instead of one over the points of each
            ax.get_legend().remove()
        figure.legend(handles, labels, loc="outside right upper", fontsize="small")
    return figure
