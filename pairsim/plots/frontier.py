"""Plots of plans: success against queries, and the frontier that nothing beats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pairsim.checks import check_instance
from pairsim.plots.style import check_axes, count_on_log_axis, point_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pairsim.planning import Option, Plan


def plot_frontier(plan: Plan, *, ax: Axes | None = None, **line_kwargs: Any) -> Axes:
    """Draw everything that a plan looked at, success against queries, and the frontier that nothing beats.

    Parameters
    ----------
    plan : Plan
        What `pairsim.plan` returned.
    ax : matplotlib Axes, optional
        Where to draw. Default: the axes of a new figure.
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
    'queries per decision'
    """
    from matplotlib.figure import Figure

    from pairsim.planning import Plan

    check_instance("plot_frontier", "plan", plan, Plan, "what plan returned")
    check_axes("plot_frontier", ax)
    if ax is None:
        ax = Figure(layout="constrained").subplots()
    names = list(dict.fromkeys(_family(option.decoder.spec) for option in plan.looked_at))
    for place, name in enumerate(names):
        part = [option for option in plan.looked_at if _family(option.decoder.spec) == name]
        points = [option.distinct for option in part], [option.success for option in part]
        ax.plot(*points, markersize=4, label=name, **point_style(place))
    best: list[Option] = []
    for option in plan.looked_at:  # by queries: on the frontier is what is better than all that is cheaper
        if not best or option.success > best[-1].success:
            best.append(option)
    style: dict[str, Any] = {"color": "#444444", "linewidth": 1.2, "drawstyle": "steps-post", "zorder": 0}
    style |= {"label": "Pareto-optimal"} | line_kwargs
    ax.plot([option.distinct for option in best], [option.success for option in best], **style)
    ax.axhline(plan.target, color="#444444", linewidth=0.8, linestyle=":", label=f"target {plan.target:g}")
    count_on_log_axis(ax)
    ax.set_xlabel("queries per decision")
    ax.set_ylabel("success probability")
    ax.set_ylim(-0.02, 1.02)
    ax.grid(alpha=0.25)
    ax.legend(fontsize="small", framealpha=0.9)
    return ax


def _family(spec: str) -> str:
    """Return a spec without its numbers and tie rule: what one colour stands for."""
    name, _, tail = spec.partition(":")
    kept = [part for part in tail.split(",") if part and not part.startswith(("k=", "l=", "ties="))]
    return ":".join([name, ",".join(kept)]) if kept else name
