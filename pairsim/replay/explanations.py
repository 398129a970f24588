"""Why a decision is right or wrong, in a sentence or two that the answers themselves bear out."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsim.replay.queries import Queries

MOST_LISTED = 5  # classes named in a sentence; of more, some are only counted


@dataclasses.dataclass(frozen=True)
class Verdict:
    """All that a reason is made from: how a trial went and what came of it (`winner` is None for nobody)."""

    decoder: Any
    n: int
    truth: int
    winner: int | None
    asked: Queries
    rounds: tuple[Queries, ...]

    @property
    def named(self) -> str:
        """What was decided."""
        return "nobody was named" if self.winner is None else f"class {self.winner} was named"


@dataclasses.dataclass(frozen=True)
class Standings:
    """The points that were compared: those of each class in the race, and the most that it could have."""

    classes: NDArray[np.int64]
    points: NDArray[np.int64]
    most: int
    for_asker: bool
    place: str  # " in the final"

    @classmethod
    def of(cls, queries: Queries, classes: NDArray[np.int64], n: int, place: str = "") -> Standings:
        """Count the queries of one round; each of `classes` could win the same number of them."""
        own = queries.first == classes[0]
        if not queries.for_asker:
            own |= queries.second == classes[0]
        return cls(classes, queries.points(n)[classes], int(own.sum()), queries.for_asker, place)

    def told(self, points: int) -> str:
        """Return what a class with this many points did, such as "won 7 of the 9 queries it asked"."""
        return record_of(points, self.most, asked=self.for_asker) + self.place

    def of_class(self, label: int) -> int:
        """Return the points of a class in the race."""
        return int(self.points[self.classes == label][0])

    def at(self, points: int) -> list[int]:
        """Return the classes with this many points."""
        found: list[int] = self.classes[self.points == points].tolist()
        return found


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "query"), counted(120000, "query")
    ('1 query', '120,000 queries')
    """
    if number != 1:
        noun = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun}"


def listed(classes: Sequence[int]) -> str:
    """Name several classes, the first few of them where they are many.

    Examples
    --------
    >>> listed([0, 3, 9])
    'classes 0, 3 and 9'
    >>> listed(range(40))
    'classes 0, 1, 2, 3, 4 and 35 others'
    """
    if len(classes) == 1:
        return f"class {classes[0]}"
    whole = len(classes) <= MOST_LISTED + 1  # never "and 1 others": then there is room for its number
    shown = [str(each) for each in (classes[:-1] if whole else classes[:MOST_LISTED])]
    last = str(classes[-1]) if whole else f"{len(classes) - MOST_LISTED:,} others"
    return f"classes {', '.join(shown)} and {last}"


def reason_for(ending: Verdict) -> str:
    """Return why the decision is right or wrong: by the decoder's own rule where it is known, else by the queries."""
    return EXPLANATIONS[ending.decoder.explained_by](ending)


# --- one round of scores: max-win and poll ----------------------------------------------------------------------


def reason_by_scores(ending: Verdict) -> str:
    """Reason of a decoder that names the highest score of its only round."""
    return compare_scores(ending, Standings.of(ending.rounds[0], np.arange(ending.n), ending.n))


def compare_scores(ending: Verdict, standings: Standings) -> str:
    """Say who has the highest score and, where several have it, how that was settled."""
    truth, winner = ending.truth, ending.winner
    top = int(standings.points.max())
    leaders = standings.at(top)
    own = standings.of_class(truth)
    if len(leaders) > 1:
        return settle_tie(ending, standings)
    if winner != truth:
        return f"class {winner} {standings.told(top)}, the true class {truth} {only(own)}."
    told = f"class {truth} is the true class and was named: it {standings.told(top)}"
    others = standings.points[standings.classes != truth]
    if not others.size:
        return f"{told} and had no rival."
    behind = standings.at(int(others.max()))
    runners = f"the runner-up ({listed(behind)})" if len(behind) == 1 else f"the runners-up ({listed(behind)})"
    return f"{told}, {runners} {others.max():,}{' each' if len(behind) > 1 else ''}."


def settle_tie(ending: Verdict, standings: Standings) -> str:
    """Say who shares the top score and what the rule for ties made of it."""
    truth, winner, ties = ending.truth, ending.winner, ending.decoder.ties
    top, own = int(standings.points.max()), standings.of_class(truth)
    named = f"class {winner}, the true class," if winner == truth else f"class {winner}"
    rule = {
        "random": f"the draw fell on {winner}" + (", the true class" if winner == truth else ""),
        "lose": "ties lose, so nobody was named",
        "first": f"the lowest number wins a tie, so {named} was named",
    }[ties]
    if own < top:
        rule += f". The true class {truth} won {only(own)}"
    elif winner is None:
        rule += f", not even the true class {truth}"
    elif winner != truth:
        rule += f", not {'on ' if ties == 'random' else ''}the true class {truth}"
    return f"{listed(standings.at(top))} share the top score {top:,}{standings.place}; {rule}."


def only(points: int) -> str:
    """Return a number of points that was too low."""
    return f"only {points:,}" if points else "none"


# --- a poll and a final: top-k ----------------------------------------------------------------------------------


