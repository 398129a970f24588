"""ClassTree: what is a tree and what is none, against nested pairs walked in plain Python."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")

from hypothesis import given, settings
from hypothesis import strategies as st

from pairsim import ParameterError
from pairsim.learn.trees.class_tree import ClassTree, export_text


@st.composite
def nested_pairs(draw, most=12):
    """Draw pairs of pairs whose leaves are 0 .. n - 1 in any order."""
    forest = list(draw(st.permutations(range(draw(st.integers(2, most))))))
    while len(forest) > 1:
        one = forest.pop(draw(st.integers(0, len(forest) - 1)))
        two = forest.pop(draw(st.integers(0, len(forest) - 1)))
        forest.append((one, two))
    return forest[0]


def leaves(nested):
    return [nested] if isinstance(nested, int) else leaves(nested[0]) + leaves(nested[1])


def inner(nested):
    """Return all inner nodes in preorder."""
    return [] if isinstance(nested, int) else [nested, *inner(nested[0]), *inner(nested[1])]


def ways(nested, before=()):
    """Return the turns to each class."""
    if isinstance(nested, int):
        return {nested: before}
    return ways(nested[0], (*before, True)) | ways(nested[1], (*before, False))


@settings(deadline=None)
@given(nested_pairs())
def test_a_tree_is_its_nested_pairs(nested):
    tree, parts, turns = ClassTree.of_nested(nested), inner(nested), ways(nested)
    assert tree.nested == nested
    assert tree.n_nodes == len(parts) == tree.n_classes - 1
    assert tree.classes == tuple(tuple(sorted(leaves(part))) for part in parts)
    assert [tree.sides(node) for node in range(tree.n_nodes)] == [
        tuple(tuple(sorted(leaves(side))) for side in part) for part in parts
    ]
    assert tree.depths.tolist() == [len(turns[c]) for c in range(tree.n_classes)]
    assert tree.depth == max(map(len, turns.values()))
    for c in range(tree.n_classes):
        path = tree.path_to(c)
        assert tuple(goes_left for _, goes_left in path) == turns[c]
        assert all(c in tree.classes[node] for node, _ in path)
        for node in range(tree.n_nodes):
            assert tree.signs()[c, node] == {True: 1, False: -1, None: 0}[dict(path).get(node)]
    again = pickle.loads(pickle.dumps(tree))
    assert again == tree == copy.deepcopy(tree) == ClassTree(tree.left.tolist(), tree.right.tolist(), tree.classes)
    assert hash(again) == hash(tree)
    assert eval(repr(tree)) == tree
    for mine in (tree, again):
        with pytest.raises(ValueError, match="read-only"):
            mine.left[0] = -1


@settings(deadline=None)
@given(nested_pairs(), st.data())
def test_growing_splits_each_node_once_in_preorder(nested, data):
    tree, asked = ClassTree.of_nested(nested), []

    def split(classes):
        asked.append(classes)
        one, two = tree.sides(len(asked) - 1)
        return (set(one), list(two)) if data.draw(st.booleans()) else (np.array(one), reversed(two))

    assert ClassTree.grow(tree.n_classes, split) == tree
    assert asked == list(tree.classes)


@settings(deadline=None)
@given(nested_pairs(), st.integers(0, 2**32 - 1))
def test_rows_go_down_the_tree(nested, seed):
    tree, rng = ClassTree.of_nested(nested), np.random.default_rng(seed)
    turns = rng.random((7, tree.n_nodes)) < 0.5
    asked = np.zeros((7, tree.n_nodes), np.int64)

    def goes_left(node, rows):
        assert len(rows)
        asked[rows, node] += 1
        return turns[rows, node]

    found = tree.route(7, goes_left)
    for row, c in enumerate(found):
        path = tree.path_to(c)
        assert all(turns[row, node] == goes for node, goes in path)
        assert np.flatnonzero(asked[row]).tolist() == [node for node, _ in path]
    assert asked.max() == 1
    assert tree.route(0, goes_left).shape == (0,)


@settings(deadline=None)
@given(nested_pairs(), nested_pairs())
def test_trees_are_equal_when_their_pairs_are(one, two):
    assert (ClassTree.of_nested(one) == ClassTree.of_nested(two)) == (one == two)
    assert ClassTree.of_nested(one) != one


def test_a_tree_deeper_than_pythons_stack():
    tree = ClassTree.grow(3000, lambda classes: (classes[:1], classes[1:]))
    assert tree.depth == 2999
    assert len(tree.nested) == 2
    assert export_text(tree).count("\n") == 2 * 2999


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ([], []),
        ([-1], [-1]),  # class 0 twice
        ([-1], [-3]),  # no class 1
        ([0], [-1]),  # a node below itself
        ([-1, -2], [-3, -4]),  # a node that nobody reaches
        ([-1, -2, -4], [2, -3, 1]),  # not in preorder
        ([2, -1, -2], [1, -3, -4]),
        ([1, 0], [-1, -2]),
        ([-1, -2], [2, -3]),
        ([-1], [-2, -3]),
        ([-1.0], [-2.0]),
        ([[-1]], [[-2]]),
        (["a"], ["b"]),
        (None, None),
        ([True], [False]),
        ([-(2**63)], [-1]),
    ],
)
def test_what_is_no_tree(left, right):
    with pytest.raises(ParameterError, match="of ClassTree must be"):
        ClassTree(left, right)


def test_refusals():
    with pytest.raises(ParameterError, match="'classes'"):
        ClassTree([-1], [-2], ((1, 0),))
    for bad in (0, (0,), (0, 1, 2), (0, (1, "x")), (0, (1, -2)), "ab", None):
        with pytest.raises(ParameterError):
            ClassTree.of_nested(bad)
    for split in (lambda c: (c, ()), lambda c: (c, c), lambda c: (c[:1], c[2:]), lambda c: (c[:1], [7])):
        with pytest.raises(ParameterError, match="split"):
            ClassTree.grow(4, split)
    with pytest.raises(ParameterError, match="n_classes"):
        ClassTree.grow(1, lambda c: (c, ()))
    tree = ClassTree([-1], [-2])
    for label in (2, -1, 0.5, "a"):
        with pytest.raises(ParameterError, match="label"):
            tree.path_to(label)
    for labels in (["a"], ["a", "b", "c"], 5, "ab"):
        with pytest.raises(ParameterError, match="2 labels"):
            export_text(tree, labels)
    for other in (None, object(), 3):
        with pytest.raises(ParameterError, match="ClassTree"):
            export_text(other)


def test_the_order_of_discrimination_as_text():
    class Fitted:
        tree_ = ClassTree.of_nested((((0, 3), 1), 2))
        classes_ = np.array(["a", "b\n\x1b[31m", "c", "d"])

    expected = """\
node 0: a, b??[31m, d | c
|-- node 1: a, d | b??[31m
|   |-- node 2: a | d
|   |   |-- a
|   |   `-- d
|   `-- b??[31m
`-- c"""
    assert export_text(Fitted()) == expected
    assert export_text(Fitted.tree_, [1, 2, 3, 4]).splitlines()[0] == "node 0: 1, 2, 4 | 3"
    many = export_text(ClassTree.grow(10, lambda classes: (classes[:1], classes[1:])))
    assert many.splitlines()[0] == "node 0: 0 | 1, 2, 3, 4, 5, 6 and 3 more"
