"""Pictures of results: success against n or p, one curve a decoder with its interval band."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pairsim.errors import refusal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pairsim.fitting import OracleFits
    from pairsim.planning import Option, Plan

PLOT_SUFFIXES = (".png", ".svg", ".pdf")
SIGNATURE = "drawn by pairsim"  # written into every picture: by it a later run knows the file as its own

# Okabe and Ito's palette, which people with any colour vision can tell apart; markers and dashes say it again
COLOURS = ("#0072B2", "#D55E00", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#000000", "#8C6D1F")
MARKERS = "osD^vPX*"
DASHES = ("-", "--", "-.", ":")

AXES = ("auto", "n", "p")
SCALES = ("auto", "linear", "log2")


def choose_axis(rows: pd.DataFrame, x: str = "auto") -> str:
    """Return the column that goes on the x axis: as asked for, else n where it varies, else p."""
    if x not in AXES:
        raise refusal("plot", "x", "one of " + ", ".join(AXES), repr(x))
    if x == "auto":
        x = "n" if rows["n"].nunique() > 1 or rows["p"].nunique() <= 1 else "p"
    if rows[x].isna().any():
        raise refusal("plot", "x", "a column that every row has", f"{x!r}, which is empty in some")
    return x


def plot_success(
    rows: pd.DataFrame, *, x: str = "auto", scale: str = "auto", ax: Axes | None = None, **line_kwargs: Any
) -> Axes:
    """Draw success against n or p on one set of axes, one curve a decoder, with the interval as a band.

    Parameters
    ----------
    rows : DataFrame
        Rows of a sweep; rows that differ in more than x and decoder are drawn as curves of their own.
    x : {"auto", "n", "p"}
        What goes on the x axis; by itself n where it varies, else p.
    scale : {"auto", "linear", "log2"}
        Of the x axis; by itself log2 for n that doubles.
    ax : matplotlib Axes, optional
        Where to draw; a new figure's when left out.
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
    if scale not in SCALES:
        raise refusal("plot", "scale", "one of " + ", ".join(SCALES), repr(scale))
    if ax is None:
        ax = Figure(layout="constrained").subplots()
    other = "p" if axis == "n" else "n"
    keys = ["decoder"] + [key for key in ("oracle", other) if rows[key].nunique(dropna=False) > 1]
    decoders = list(dict.fromkeys(rows["decoder"]))
    for place, (values, curve) in enumerate(rows.groupby(keys, sort=False, dropna=False)):
        colour = decoders.index(values[0]) % len(COLOURS)
        _draw_curve(ax, curve.sort_values(axis), axis, values, colour, place, line_kwargs)
    points = np.unique(rows[axis].to_numpy())
    if scale == "log2" or (scale == "auto" and axis == "n" and _doubles(points)):
        ax.set_xscale("log", base=2)
        if axis == "n" and len(points) <= 16:
            ax.set_xticks(points, [f"{point:g}" for point in points])
            ax.minorticks_off()
    ax.set_xlabel("number of classes n" if axis == "n" else "chance p that a pair with the true class is right")
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
    colour: int,
    place: int,
    line_kwargs: dict[str, Any],
) -> None:
    style: dict[str, Any] = {
        "color": COLOURS[colour],
        "marker": MARKERS[place % len(MARKERS)],
        "linestyle": DASHES[place // len(MARKERS) % len(DASHES)],
        "markersize": 4,
        "linewidth": 1.4,
        "label": ", ".join(str(value) for value in values),
    }
    xs = curve[axis].to_numpy()
    ax.plot(xs, curve["success"].to_numpy(), **(style | line_kwargs))
    ax.fill_between(xs, curve["low"].to_numpy(), curve["high"].to_numpy(), color=style["color"], alpha=0.18, lw=0)


def _doubles(points: np.ndarray[Any, Any]) -> bool:
    return len(points) > 2 and bool(np.allclose(points[1:] / points[:-1], 2.0))


def plot_panels(rows: pd.DataFrame, *, x: str = "auto", scale: str = "auto") -> Figure:
    """Draw a figure with one panel for each value of what is not on the x axis (p or n) and each oracle."""
    from matplotlib.figure import Figure

    axis = choose_axis(rows, x)
    other = "p" if axis == "n" else "n"
    panels = list(rows.groupby(["oracle", other], sort=False, dropna=False))
    if len(panels) > 12:
        raise refusal("plot", "results", f"rows for at most 12 panels ({other} and oracle)", f"{len(panels)}")
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


def plot_frontier(plan: Plan, *, ax: Axes | None = None, **line_kwargs: Any) -> Axes:
    """Draw everything that a plan looked at, success against queries, and the frontier that nothing beats.

    Parameters
    ----------
    plan : Plan
        What `pairsim.plan` returned.
    ax : matplotlib Axes, optional
        Where to draw; a new figure's when left out.
    **line_kwargs
        Go to the line of the frontier.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from pairsim import Uniform, plan
    >>> from pairsim.plots import plot_frontier
    >>> plot_frontier(plan(Uniform(8, 0.9), 0.5)).get_xlabel()
    'queries a decision'
    """
    from matplotlib.figure import Figure

    if ax is None:
        ax = Figure(layout="constrained").subplots()
    names = list(dict.fromkeys(_family(option.decoder) for option in plan.looked_at))
    for place, name in enumerate(names):
        part = [option for option in plan.looked_at if _family(option.decoder) == name]
        ax.scatter(
            [option.queries for option in part],
            [option.success for option in part],
            s=16,
            color=COLOURS[place % len(COLOURS)],
            marker=MARKERS[place % len(MARKERS)],
            label=name,
        )
    best: list[Option] = []
    for option in plan.looked_at:  # by queries: on the frontier is what is better than all that is cheaper
        if not best or option.success > best[-1].success:
            best.append(option)
    style: dict[str, Any] = {"color": "#444444", "linewidth": 1.2, "drawstyle": "steps-post", "zorder": 0}
    style |= {"label": "best for the price"} | line_kwargs
    ax.plot([option.queries for option in best], [option.success for option in best], **style)
    ax.axhline(plan.target, color="#444444", linewidth=0.8, linestyle=":", label=f"target {plan.target:g}")
    ax.set_xscale("log")
    ax.set_xlabel("queries a decision")
    ax.set_ylabel("success probability")
    ax.set_ylim(-0.02, 1.02)
    ax.grid(alpha=0.25)
    ax.legend(fontsize="small", framealpha=0.9)
    return ax


def plot_fits(fits: OracleFits, *, ax: Axes | None = None, **marker_kwargs: Any) -> Axes:
    """Draw the success that fitted oracles foretell against the real one, one marker a decoder and oracle.

    On the diagonal an oracle foretells what happens; bars are the intervals of the real success over the rows.

    Parameters
    ----------
    fits : OracleFits
        What `pairsim.fit_oracles` returned.
    ax : matplotlib Axes, optional
        Where to draw; a new figure's when left out.
    **marker_kwargs
        Go to `Axes.errorbar`.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from pairsim import Adag, Ranked, Recorded, fit_oracles
    >>> from pairsim.plots import plot_fits
    >>> plot_fits(fit_oracles(Recorded.of(Ranked(8, 0.9), 100), [Adag()], trials=1000)).get_ylabel()
    'foretold success'
    """
    from matplotlib.figure import Figure

    if ax is None:
        ax = Figure(layout="constrained").subplots()
    real = np.array([each.success for each in fits.real])
    below = real - [each.low for each in fits.real]
    above = [each.high for each in fits.real] - real
    for place, model in enumerate(fits.models):
        style: dict[str, Any] = {
            "color": COLOURS[place % len(COLOURS)],
            "fmt": MARKERS[place % len(MARKERS)],
            "markersize": 6,
            "elinewidth": 0.8,
            "label": model.oracle.name,
        }
        foretold = [each.success for each in model.predictions]
        ax.errorbar(real, foretold, xerr=[below, above], **(style | marker_kwargs))
    for x, names in _neighbours(sorted((each.success, each.decoder) for each in fits.real)):
        ax.annotate(names, (x, -0.01), rotation=90, fontsize=6, ha="center", va="bottom")
    ax.plot([0.0, 1.0], [0.0, 1.0], color="#444444", linewidth=0.8, linestyle=":", zorder=0)
    ax.set_xlabel(f"real success over {fits.traits.rows:,} rows, n = {fits.traits.n}")
    ax.set_ylabel("foretold success")
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.grid(alpha=0.25)
    ax.legend(fontsize="small", framealpha=0.9)
    return ax


def _neighbours(decoders: list[tuple[float, str]], near: float = 0.025) -> Iterator[tuple[float, str]]:
    """Yield a place and the names of decoders that stand so close together that their names would overlap."""
    while decoders:
        group = [each for each in decoders if each[0] <= decoders[0][0] + near]
        yield sum(x for x, _ in group) / len(group), ", ".join(name for _, name in group)
        decoders = decoders[len(group) :]


def _family(spec: str) -> str:
    """Return a spec without its numbers and tie rule: what one colour stands for."""
    name, _, tail = spec.partition(":")
    kept = [part for part in tail.split(",") if part and not part.startswith(("k=", "l=", "ties="))]
    return ":".join([name, ",".join(kept)]) if kept else name


def save_picture(figure: Figure, path: Path) -> None:
    """Save a figure as png, svg or pdf with pairsim's signature; equal figures give equal bytes."""
    import matplotlib

    signatures: dict[str, dict[str, Any]] = {
        ".png": {"Description": SIGNATURE},
        ".svg": {"Description": SIGNATURE, "Date": None},
        ".pdf": {"Subject": SIGNATURE, "CreationDate": None},
    }
    with matplotlib.rc_context({"svg.hashsalt": "pairsim"}):
        figure.savefig(path, dpi=150, metadata=signatures[path.suffix.lower()])


def is_our_picture(path: Path) -> bool:
    """Say whether `path` is a picture that pairsim drew."""
    try:
        return SIGNATURE.encode() in path.read_bytes()
    except OSError:
        return False
