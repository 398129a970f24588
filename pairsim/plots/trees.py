"""Plots of trees of classes: which classes a fitted classifier separates first, and which last."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pairsim.errors import parameter_error, shown
from pairsim.plain_text import printable
from pairsim.plots.style import COLOURS, check_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW, LEVEL, LETTER = 0.24, 0.36, 0.075  # inches per class, decision and letter, in a figure of our own
LARGEST_TEXT = 9.0  # points
FILLED = 0.72  # the part of a row that its text may take
LONGEST_LABEL = 40  # letters

Numbers = NDArray[np.int64]


def plot_tree(model: Any, *, labels: Iterable[Any] | None = None, ax: Axes | None = None, **line_kwargs: Any) -> Axes:
    """Draw the tree of a fitted classifier: the root on the left, one row per class, nodes with their numbers.

    A class stands at as many decisions as it takes to predict it. The upper branch of a node leads to its left side,
    the classes for which its decision value is positive.

    Parameters
    ----------
    model : fitted classifier
        One with `tree_` and `classes_`, such as `pairsim.learn.NestedDichotomiesClassifier` with n_estimators=1.
        A `ClassTree` is drawn as well.
    labels : iterable, optional
        The label of each class. Default: the classifier's `classes_`.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure, as high as the classes need.
    **line_kwargs
        Go to the lines of the tree.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pairsim.learn import NestedDichotomiesClassifier
    >>> from pairsim.plots import plot_tree
    >>> model = NestedDichotomiesClassifier(n_estimators=1, random_state=0).fit(*load_iris(return_X_y=True))
    >>> plot_tree(model).get_xlabel()
    'decisions'
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    children = _children_of(model)
    names = _names_of(model, labels, len(children) + 1)
    check_axes("plot_tree", ax)
    levels, heights, order = _places(children)
    depth = int(levels.max())
    if ax is None:
        wide = 1.0 + LEVEL * depth + LETTER * max(map(len, names))
        size = max(4.0, wide), max(1.8, 0.8 + ROW * len(names))
        ax = Figure(figsize=size, layout="constrained").subplots()
    ax.set(xlim=(-0.5, depth + 0.25), ylim=(len(names) - 0.5, -0.5), xlabel="decisions")
    text = min(LARGEST_TEXT, FILLED * 72.0 * ax.get_window_extent().height / ax.figure.dpi / len(names))
    nodes = len(children)
    style: dict[str, Any] = {"color": COLOURS[0], "linewidth": 1.2} | line_kwargs
    for node, sides in enumerate(children):
        for side in sides:  # upright at the node, then along to the side
            turns = [levels[node], levels[node], levels[side]], [heights[node], heights[side], heights[side]]
            ax.plot(*turns, solid_joinstyle="round", solid_capstyle="round", zorder=2, **style)
    dots: dict[str, Any] = {"color": "#999999", "linewidth": 0.6, "linestyle": (0, (1, 3)), "zorder": 1}
    ax.hlines(heights[nodes:], levels[nodes:], depth + 0.25, **dots)
    ax.plot(levels[nodes:], heights[nodes:], "o", color=style["color"], markersize=3.0, zorder=3)
    disc: dict[str, Any] = {
        "boxstyle": "circle,pad=0.25",
        "facecolor": "white",
        "edgecolor": "#444444",
        "linewidth": 0.7,
    }
    for node in range(nodes):
        place = float(levels[node]), float(heights[node])
        ax.text(*place, str(node), fontsize=0.7 * text, ha="center", va="center", bbox=disc, zorder=4)
    ax.yaxis.tick_right()
    ax.set_yticks(range(len(names)), [names[c] for c in order], fontsize=text)
    ax.tick_params(axis="y", length=0.0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=10))
    for edge in ("left", "right", "top"):
        ax.spines[edge].set_visible(False)
    return ax


def _children_of(model: Any) -> Numbers:
    """Return both sides of every node; a class c is written as n_nodes + c."""
    tree = getattr(model, "tree_", model)
    sides: list[Any] = [getattr(tree, name, None) for name in ("left", "right")]
    if not all(isinstance(side, np.ndarray) and side.ndim == 1 and side.dtype.kind == "i" for side in sides):
        raise parameter_error(
            "plot_tree", "model", "a fitted classifier with tree_, a tree of its classes", shown(model)
        )
    children = np.column_stack(sides)
    return np.where(children < 0, len(children) - 1 - children, children)


def _names_of(model: Any, labels: Any, count: int) -> list[str]:
    """Return what is written for each class: one line, not too long, no formulas."""
    given = getattr(model, "classes_", range(count)) if labels is None else labels
    try:
        listed = [] if isinstance(given, str | bytes) else list(given)
    except TypeError:
        listed = []
    if len(listed) != count:
        raise parameter_error("plot_tree", "labels", f"{count} labels, one per class", shown(given))
    texts = [printable(str(label)) for label in listed]
    short = [text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 3] + "..." for text in texts]
    return [text.replace("$", r"\$") for text in short]


def _places(children: Numbers) -> tuple[NDArray[np.float64], NDArray[np.float64], list[int]]:
    """Return level and height of every node and class, and the classes from top to bottom.

    Classes have whole heights, all different. A node stands midway between its sides, thus inside the rows of its own
    classes only, so that no line crosses another and nothing stands on a row that leads to a label.
    """
    nodes = len(children)
    levels, heights = np.zeros(2 * nodes + 1), np.zeros(2 * nodes + 1)
    order: list[int] = []
    waiting = [0]
    while waiting:
        place = waiting.pop()
        if place >= nodes:
            heights[place] = len(order)
            order.append(place - nodes)
            continue
        levels[children[place]] = levels[place] + 1.0
        waiting += reversed(children[place].tolist())
    for node in range(nodes - 1, -1, -1):
        heights[node] = heights[children[node]].mean()
    return levels, heights, order
