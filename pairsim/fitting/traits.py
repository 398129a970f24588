"""Traits of recorded answers: all that the fits look at, gathered in one pass over the rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pairsim.checks import check_instance
from pairsim.errors import parameter_error
from pairsim.oracles import Recorded

CHUNK = 1 << 24  # answers at a time, i beats j and j beats i both counted: 16 MB
LEAST_CLASSES = 4  # with fewer, no three wrong classes can go round in a circle


@dataclasses.dataclass(frozen=True)
class Traits:
    """What the answers of many data points look like.

    Attributes
    ----------
    n, rows : int
        Classes, and data points.
    accuracy : float
        Share of the pairs with the true class that are answered right.
    unbeaten : float
        Share of the rows in which the true class wins all its pairs.
    circles : float
        How often three wrong classes beat each other in a circle, 1 being as often as among coin flips.
    winner, runner_up : float
        The highest score of a row, and the second highest, as shares of the n - 1 pairs that a class has; means.
    losses : array of int, shape (n,)
        losses[k] rows have a true class that loses k of its pairs.
    beats : array of int, shape (n, n)
        beats[a, b] rows in which place a beats place b; the true class is at place 0, the others follow it by their
        wins over each other, most of them first.
    """

    n: int
    rows: int
    accuracy: float
    unbeaten: float
    circles: float
    winner: float
    runner_up: float
    losses: NDArray[np.int64] = dataclasses.field(repr=False)
    beats: NDArray[np.int64] = dataclasses.field(repr=False)


@dataclasses.dataclass(frozen=True)
class RowCounts:
    """What is counted in each row; any groups of rows add up to their `Traits`.

    Attributes
    ----------
    n : int
        Classes.
    losses, cycles, highest, second : array of int, shape (rows,)
        Pairs that the true class loses, triples of wrong classes that beat each other in a circle, and the two highest
        scores.
    group : array of int, shape (rows,)
        The group of each row.
    beats : array of int, shape (groups, n, n)
        `Traits.beats` of each group.
    """

    n: int
    losses: NDArray[np.int64]
    cycles: NDArray[np.int64]
    highest: NDArray[np.int64]
    second: NDArray[np.int64]
    group: NDArray[np.int64]
    beats: NDArray[np.int64]

    @property
    def most_circles(self) -> float:
        """The most circles that a row can have, as `Traits.circles` counts them (Kendall and Babington Smith)."""
        m = self.n - 1
        return m * (m * m - (1 if m % 2 else 4)) / 24 / _triples(m) * 4.0

    @property
    def circles(self) -> NDArray[np.float64]:
        """`Traits.circles`, row by row."""
        return self.cycles / _triples(self.n - 1) * 4.0

    @property
    def accuracy(self) -> NDArray[np.float64]:
        """The fraction of the true class's pairs that are answered right, row by row."""
        return 1.0 - self.losses / (self.n - 1)

    def traits(self, without: int | None = None) -> Traits:
        """Return the traits of all rows, or of those outside one group."""
        n, rest = self.n, self.group != (-1 if without is None else without)
        rows = int(rest.sum())
        losses = np.bincount(self.losses[rest], minlength=n)
        left_out = 0 if without is None else self.beats[without]
        return Traits(
            n=n,
            rows=rows,
            accuracy=1.0 - float(losses @ np.arange(n)) / (rows * (n - 1)),
            unbeaten=float(losses[0] / rows),
            circles=float(self.cycles[rest].sum() / (rows * _triples(n - 1)) * 4.0),
            winner=float(self.highest[rest].sum() / (rows * (n - 1))),
            runner_up=float(self.second[rest].sum() / (rows * (n - 1))),
            losses=losses,
            beats=self.beats.sum(axis=0) - left_out,
        )


def traits_of(recorded: Recorded) -> Traits:
    """Return the traits of recorded answers, whatever the true class of each row is.

    Examples
    --------
    >>> from pairsim import Ranked, Recorded
    >>> from pairsim.fitting import traits_of
    >>> found = traits_of(Recorded.of(Ranked(8, 1.0, order=1.0), 100))
    >>> found.accuracy, found.unbeaten, found.circles, found.winner
    (1.0, 1.0, 0.0, 1.0)
    """
    check_instance("traits_of", "recorded", recorded, Recorded, "recorded answers")
    return count_rows(recorded, np.zeros(recorded.rows, np.int64)).traits()


def count_rows(recorded: Recorded, group: NDArray[np.int64]) -> RowCounts:
    """Return what is counted in each row, and how often places beat places in each group of rows."""
    n, rows = recorded.n, recorded.rows
    losses, cycles, highest, second = np.empty((4, rows), np.int64)
    beats = np.zeros((int(group.max()) + 1, n, n), np.int64)
    first = 0
    for won in _sorted_tables(recorded):
        here = slice(first, first + len(won))
        scores = won.sum(axis=2)
        losses[here] = n - 1 - scores[:, 0]
        among = won[:, 1:, 1:].sum(axis=2)
        # a triple that is no circle has one class that beats the other two
        cycles[here] = round(_triples(n - 1)) - (among * (among - 1) // 2).sum(axis=1)
        top = np.partition(scores, n - 2, axis=1)
        highest[here], second[here] = top[:, -1], top[:, -2]
        for place in np.unique(group[here]).tolist():
            beats[place] += won[group[here] == place].sum(axis=0)
        first += len(won)
    return RowCounts(n, losses, cycles, highest, second, group, beats)


def check_recorded(owner: str, recorded: object) -> Recorded:
    """Return recorded answers of enough classes to be fitted."""
    if not isinstance(recorded, Recorded):
        must_be = "recorded answers, such as Recorded.load('answers.npz')"
        raise parameter_error(owner, "recorded", must_be, type(recorded).__name__)
    if recorded.n < LEAST_CLASSES:
        raise parameter_error(
            owner, "recorded", f"answers about at least {LEAST_CLASSES} classes", f"{recorded.n} classes"
        )
    return recorded


def _triples(m: int) -> float:
    return m * (m - 1) * (m - 2) / 6.0


def _sorted_tables(recorded: Recorded) -> Iterator[NDArray[np.bool_]]:
    """Yield won[row, a, b] for some rows at a time: whether place a beats place b, places as in `Traits.beats`."""
    n, answers, truth = recorded.n, recorded.answers(), recorded.truth(0, recorded.rows)
    low, high = np.triu_indices(n, 1)
    step = max(1, CHUNK // (n * n))
    for first in range(0, recorded.rows, step):
        part, true = answers[first : first + step], truth[first : first + step]
        every = np.arange(len(part))
        won = np.zeros((len(part), n, n), np.bool_)
        won[:, low, high], won[:, high, low] = part, ~part
        among = won.sum(axis=2) - won[every, :, true]  # wins over wrong classes
        among[every, true] = n  # the true class comes first
        places = np.argsort(-among, axis=1, kind="stable")
        yield won[every[:, None, None], places[:, :, None], places[:, None, :]]
