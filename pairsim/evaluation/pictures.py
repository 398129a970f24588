"""Plots of evaluations: accuracy against queries, one panel per data set."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pairsim.errors import parameter_error
from pairsim.evaluation.ranks import plot_ranks, ranks_of
from pairsim.evaluation.rows import Row, name_method
from pairsim.plots import COLOURS, MARKERS
from pairsim.plots.style import count_on_log_axis, point_style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_PANELS = 12


def plot_accuracy(rows: pd.DataFrame, *, ax: Axes | None = None, **point_kwargs: Any) -> Axes:
    """Draw accuracy against queries per decision on one set of axes, one point with its interval per row.

    Parameters
    ----------
    rows : DataFrame
        Rows of an evaluation; those without queries (other reductions) are drawn as lines across.
    ax : matplotlib Axes, optional
        Where to draw. Default: the axes of a new figure.
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
    'queries per decision'
    """
    from matplotlib.figure import Figure

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
        style = point_style(place, None if len(estimators) == 1 else shape)
        style |= {"markersize": 5, "capsize": 2, "elinewidth": 0.8, "label": label} | point_kwargs
        bars = [[row["accuracy"] - row["low"]], [row["high"] - row["accuracy"]]]
        ax.errorbar(row["queries"], row["accuracy"], yerr=bars, **style)
    count_on_log_axis(ax)
    ax.set_xlabel("queries per decision")
    ax.set_ylabel("accuracy")
    ax.grid(alpha=0.25)
    ax.legend(fontsize="x-small", framealpha=0.9)
    return ax


def plot_errors(rows: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the errors of reductions with their intervals, data set by data set.

    Examples
    --------
    >>> from pairsim.evaluation import evaluate_reductions
    >>> from pairsim.evaluation.pictures import plot_errors
    >>> plot_errors(evaluate_reductions(["iris"], ["vector-svm"], folds=3).frame).get_ylabel()
    'error %'
    """
    import pandas as pd
    from matplotlib.figure import Figure

    if ax is None:
        ax = Figure(layout="constrained").subplots()
    named = zip(*(rows[name] for name in ("reduction", "estimator", "decoder", "scaling", "tuning")), strict=True)
    names = pd.Series([name_method(*each) for each in named], index=rows.index)
    methods, sets = list(dict.fromkeys(names)), list(dict.fromkeys(rows["data"]))
    for place, method in enumerate(methods):
        part = rows[names == method]
        where = [sets.index(name) + 0.7 * ((place + 0.5) / len(methods) - 0.5) for name in part["data"]]
        errors = 100.0 * (1.0 - part["accuracy"])
        bars = [errors - 100.0 * (1.0 - part["high"]), 100.0 * (1.0 - part["low"]) - errors]
        style: dict[str, Any] = {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]}
        ax.errorbar(where, errors, yerr=bars, label=method, linestyle="", markersize=4, elinewidth=0.8, **style)
    ax.set_xticks(range(len(sets)), sets)
    ax.set_ylabel("error %")
    ax.set_ylim(bottom=0.0)
    ax.grid(axis="y", alpha=0.25)
    ax.legend(fontsize="x-small", framealpha=0.9)
    return ax


def plot_reductions(rows: pd.DataFrame) -> Figure:
    """Draw errors and, over two data sets or more, the critical-difference diagram of the ranks."""
    from matplotlib.figure import Figure

    found = ranks_of([Row(**{str(key): value for key, value in row.items()}) for row in rows.to_dict(orient="records")])
    sets = rows["data"].nunique()
    figure = Figure(figsize=(max(6.4, 1.6 * sets), 7.2 if found else 4.2), layout="constrained")
    panels = figure.subplots(2 if found else 1, 1, squeeze=False)
    plot_errors(rows, ax=panels[0, 0])
    if found is not None:
        plot_ranks(found, ax=panels[1, 0])
    return figure


def plot_evaluation(rows: pd.DataFrame) -> Figure:
    """Draw a figure with one panel per data set; of reductions alone, their errors and ranks."""
    from matplotlib.figure import Figure

    if (rows["decoder"] == "").all():
        return plot_reductions(rows)
    panels = list(rows.groupby("data", sort=False))
    if len(panels) > MOST_PANELS:
        raise parameter_error("plot", "results", f"rows of at most {MOST_PANELS} data sets", f"{len(panels)}")
    columns = 2 if len(panels) == 4 else min(len(panels), 3)
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
