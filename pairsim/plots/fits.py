"""Pictures of fits: the success that fitted oracles foretell against the real one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pairsim.plots.style import point_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pairsim.fitting import OracleFits

LINE = 0.022  # of a panel's width: what a name takes that stands upright


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
        style = point_style(place) | {"markersize": 6, "elinewidth": 0.8, "label": model.oracle.name}
        foretold = [each.success for each in model.predictions]
        ax.errorbar(real, foretold, xerr=[below, above], **(style | marker_kwargs))
    _write_names(ax, sorted((each.success, each.decoder) for each in fits.real))
    ax.plot([0.0, 1.0], [0.0, 1.0], color="#444444", linewidth=0.8, linestyle=":", zorder=0)
    ax.set_xlabel(f"real success over {fits.traits.rows:,} rows, n = {fits.traits.n}")
    ax.set_ylabel("foretold success")
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.grid(alpha=0.25)
    ax.legend(fontsize="small", framealpha=0.9)
    return ax


def _write_names(ax: Axes, decoders: list[tuple[float, str]]) -> None:
    """Write the name of each decoder above the panel, where no marker stands, with a line to its place."""
    above = ax.get_xaxis_transform()  # x as in the panel, y in its heights
    for (x, name), at in zip(decoders, _apart([x for x, _ in decoders]), strict=True):
        ax.annotate(
            name,
            (x, 1.0),
            (at, 1.06),
            xycoords=above,
            textcoords=above,
            rotation=90,
            fontsize=6,
            ha="center",
            va="bottom",
            arrowprops={"arrowstyle": "-", "linewidth": 0.5, "color": "#888888", "shrinkA": 0.0, "shrinkB": 0.0},
        )


def _apart(places: list[float]) -> list[float]:
    """Return places in ascending order pushed apart until names fit, as little as can be.

    Examples
    --------
    >>> [round(place, 3) for place in _apart([0.1, 0.5, 0.51])]
    [0.1, 0.494, 0.516]
    """
    groups: list[list[float]] = []
    for place in places:
        group = [place]
        while groups and np.mean(group) - np.mean(groups[-1]) < LINE * (len(group) + len(groups[-1])) / 2:
            group = groups.pop() + group
        groups.append(group)
    return [float(np.mean(group)) + LINE * (k - (len(group) - 1) / 2) for group in groups for k in range(len(group))]
