"""The cheapest pairing of some players, by looking at all of them, or by integer programming where they are many."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.optimize
import scipy.sparse

Pairing = dict[Any, Any]  # the opponent of each player; oneself for a bye
Cost = Callable[[Any, Any], int]
NOBODY = "nobody"  # whom the player that has a bye "plays", at no cost
MOST_BY_HAND = 14


def pair_up_naively(players: Sequence[Any], cost: Cost, barred: Any = None) -> Pairing:
    """Return the pairing with the least sum of costs; of an odd number one other than `barred` has a bye."""
    seats = [*players, *([NOBODY] if len(players) % 2 else [])]
    allowed = {(a, b) for a, b in itertools.combinations(seats, 2) if b != NOBODY or a != barred}
    costs = {(a, b): 0 if b == NOBODY else cost(a, b) for a, b in allowed}
    chosen = by_hand(tuple(seats), costs) if len(seats) <= MOST_BY_HAND else by_programming(seats, costs)
    opponents: Pairing = {}
    for a, b in chosen:
        opponents[a], opponents[b] = (a, a) if b == NOBODY else (b, a)
    opponents.pop(NOBODY, None)
    return opponents


def by_hand(seats: tuple[Any, ...], costs: dict[tuple[Any, Any], int]) -> list[tuple[Any, Any]]:
    """Try every opponent of the first player, then of the first that is left, and so on; whole numbers, no rounding."""

    @functools.cache
    def best(left: tuple[Any, ...]) -> tuple[int, list[tuple[Any, Any]]] | None:
        if not left:
            return 0, []
        found = []
        for other in left[1:]:
            pair = (left[0], other)
            rest = best(tuple(seat for seat in left[1:] if seat != other))
            if pair in costs and rest is not None:
                found.append((costs[pair] + rest[0], [pair, *rest[1]]))
        return min(found, key=lambda each: each[0], default=None)

    answer = best(seats)
    assert answer is not None
    return answer[1]


def by_programming(seats: list[Any], costs: dict[tuple[Any, Any], int]) -> list[tuple[Any, Any]]:
    """Choose pairs so that everybody is in one: an integer programme in floating point, for costs that differ well."""
    pairs, place = list(costs), {seat: k for k, seat in enumerate(seats)}
    rows = [place[seat] for pair in pairs for seat in pair]
    once = scipy.sparse.coo_array((np.ones(len(rows)), (rows, np.repeat(np.arange(len(pairs)), 2)))).tocsr()
    largest = max(costs.values())
    found = scipy.optimize.milp(
        [costs[pair] / largest for pair in pairs],
        integrality=np.ones(len(pairs)),
        bounds=(0, 1),
        constraints=scipy.optimize.LinearConstraint(once, 1, 1),
        options={"mip_rel_gap": 0.0},
    )
    return [pair for pair, x in zip(pairs, found.x, strict=True) if x > 0.5]