def reason_by_final(ending: Verdict) -> str:
    """Reason of top-k: the true class missed the cut, or what happened to it in the final."""
    finalists = find_finalists(ending)
    if ending.truth not in finalists:
        return missed_cut(ending, finalists)
    if len(ending.rounds) == 1:  # a lone candidate has nobody to play: the final has no query
        poll = Standings.of(ending.rounds[0], np.arange(ending.n), ending.n, " in the poll")
        told = f"class {ending.truth} is the true class and was named: it {poll.told(poll.of_class(ending.truth))}"
        return f"{told}, and nobody else reached the final."
    if ending.winner == ending.truth:
        return compare_scores(ending, Standings.of(ending.rounds[1], finalists, ending.n, " in the final"))
    told = compare_scores(ending, Standings.of(ending.rounds[1], finalists, ending.n))
    return f"the true class {ending.truth} lost in the final: {told}"


def find_finalists(ending: Verdict) -> NDArray[np.int64]:
    """Return the classes that the cut let through."""
    if len(ending.rounds) == 1:
        return np.array([] if ending.winner is None else [ending.winner], np.int64)
    final = ending.rounds[1]
    both = final.first if final.for_asker else np.concatenate([final.first, final.second])
    return np.unique(both).astype(np.int64)


def missed_cut(ending: Verdict, finalists: NDArray[np.int64]) -> str:
    """Say what the true class scored in the poll, where the cut was, and what came after."""
    poll = Standings.of(ending.rounds[0], np.arange(ending.n), ending.n)
    own = poll.of_class(ending.truth)
    cut = int(np.sort(poll.points)[-ending.decoder.k])
    told = f"the true class {ending.truth} did not reach the final: it {poll.told(own)}"
    tied = poll.at(cut)
    places = ending.decoder.k - int((poll.points > cut).sum())
    if own < cut:
        told += f", the cut was at {cut:,}"
    else:
        rule = {
            "random": "and the draw left it out",
            "lose": "and ties lose, so none of them got in",
            "first": "and the lowest numbers got in",
        }[ending.decoder.ties]
        others = listed([each for each in tied if each != ending.truth])
        told += f", as did {others}: {len(tied):,} classes for {counted(places, 'place')}, {rule}"
    if not finalists.size:  # only where ties lose: everyone who could get in stood at the cut
        there = (
            "" if own == cut else f", where {len(tied):,} classes stood for {counted(places, 'place')}, and ties lose"
        )
        return f"{told}{there}. Nobody reached the final, so nobody was named."
    if ending.winner is None:
        return f"{told}. The final ended in a tie; ties lose, so nobody was named."
    if len(finalists) == 1:
        return f"{told}. Only class {ending.winner} reached it and was named."
    return f"{told}. Class {ending.winner} won the final."


# --- any decoder ------------------------------------------------------------------------------------------------


def reason_from_queries(ending: Verdict) -> str:
    """Reason that is true of any decoder: the fate of the true class in the queries that were asked."""
    truth, asked = ending.truth, ending.asked
    places = asked.about(truth)
    lost = asked.losers[places] == truth
    record = record_of(int((~lost).sum()), len(places))
    if ending.winner == truth:
        return f"class {truth} is the true class and was named: it {record}."
    if places.size and lost[-1]:
        ends = np.cumsum([len(each) for each in ending.rounds])
        number = int(np.searchsorted(ends, places[-1], side="right"))
        rival = asked[int(places[-1])].winner
        when = f"in round {number + 1:,} of {len(ends):,}"
        if is_knock_out(ending):
            return f"the true class {truth} lost to class {rival} {when} and was out; {ending.named}."
        asked_alone = len(ending.rounds[number].about(truth)) == 1  # else no answer of the round was its last
        if asked_alone and number + 1 < len(ends):
            last = f"the true class {truth} lost its last query, to class {rival} {when}, and was not asked again"
            return f"{last}: it {record}; {ending.named}."
    return f"{ending.named}; the true class {truth} {record}."


def record_of(won: int, number: int, asked: bool = False) -> str:
    """Say how many of its queries, or of those that it `asked` itself, a class won.

    Examples
    --------
    >>> record_of(3, 4), record_of(4, 4), record_of(0, 1)
    ('won 3 of its 4 queries', 'won all 4 of its queries', 'lost its only query')
    >>> record_of(7, 9, asked=True), record_of(2, 2, asked=True)
    ('won 7 of the 9 queries it asked', 'won both queries it asked')
    """
    if number == 0:
        return "was in no query"
    if 0 < won < number:
        return f"won {won:,} of " + (f"the {number:,} queries it asked" if asked else f"its {number:,} queries")
    verb = "won" if won else "lost"
    if number == 1:
        return f"{verb} {'the only query it asked' if asked else 'its only query'}"
    every = "both" if number == 2 else f"all {number:,}"
    return f"{verb} {every} {'queries it asked' if asked else 'of its queries'}"


def is_knock_out(ending: Verdict) -> bool:
    """Return whether every class but the winner lost exactly once: then a loss is the end of a class."""
    losses = np.bincount(ending.asked.losers, minlength=ending.n)
    survivors = np.flatnonzero(losses == 0)
    return survivors.tolist() == [ending.winner] and int(losses.max()) == 1


EXPLANATIONS: dict[str, Callable[[Verdict], str]] = {  # by `Decoder.explained_by`
    "scores": reason_by_scores,
    "final": reason_by_final,
    "queries": reason_from_queries,
}
