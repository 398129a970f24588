"""Queries as a reader sees them: kept in arrays, turned into objects when looked at."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from pairsim.replay.transcript import Transcript


class Query(NamedTuple):
    """One query and its answer; `right` is None when the true class is not in the pair."""

    first: int
    second: int
    winner: int
    repeated: bool
    right: bool | None

    @property
    def loser(self) -> int:
        """The class that did not win."""
        return self.second if self.winner == self.first else self.first


class Queries(Sequence[Query]):
    """Queries asked one after the other, such as a round's: a sequence that makes each `Query` as it is read.

    A max-win among thousands of classes asks millions of queries: as arrays they take ten bytes each.

    Examples
    --------
    >>> from pairsim import Adag, Recorded, Uniform
    >>> from pairsim.replay import replay_trial
    >>> first_round = replay_trial(Recorded.of(Uniform(4, 1.0), 1), Adag(order="given"), seed=0, trial=0).rounds[0]
    >>> first_round[0]
    Query(first=0, second=3, winner=0, repeated=False, right=True)
    >>> len(first_round), first_round.wins(4).sum()
    (2, np.int64(2))
    """

    __slots__ = ("_book", "_start", "_stop", "for_asker", "truth")

    def __init__(self, book: Transcript, start: int, stop: int, truth: int, for_asker: bool = False) -> None:
        self._book, self._start, self._stop = book, start, stop
        self.truth = truth
        self.for_asker = for_asker  # only the first of a pair earns a point for winning, as in a poll

    @property
    def first(self) -> NDArray[np.int32]:
        """The class that comes first in each query: in a poll, the one that asks."""
        return self._book.first[self._start : self._stop]

    @property
    def second(self) -> NDArray[np.int32]:
        """The other class of each query."""
        return self._book.second[self._start : self._stop]

    @property
    def first_wins(self) -> NDArray[np.bool_]:
        """Whether the first one wins."""
        return self._book.first_wins[self._start : self._stop]

    @property
    def repeated(self) -> NDArray[np.bool_]:
        """Whether the pair was asked before in this trial."""
        return self._book.repeated[self._start : self._stop]

    @property
    def losers(self) -> NDArray[np.int32]:
        """The class that does not win."""
        return np.where(self.first_wins, self.second, self.first)

    def wins(self, n: int) -> NDArray[np.int64]:
        """Return how often each of n classes won."""
        return np.bincount(np.where(self.first_wins, self.first, self.second), minlength=n)

    def points(self, n: int) -> NDArray[np.int64]:
        """Return what a decoder that counts these answers credits to each of n classes."""
        return np.bincount(self.first[self.first_wins], minlength=n) if self.for_asker else self.wins(n)

    def about(self, label: int) -> NDArray[np.int64]:
        """Return the places of the queries that have class `label` in their pair."""
        return np.flatnonzero((self.first == label) | (self.second == label))

    def __len__(self) -> int:
        return self._stop - self._start

    @overload
    def __getitem__(self, place: int) -> Query: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Query]: ...

    def __getitem__(self, place: int | slice) -> Query | Sequence[Query]:
        if isinstance(place, slice):
            return tuple(self[each] for each in range(*place.indices(len(self))))
        columns = (self.first, self.second, self.first_wins, self.repeated)
        return self._query(*(column[place].item() for column in columns))

    def __iter__(self) -> Iterator[Query]:
        columns = (self.first, self.second, self.first_wins, self.repeated)
        return itertools.starmap(self._query, zip(*(column.tolist() for column in columns), strict=True))

    def _query(self, first: int, second: int, first_wins: bool, repeated: bool) -> Query:
        winner = first if first_wins else second
        return Query(first, second, winner, repeated, winner == self.truth if self.truth in (first, second) else None)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Queries):
            return NotImplemented
        return (self.truth, self.for_asker) == (other.truth, other.for_asker) and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in Transcript._fields
        )

    __hash__ = None  # type: ignore[assignment]  # the arrays have none

    def __repr__(self) -> str:
        return f"<{len(self):,} queries>"
