"""The queries of a trial as lines of text, shortened to those that decide the fate of the true class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from pairsim.replay.explanations import counted
from pairsim.replay.queries import Queries, Query

OTHERS = 8  # rank of a query with neither the true class nor the winner; lower ranks are shown first


def lay_out_rounds(
    asked: Queries, rounds: tuple[Queries, ...], winner: int | None, n: int, limit: int | None
) -> Iterator[str]:
    """Yield the lines of all rounds; rounds that are left out are told in one line together."""
    sizes = [len(each) for each in rounds]
    ranks = rank_queries(asked, winner, np.repeat(np.array([each.for_asker for each in rounds], np.bool_), sizes))
    starts = np.cumsum([0, *sizes])
    width = len(str(n - 1))
    shown = choose_rounds(ranks, starts[:-1], limit)
    next_round = 0
    for number in [*shown, len(rounds)]:
        if number > next_round:
            hidden = counted(int(starts[number] - starts[next_round]), "query")
            span = f"round {number}" if number == next_round + 1 else f"rounds {next_round + 1:,} to {number:,}"
            yield f"{span}: {hidden}, not shown"
        if number < len(rounds):
            yield from lay_out_round(rounds[number], ranks[starts[number] : starts[number + 1]], number, width, limit)
        next_round = number + 1


def rank_queries(asked: Queries, winner: int | None, for_asker: NDArray[np.bool_]) -> NDArray[np.int8]:
    """Rank by what a reader looks for: the true class before the winner, what counts for it, losses before wins."""
    ranks = np.full(len(asked), OTHERS, np.int8)
    lost = asked.losers
    for label, rank in ((winner, 4), (asked.truth, 0)):  # the true class last: it comes before the winner
        if label is not None:
            places = asked.about(label)
            idle = for_asker[places] & (asked.first[places] != label)
            ranks[places] = rank + 2 * idle + (lost[places] != label)
    return ranks


def choose_rounds(ranks: NDArray[np.int8], starts: NDArray[np.int64], limit: int | None) -> list[int]:
    """Return the rounds to show, in order: all, or the `limit` ones whose queries rank first."""
    if limit is None or len(starts) <= limit:
        return list(range(len(starts)))
    best = np.minimum.reduceat(ranks, starts)
    chosen = np.argsort(best, kind="stable")[:limit]
    found: list[int] = np.sort(chosen[best[chosen] < OTHERS]).tolist()
    return found


def lay_out_round(
    queries: Queries, ranks: NDArray[np.int8], number: int, width: int, limit: int | None
) -> Iterator[str]:
    """Yield the heading of a round and its queries."""
    note = ", a point to the one who asks when it wins" if queries.for_asker else ""
    yield f"round {number + 1:,}: {counted(len(queries), 'query')}{note}"
    places: Iterable[int] = range(len(queries))
    hidden = 0
    if limit is not None and len(queries) > limit:
        candidates = np.flatnonzero(ranks < OTHERS)
        places = candidates[np.argsort(ranks[candidates], kind="stable")][:limit].tolist()
        hidden = len(queries) - min(limit, len(candidates))
    for place in places:
        yield lay_out_query(queries[place], width, queries.for_asker)
    if hidden:
        yield f"  ... and {hidden:,} more" if hidden < len(queries) else "  ... all among other classes"


def lay_out_query(query: Query, width: int, show_asker: bool) -> str:
    """Return one line; only a query with the true class has a right answer.

    Examples
    --------
    >>> lay_out_query(Query(0, 7, 7, False, False), 2, False)
    '   7 beats 0    WRONG'
    >>> lay_out_query(Query(12, 7, 12, True, None), 2, True)
    '  12 beats 7            asked by 12 (asked before)'
    """
    verdict = {None: "", True: "right", False: "WRONG"}[query.right]
    line = f"  {query.winner:>{width}} beats {query.loser:<{width}}   {verdict:<5}"
    if show_asker:
        line += f"   asked by {query.first}"
    if query.repeated:
        line += f"{' ' if show_asker else '   '}(asked before)"
    return line.rstrip()
