"""Plots of plans: success against queries, and the frontier that nothing beats."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pairsim.checks import check_choice, check_instance
from pairsim.errors import ParameterError
from pairsim.plots.style import check_axes, count_on_log_axis, point_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pairsim.planning import Option, Plan


NUMBERS = ("k=", "l=", "ties=", "p=", "stop=", "budget=", "rounds=")
COSTS = {"mean": "mean queries per decision", "most": "most queries of a decision"}
FLOOR_POINTS = 60


def plot_frontier(plan: Plan, cost: str = "mean", *, ax: Axes | None = None, **line_kwargs: Any) -> Axes:
    """Draw everything that a plan looked at, success against queries, the frontier that nothing beats, and the floor.

    Queries are different pairs. The floor is that of the cost: no decoder's mean, or most queries, lies to its left.

    Parameters
    ----------
    plan : Plan
        What `pairsim.plan` returned.
    cost : {"mean", "most"}
        The mean number of queries, or the most of any decision, which has another floor: that of the budget.
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
    >>> plot_frontier(plan(Uniform(8, 0.9), 0.5), "most").get_xlabel()
    'most queries of a decision'
    """
    from matplotlib.figure import Figure

    from pairsim.planning import Plan

    check_instance("plot_frontier", "plan", plan, Plan, "what plan returned")
    check_choice("plot_frontier", "cost", cost, tuple(COSTS))
    check_axes("plot_frontier", ax)
    if ax is None:
        ax = Figure(layout="constrained").subplots()
    queries = {id(option): option.distinct if cost == "mean" else option.most for option in plan.looked_at}
    looked_at = sorted(plan.looked_at, key=lambda option: queries[id(option)])
    # in the plan's order whatever the cost, so that a decoder looks alike in pictures side by side
    names = list(dict.fromkeys(_family(option.decoder.spec) for option in plan.looked_at))
    for place, name in enumerate(names):
        part = [option for option in looked_at if _family(option.decoder.spec) == name]
        points = [queries[id(option)] for option in part], [option.success for option in part]
        ax.plot(*points, markersize=4, label=name, **point_style(place))
    best: list[Option] = []
    for option in looked_at:  # by queries: on the frontier is what is better than all that is cheaper
        if not best or option.success > best[-1].success:
            best.append(option)
    style: dict[str, Any] = {"color": "#444444", "linewidth": 1.2, "drawstyle": "steps-post", "zorder": 0}
    style |= {"label": "Pareto-optimal"} | line_kwargs
    ax.plot([queries[id(option)] for option in best], [option.success for option in best], **style)
    floor = _floor(plan, cost)
    if floor:
        label = "floor of the mean" if cost == "mean" else "floor of the budget"
        ax.plot(*zip(*floor, strict=True), color="#b22222", linewidth=1.2, linestyle="--", zorder=0, label=label)
    if plan.target is not None:
        ax.axhline(plan.target, color="#444444", linewidth=0.8, linestyle=":", label=f"target {plan.target:g}")
    count_on_log_axis(ax)
    ax.set_xlabel(COSTS[cost])
    ax.set_ylabel("success probability")
    ax.set_ylim(-0.02, 1.02)
    ax.grid(alpha=0.25)
    ax.legend(fontsize="small", framealpha=0.9)
    return ax


def _floor(plan: Plan, cost: str) -> list[tuple[float, float]]:
    """Return the floor's (queries, success) at evenly spaced successes; nothing where no floor is known."""
    from pairsim.bounds import least_mean_queries, least_queries

    least = least_mean_queries if cost == "mean" else least_queries
    first, points = 1.0 / plan.oracle.n, []
    for step in range(1, FLOOR_POINTS):
        success = first + (0.999 - first) * step / (FLOOR_POINTS - 1)
        try:
            queries = float(least(plan.oracle, success))
        except ParameterError:
            return []
        if math.isfinite(queries) and queries >= 1.0:
            points.append((queries, success))
    return points


def _family(spec: str) -> str:
    """Return a spec without its numbers and tie rule: what one colour stands for."""
    name, _, tail = spec.partition(":")
    kept = [part for part in tail.split(",") if part and not part.startswith(NUMBERS)]
    return ":".join([name, ",".join(kept)]) if kept else name
