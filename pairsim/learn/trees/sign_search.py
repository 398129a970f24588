"""The dichotomy of some classes whose support vector machine has the least objective: a search over sign vectors.

A sign vector puts each class on one side, the first one on side 1. Its objective J is the optimum of the SVM that
separates the two sides. Candidates race: the one whose dual objective is lowest goes on, and as a dual objective is a
lower bound of J, none goes on further than to the least J that is known. So a race finds the least J of its candidates
without solving for the others.

The search has rounds of refitting from several starts, then flips of single classes. Refitting gives each class the
side with the smaller sum of hinge losses, which cannot raise the objective; a candidate that left the race is refitted
from the weights that it had.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsim.learn.trees.class_rows import ClassRows, Decision, NodeSVM
from pairsim.learn.trees.two_means import two_means

Signs = tuple[int, ...]
Numbers = NDArray[np.float64]

ENUMERATED = 3  # classes whose dichotomies are all tried
BETTER = 1e-9  # a part of the objective that counts as progress


class DichotomySearch:
    """The search at one node: dichotomies that were tried, and the best so far.

    Parameters
    ----------
    rows : ClassRows
        The training rows.
    classes : sequence of int
        The classes at the node, at least two, in order.
    boxes : ndarray
        C per row of the node.
    tol : float
        The tolerance of the SVMs.
    prune : bool
        Whether candidates race; otherwise all are solved for.
    """

    def __init__(
        self, rows: ClassRows, classes: Sequence[int], boxes: Numbers, tol: float, *, prune: bool = True
    ) -> None:
        self.rows, self.classes, self.boxes, self.tol, self.prune = rows, tuple(classes), boxes, tol, prune
        self._starts = np.concatenate([[0], np.cumsum(rows.sizes[list(classes)])[:-1]])
        self.tried: dict[Signs, float] = {}  # the objective, or a lower bound of it
        self.best: NodeSVM | None = None
        self.sides: Signs = ()

    @property
    def objective(self) -> float:
        """The least objective that was found."""
        return np.inf if self.best is None else self.best.value

    def decision(self, report: Any = None) -> Decision:
        """Return the best dichotomy that was found, and its SVM."""
        assert self.best is not None
        weights = self.rows.weights(self.best)
        converged, tried = self.best.converged, len(self.tried)
        return Decision(self.sides, weights, len(self.boxes), self.objective, converged, tried, report)

    def run(self, starts: int, rng: np.random.Generator) -> None:
        """Find the best dichotomy: of all where there are few classes, else from several starts."""
        if len(self.classes) <= ENUMERATED:
            self.race(all_signs(len(self.classes)))
            return
        index = list(self.classes)
        self.refit(first_signs(self.rows.means[np.ix_(index, index)], starts, rng))
        self.flip()

    def race(self, candidates: Iterable[Signs]) -> dict[Signs, NodeSVM]:
        """Let the candidates that were not tried yet race; return the SVMs of all of them as they stand."""
        new = [signs for signs in dict.fromkeys(candidates) if signs not in self.tried]
        svms = [self.rows.svm(self.classes, signs, self.boxes, self.tol) for signs in new]
        queue = [(0.0, place) for place in range(len(svms))]
        while queue:
            value, place = heapq.heappop(queue)
            if self.prune and value > self.objective:
                break
            svm = svms[place]
            svm.advance(self.objective if self.prune else np.inf)
            if not svm.done:
                heapq.heappush(queue, (svm.value, place))
            elif svm.value < self.objective:
                self.best, self.sides = svm, new[place]
        self.tried.update((signs, svm.value) for signs, svm in zip(new, svms, strict=True))
        return dict(zip(new, svms, strict=True))

    def refit(self, candidates: Iterable[Signs]) -> None:
        """Let candidates race, give each class its better side, and again, until that leads to nothing new."""
        while True:
            svms = self.race(candidates)
            if not svms:
                return
            candidates = [better_sides(self._losses(svm)) for svm in svms.values()]

    def flip(self) -> None:
        """Take the flip of one class that improves most, until none improves."""
        while True:
            before = self.objective
            sides = self.sides
            flips = [_flipped(sides, c) for c in range(len(sides))]
            self.race(signs for signs in flips if min(signs) < max(signs))
            if not self.objective < before * (1.0 - BETTER):
                return

    def _losses(self, svm: NodeSVM) -> Numbers:
        """Return the sum of each class's hinge losses on side 1 and on side -1."""
        scores = svm.scores()
        losses = np.empty((len(self.classes), 2))
        for column, side in enumerate((1.0, -1.0)):
            hinges = 1.0 - side * scores
            losses[:, column] = np.add.reduceat(np.maximum(hinges, 0.0, out=hinges), self._starts)
        return losses


def canonical(signs: Iterable[int] | NDArray[Any]) -> Signs:
    """Return the signs such that the first is 1.

    Examples
    --------
    >>> from pairsim.learn.trees.sign_search import canonical
    >>> canonical([-1, 1, 1])
    (1, -1, -1)
    """
    listed = tuple(signs.tolist() if isinstance(signs, np.ndarray) else signs)
    return listed if listed[0] > 0 else tuple([-sign for sign in listed])


def all_signs(count: int) -> list[Signs]:
    """Return every dichotomy of some classes.

    Examples
    --------
    >>> from pairsim.learn.trees.sign_search import all_signs
    >>> all_signs(3)
    [(1, 1, -1), (1, -1, 1), (1, -1, -1)]
    """
    return [(1, *rest) for rest in itertools.product((1, -1), repeat=count - 1) if min(rest) < 0]


def better_sides(losses: Numbers) -> Signs:
    """Return the side with the smaller loss of each class; if that is the same for all, one class changes it."""
    gain = losses[:, 1] - losses[:, 0]  # of side 1
    signs = np.where(gain >= 0.0, 1, -1)
    if (signs == signs[0]).all():
        signs[np.abs(gain).argmin()] *= -1
    return canonical(signs)


def first_signs(means: Numbers, starts: int, rng: np.random.Generator) -> list[Signs]:
    """Return dichotomies to start from, given the inner products of the classes' means.

    They are each class against the rest (the class that is farthest from the mean of all is among them), the sign of
    the first principal component of the means, and two means of the means from so many random starts.
    """
    count = len(means)
    found = [canonical(np.where(np.arange(count) == c, -1, 1)) for c in range(count)]
    centred = means - means.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)
    direction = np.linalg.eigh(centred)[1][:, -1]
    if direction.min() < 0.0 < direction.max():
        found.append(canonical(np.where(direction < 0.0, -1, 1)))
    found += [canonical(two_means(centred.dot, count, rng).signs) for _ in range(starts)]
    return found


def _flipped(signs: Signs, place: int) -> Signs:
    return canonical((*signs[:place], -signs[place], *signs[place + 1 :]))
