"""ClassTree: which classes each node of a tree separates from which, without what decides it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pairsim.checks import check_whole
from pairsim.errors import parameter_error, shown
from pairsim.plain_text import printable

Classes = tuple[int, ...]
Split = Callable[[Classes], tuple[Iterable[int], Iterable[int]]]  # classes of a node to those of its two sides
GoesLeft = Callable[[int, NDArray[np.int64]], NDArray[np.bool_]]  # a node and numbers of rows to their decisions
NAMED = 6  # labels of a side that `export_text` writes before it only counts


@dataclasses.dataclass(frozen=True, eq=False)
class ClassTree:
    """A binary tree over the classes 0 to n_classes - 1: an inner node separates two sets of them, a leaf is one class.

    A tree of N classes has N - 1 inner nodes. They are numbered in preorder: node 0 is the root, then come all nodes
    of its left side, then those of its right side.

    Parameters
    ----------
    left, right : array_like of int, shape (n_nodes,)
        The node on each side of every inner node; a leaf that holds class c is written as -(c + 1).
    classes : tuple of tuples of int
        The classes below each inner node, ascending. Default: derived from `left` and `right`.

    Examples
    --------
    >>> from pairsim.learn.trees.class_tree import ClassTree, export_text
    >>> tree = ClassTree([-1, -2], [1, -3])
    >>> tree.n_nodes, tree.depth, tree.classes, tree.path_to(2)
    (2, 2, ((0, 1, 2), (1, 2)), ((0, False), (1, False)))
    >>> tree == ClassTree.of_nested((0, (1, 2))), tree.nested
    (True, (0, (1, 2)))
    >>> print(export_text(tree, ["setosa", "versicolor", "virginica"]))
    node 0: setosa | versicolor, virginica
    |-- setosa
    `-- node 1: versicolor | virginica
        |-- versicolor
        `-- virginica
    """

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    classes: tuple[Classes, ...] = ()

    def __post_init__(self) -> None:
        left, right = _child_numbers("left", self.left), _child_numbers("right", self.right)
        if len(left) != len(right):
            raise parameter_error("ClassTree", "right", f"of the length of left, {len(left)}", f"{len(right)} nodes")
        _check_preorder(left, right)
        below = _classes_below(left, right)
        if not isinstance(self.classes, tuple) or self.classes not in ((), below):
            raise parameter_error("ClassTree", "classes", f"omitted or {below}", shown(self.classes))
        for name, value in (("left", left), ("right", right), ("classes", below)):
            object.__setattr__(self, name, value)

    @classmethod
    def grow(cls, n_classes: int, split: Split) -> Self:
        """Build a tree by a function that splits the classes of a node in two sides.

        `split` gets the classes of a node, ascending, and returns those of the left and those of the right side. It is
        called once per node in preorder: its k-th call, from 0, is about node k.

        Examples
        --------
        >>> ClassTree.grow(4, lambda classes: (classes[:1], classes[1:])).nested
        (0, (1, (2, 3)))
        """
        n_classes = check_whole("ClassTree.grow", "n_classes", n_classes, 2)
        must_be = "a function that puts the classes of a node on two sides"
        if not callable(split):
            raise parameter_error("ClassTree.grow", "split", must_be, shown(split))
        left: list[int] = []
        right: list[int] = []
        waiting: list[tuple[Classes, list[int] | None, int]] = [(tuple(range(n_classes)), None, 0)]
        while waiting:
            members, side, parent = waiting.pop()
            if side is not None:
                side[parent] = -(members[0] + 1) if len(members) == 1 else len(left)
            if len(members) == 1:
                continue
            one, two = (tuple(sorted(int(c) for c in part)) for part in split(members))
            if not one or not two or tuple(sorted(one + two)) != members:
                raise parameter_error("ClassTree.grow", "split", must_be, f"{one} and {two} for {members}")
            node = len(left)
            left.append(0)
            right.append(0)
            waiting += [(two, right, node), (one, left, node)]
        return cls(np.array(left), np.array(right))

    @classmethod
    def of_nested(cls, nested: Any) -> Self:
        """Build a tree from pairs of pairs of class numbers, such as ((0, 3), (1, 2)).

        Examples
        --------
        >>> ClassTree.of_nested(((0, 3), (1, 2))).classes
        ((0, 1, 2, 3), (0, 3), (1, 2))
        """
        left: list[int] = []
        right: list[int] = []
        waiting: list[tuple[Any, list[int] | None, int]] = [(nested, None, 0)]
        while waiting:
            part, side, parent = waiting.pop()
            if isinstance(part, Sequence) and len(part) == 2 and not isinstance(part, str | bytes):
                reference = len(left)
                left.append(0)
                right.append(0)
                waiting += [(part[1], right, reference), (part[0], left, reference)]
            else:
                must_be = "a pair of classes or pairs, such as ((0, 3), (1, 2))"
                reference = -(check_whole("ClassTree.of_nested", "nested", part, 0, must_be=must_be) + 1)
            if side is not None:
                side[parent] = reference
        return cls(np.array(left, np.int64), np.array(right, np.int64))

    @property
    def nested(self) -> Any:
        """The tree as pairs of pairs of class numbers, which `of_nested` reads."""
        made: list[Any] = [None] * self.n_nodes
        for node in range(self.n_nodes - 1, -1, -1):  # children have higher numbers
            made[node] = tuple(made[side] if side >= 0 else -side - 1 for side in self.children(node))
        return made[0]

    @property
    def n_nodes(self) -> int:
        """The number of inner nodes, one less than the classes."""
        return len(self.left)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.left) + 1

    @property
    def depths(self) -> NDArray[np.int64]:
        """The number of decisions on the way to each class."""
        above, found = np.zeros(self.n_nodes, np.int64), np.empty(self.n_classes, np.int64)
        for node in range(self.n_nodes):
            for side in self.children(node):
                if side >= 0:
                    above[side] = above[node] + 1
                else:
                    found[-side - 1] = above[node] + 1
        return found

    @property
    def depth(self) -> int:
        """The highest number of decisions on the way to a class."""
        return int(self.depths.max())

    def children(self, node: int) -> tuple[int, int]:
        """Return what is on the left and on the right of a node: a node, or -(c + 1) for class c."""
        return int(self.left[node]), int(self.right[node])

    def sides(self, node: int) -> tuple[Classes, Classes]:
        """Return the classes on the left and on the right of a node."""
        left, right = (self.classes[side] if side >= 0 else (-side - 1,) for side in self.children(node))
        return left, right

    def path_to(self, label: int) -> tuple[tuple[int, bool], ...]:
        """Return the nodes on the way to a class (its number), from the root, each with whether the way goes left."""
        label = check_whole("path_to", "label", label, 0, self.n_classes - 1)
        path, node = [], 0
        while node >= 0:
            goes_left = label in self.sides(node)[0]
            path.append((node, goes_left))
            node = int(self.left[node] if goes_left else self.right[node])
        return tuple(path)

    def signs(self) -> NDArray[np.int8]:
        """Return 1, -1 or 0 per class and node: left of it, right of it, not below it.

        Examples
        --------
        >>> ClassTree.of_nested((0, (1, 2))).signs().tolist()
        [[1, 0], [-1, 1], [-1, -1]]
        """
        signs = np.zeros((self.n_classes, self.n_nodes), np.int8)
        for node in range(self.n_nodes):
            left, right = self.sides(node)
            signs[list(left), node], signs[list(right), node] = 1, -1
        return signs

    def route(self, rows: int, goes_left: GoesLeft) -> NDArray[np.int64]:
        """Return the class at which each row arrives: `goes_left` decides for some rows at a node.

        It is called once per node that any row comes to, with the node and the numbers of those rows, ascending.
        """
        found, here = np.empty(rows, np.int64), {0: np.arange(rows)}
        for node in range(self.n_nodes):
            mine = here.pop(node)
            to_left = np.asarray(goes_left(node, mine), np.bool_) if len(mine) else np.empty(0, np.bool_)
            for side, part in zip(self.children(node), (mine[to_left], mine[~to_left]), strict=True):
                if side >= 0:
                    here[side] = part
                else:
                    found[part] = -side - 1
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ClassTree):
            return NotImplemented
        return np.array_equal(self.left, other.left) and np.array_equal(self.right, other.right)

    def __hash__(self) -> int:
        return hash((self.left.tobytes(), self.right.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.left, self.right, self.classes)  # arrays of a copy are made read-only, too

    def __repr__(self) -> str:
        return f"ClassTree({self.left.tolist()}, {self.right.tolist()})"


def export_text(tree: Any, labels: Iterable[Any] | None = None) -> str:
    """Return the order of discrimination as indented text: what each node separates from what.

    Parameters
    ----------
    tree : ClassTree or fitted classifier
        A classifier has `tree_` and `classes_`.
    labels : iterable, optional
        The label of each class. Default: the classifier's `classes_`, or the classes' numbers.

    Examples
    --------
    >>> print(export_text(ClassTree.of_nested(((0, 1), 2))))
    node 0: 0, 1 | 2
    |-- node 1: 0 | 1
    |   |-- 0
    |   `-- 1
    `-- 2
    """
    if not isinstance(tree, ClassTree):
        labels = getattr(tree, "classes_", None) if labels is None else labels
        found = getattr(tree, "tree_", None)
        if not isinstance(found, ClassTree):
            raise parameter_error("export_text", "tree", "a ClassTree or a fitted classifier with tree_", shown(tree))
        tree = found
    return "\n".join(_lines(tree, _label_texts("export_text", labels, tree.n_classes)))


def _label_texts(owner: str, labels: Any, count: int) -> list[str]:
    """Return the labels as text on one line each."""
    try:
        listed = list(range(count)) if labels is None else list(labels)
    except TypeError:
        listed = []
    if len(listed) != count or isinstance(labels, str | bytes):
        raise parameter_error(owner, "labels", f"{count} labels, one per class", shown(labels))
    return [printable(str(label)) for label in listed]


def _lines(tree: ClassTree, names: list[str]) -> Iterator[str]:
    def listed(classes: Classes) -> str:
        text = ", ".join(names[c] for c in classes[:NAMED])
        return text if len(classes) <= NAMED else f"{text} and {len(classes) - NAMED} more"

    waiting = [(0, "", "")]
    while waiting:
        place, before, indent = waiting.pop()
        if place < 0:
            yield before + names[-place - 1]
            continue
        yield f"{before}node {place}: " + " | ".join(listed(side) for side in tree.sides(place))
        left, right = tree.children(place)
        waiting += [(right, f"{indent}`-- ", f"{indent}    "), (left, f"{indent}|-- ", f"{indent}|   ")]


def _child_numbers(name: str, given: Any) -> NDArray[np.int64]:
    """Return children as a read-only array of integers."""
    must_be = "a node or -(c + 1) for class c, per inner node"
    try:
        array = np.asarray(given)
    except (TypeError, ValueError, OverflowError):
        raise parameter_error("ClassTree", name, must_be, shown(given)) from None
    if array.ndim != 1 or not array.size or array.dtype.kind not in "iu":
        raise parameter_error("ClassTree", name, must_be, shown(given))
    own = array.astype(np.int64)
    own.flags.writeable = False
    return own


def _check_preorder(left: NDArray[np.int64], right: NDArray[np.int64]) -> None:
    """Reject what is no tree in preorder with the classes 0 to n_nodes, each once."""
    seen, leaves, waiting = 0, [], [0]
    while waiting:
        place = waiting.pop()
        if place < 0:
            leaves.append(-place - 1)
        elif place != seen or place >= len(left):
            must_be = "children that number the nodes in preorder"
            raise parameter_error("ClassTree", "left, right", must_be, f"{left.tolist()}, {right.tolist()}")
        else:
            seen += 1
            waiting += [int(right[place]), int(left[place])]
    if sorted(leaves) != list(range(len(left) + 1)) or seen != len(left):
        must_be = f"a tree with each of the classes 0 to {len(left)} once"
        raise parameter_error("ClassTree", "left, right", must_be, f"{left.tolist()}, {right.tolist()}")


def _classes_below(left: NDArray[np.int64], right: NDArray[np.int64]) -> tuple[Classes, ...]:
    below: list[Classes] = [()] * len(left)
    for node in range(len(left) - 1, -1, -1):
        sides = ((below[side] if side >= 0 else (-side - 1,)) for side in (int(left[node]), int(right[node])))
        below[node] = tuple(sorted(sum(sides, ())))
    return tuple(below)
