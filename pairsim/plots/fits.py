"""Plots of fits: the success that fitted oracles predict against the observed one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pairsim.checks import check_instance
from pairsim.plots.style import check_axes, point_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pairsim.fitting import OracleFits

LINE = 0.022  # of a panel's width: what a name takes that stands upright
# to the lower end of a name: to its middle, the line would cross the names beside it
LEADER: dict[str, Any] = {"arrowstyle": "-", "linewidth": 0.5, "color": "#888888", "relpos": (0.5, 0.0)}
LEADER |= {"shrinkA": 0.0, "shrinkB": 0.0}


def plot_fits(fits: OracleFits, *, ax: Axes | None = None, **marker_kwargs: Any) -> Axes:
    """Draw the success that fitted oracles predict against the observed one, one marker per decoder and oracle.

    On the diagonal an oracle predicts what is observed. The horizontal bars are the intervals of the observed success
    over the rows. The vertical bars are those of the distance: one that crosses the diagonal could be 0.

    Parameters
    ----------
    fits : OracleFits
        What `pairsim.fit_oracles` returned.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure.
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
    'predicted success'
    """
    from matplotlib.figure import Figure

    from pairsim.fitting import OracleFits

    check_instance("plot_fits", "fits", fits, OracleFits, "what fit_oracles returned")
    check_axes("plot_fits", ax)
    if ax is None:
        ax = Figure(layout="constrained").subplots()
    observed = np.array([each.success for each in fits.observed])
    across = [observed - [each.low for each in fits.observed], [each.high for each in fits.observed] - observed]
    for place, model in enumerate(fits.models):
        style = point_style(place) | {"markersize": 5, "elinewidth": 0.8, "label": model.oracle.name}
        judged = model.predictions
        along = [[each.distance - each.low for each in judged], [each.high - each.distance for each in judged]]
        predicted = [each.success for each in judged]
        ax.errorbar(observed, predicted, xerr=across, yerr=along, **(style | marker_kwargs))
    _write_names(ax, sorted((each.success, each.decoder) for each in fits.observed))
    ax.plot([0.0, 1.0], [0.0, 1.0], color="#444444", linewidth=0.8, linestyle=":", zorder=0)
    ax.set_xlabel(f"observed success over {fits.traits.rows:,} rows, n = {fits.traits.n}")
    ax.set_ylabel("predicted success")
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
            arrowprops=LEADER,
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
