"""plot_tree: every branch and class of the tree is drawn, and no label, node or line stands on another."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("sklearn")

from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from pairsim import ParameterError
from pairsim.learn.trees.class_tree import ClassTree
from pairsim.plots import plot_tree


def random_tree(n, seed, lean=0.5):
    """Return a tree of which `lean` says how unequal its sides are: 0 peels one class after the other."""
    rng = np.random.default_rng(seed)

    def split(classes):
        own = rng.permutation(classes)
        cut = 1 if rng.random() >= lean else int(rng.integers(1, len(own)))
        return (own[:cut], own[cut:]) if rng.random() < 0.5 else (own[cut:], own[:cut])

    return ClassTree.grow(n, split)


def model_of(tree, labels=None):
    return SimpleNamespace(
        tree_=tree, classes_=np.array([f"class {c}" for c in range(tree.n_classes)] if labels is None else labels)
    )


def rendered(ax):
    """Draw, and return the boxes of all labels, of all nodes, and of the figure."""
    canvas = FigureCanvasAgg(ax.figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    labels = [label.get_window_extent(renderer) for label in ax.get_yticklabels()]
    nodes = [text.get_bbox_patch().get_window_extent(renderer) for text in ax.texts]
    return labels, nodes, ax.figure.bbox


def apart(boxes):
    return not any(one.overlaps(two) for one, two in itertools.combinations(boxes, 2))


@settings(deadline=None, max_examples=12)
@given(st.integers(2, 30), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.5, 1.0]))
def test_nothing_stands_on_anything_else(n, seed, lean):
    tree = random_tree(n, seed, lean)
    labels, nodes, figure = rendered(plot_tree(model_of(tree)))
    assert len(labels) == n
    assert len(nodes) == n - 1
    assert apart(labels + nodes)
    for box in labels + nodes:
        assert figure.x0 <= box.x0 < box.x1 <= figure.x1
        assert figure.y0 <= box.y0 < box.y1 <= figure.y1


def test_the_test_of_overlaps_can_fail():
    ax = plot_tree(model_of(random_tree(30, 0)))
    ax.figure.set_size_inches(4.0, 1.8)
    labels, nodes, _ = rendered(ax)
    assert not apart(labels)
    assert not apart(nodes)


def test_thirty_classes_in_a_given_panel_have_small_labels():
    figure = Figure(figsize=(9.0, 4.0), layout="constrained")
    panels = figure.subplots(1, 2)
    for ax, n in zip(panels, (30, 5), strict=True):
        assert plot_tree(model_of(random_tree(n, n)), ax=ax) is ax
    for ax in panels:
        labels, nodes, _ = rendered(ax)
        assert apart(labels)
        assert apart(nodes)
    assert panels[0].get_yticklabels()[0].get_fontsize() < panels[1].get_yticklabels()[0].get_fontsize() == 9.0


@settings(deadline=None, max_examples=12)
@given(st.integers(2, 12), st.integers(0, 2**32 - 1))
def test_the_lines_are_the_tree(n, seed):
    tree = random_tree(n, seed)
    ax = plot_tree(model_of(tree))
    rows = [label.get_text() for label in ax.get_yticklabels()]
    assert sorted(rows) == sorted(f"class {c}" for c in range(n))
    ends = {}  # from the end of each branch to its beginning
    for line in ax.lines[: 2 * tree.n_nodes]:
        (x, _, end), (y, row, _) = line.get_xdata(), line.get_ydata()
        assert end == x + 1
        ends[end, row] = x, y
    places = {tuple(text.get_position()): int(text.get_text()) for text in ax.texts}
    for c in range(n):
        height = rows.index(f"class {c}")
        place, way = (float(tree.depths[c]), float(height)), []
        while place in ends:
            above = ends[place]
            way.append((places[above], bool(place[1] < above[1])))  # upwards is to the left side
            place = above
        assert tuple(reversed(way)) == tree.path_to(c)


def test_labels_are_text_on_one_line():
    tree = ClassTree.of_nested((0, (1, 2)))
    ax = plot_tree(model_of(tree, ["a\nb", "$x$ and \\$", "long " * 40]))
    labels, _, figure = rendered(ax)
    assert ax.get_yticklabels()[0].get_text() == "a?b"
    assert all(box.x1 <= figure.x1 for box in labels)
    assert apart(labels)
    assert ax.get_xlim()[1] < 3
    assert [text.get_text() for text in plot_tree(tree).get_yticklabels()] == ["0", "1", "2"]
    assert [text.get_text() for text in plot_tree(tree, labels=["xyz"] * 3).get_yticklabels()] == ["xyz"] * 3
    assert plot_tree(tree, color="red", linewidth=3).lines[0].get_color() == "red"


def test_refusals():
    tree = ClassTree.of_nested((0, (1, 2)))
    for model in (None, 5, object(), "x", len, np.zeros(3), SimpleNamespace(tree_=None), SimpleNamespace(tree_=[1])):
        with pytest.raises(ParameterError, match="'model'"):
            plot_tree(model)
    for labels in (["a"], 5, "abc", {}):
        with pytest.raises(ParameterError, match="3 labels"):
            plot_tree(tree, labels=labels)
    with pytest.raises(ParameterError, match="'ax'"):
        plot_tree(tree, ax=5)
