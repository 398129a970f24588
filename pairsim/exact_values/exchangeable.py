"""Expected products of weights on the scores, when all classes but the true one are alike (uniform-p).

Classes leave one by one. The class that leaves plays everyone who is still in, its score is then final, and its
weight is multiplied in. Only how many of the others hold which number of wins matters: a state is a row of `left`
zeros (the classes still in, by wins) and of ones that part the zeros with k wins from those with k + 1. All states
of a layer are the combinations of that row, so each has a rank and a layer is one array. The class with the most
wins leaves first: its zero turns into the parting one that the longer range of wins needs, and each parting one moves
left past the zeros that win their game.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pairsim.exact_values.sums import add_exactly
from pairsim.kernels.jit import jit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@jit
def pascal(size: int) -> Ints:
    """Return choose[a, b] for 0 <= a, b <= size (exact up to size 61)."""
    choose = np.zeros((size + 1, size + 1), np.int64)
    for a in range(size + 1):
        choose[a, 0] = 1
        for b in range(1, a + 1):
            choose[a, b] = choose[a - 1, b - 1] + choose[a - 1, b]
    return choose


@jit
def step_combination(places: Ints) -> None:
    """Move to the next combination in the order of the ranks sum_i choose[places[i], i + 1]."""
    i = 0
    while i + 1 < places.size and places[i] + 1 == places[i + 1]:
        places[i] = i
        i += 1
    places[i] += 1


@jit
def part_zeros(places: Ints, left: int, parts: Ints, gaps: Ints) -> int:
    """Turn the last zero of a row into a one; write the ones and the zeros before each; return how many ones follow."""
    kept = places.size
    last = left + kept - 1
    above = 0
    while above < kept and places[kept - 1 - above] == last - above:
        above += 1
    for i in range(kept + 1):
        parts[i] = places[i] if i < kept - above else (last - above if i == kept - above else places[i - 1])
        gaps[i] = parts[i] - (parts[i - 1] + 1 if i > 0 else 0)
    return above


@jit
def is_hopeless(gaps: Ints, kept: int, first: int, top: int, low: int, cap: int) -> bool:
    """Say whether some of the classes in a row must exceed `cap` wins: they share out the games among themselves."""
    room = cap - top  # wins that the classes looked at may still take
    games = 0
    seen = 1
    for i in range(kept, first - 1, -1):
        for _ in range(gaps[i]):
            room += cap - (low + i)
            games += seen
            seen += 1
            if room < games:
                return True
    return room < 0


@jit
def share_out(parts: Ints, gaps: Ints, kept: int, first: int, choose: Ints, weighted: Floats, after: Floats) -> None:
    """Add `weighted[wins]` to every state that can follow, where `wins` of the classes in the gaps win their game."""
    active = np.empty(kept + 1, np.int64)
    depth = 0
    rank = 0
    for i in range(first, kept + 1):
        if gaps[i] > 0:
            active[depth] = i
            depth += 1
        else:
            rank += choose[parts[i] - first, i + 1 - first]
    if depth == 0:
        after[rank] += weighted[0]
        return
    digits = np.zeros(depth, np.int64)
    ranks = np.zeros(depth, np.int64)
    wins = np.zeros(depth, np.int64)
    ways = np.ones(depth)
    ranks[0] = rank
    at = 0
    while at >= 0:
        i = active[at]
        if at == depth - 1:
            for j in range(gaps[i] + 1):
                target = ranks[at] + choose[parts[i] - j - first, i + 1 - first]
                way = ways[at] * choose[gaps[i], j]
                won = wins[at] + j
                for lane in range(after.shape[1]):
                    after[target, lane] += way * weighted[won, lane]
            at -= 1
        elif digits[at] <= gaps[i]:
            j = digits[at]
            digits[at] += 1
            ranks[at + 1] = ranks[at] + choose[parts[i] - j - first, i + 1 - first]
            ways[at + 1] = ways[at] * choose[gaps[i], j]
            wins[at + 1] = wins[at] + j
            at += 1
        else:
            digits[at] = 0
            at -= 1


@jit
def book(totals: Floats, lane: int, term: float) -> None:
    """Add `term` to a lane of totals[lane] = (sum, what its roundings lost)."""
    totals[lane, 0], totals[lane, 1] = add_exactly(totals[lane, 0], totals[lane, 1], term)


@jit
def weigh_leaver(
    mass: Floats, left: int, top: int, keep: Floats, drop: Floats, choose: Ints, failure: Floats
) -> Floats:
    """Return mass * weight for each number of games that the leaver, with `top` wins, loses; book what it drops."""
    weighted = np.empty((left, mass.size))
    scale = 0.5 ** (left - 1)
    for lane in range(mass.size):
        dropped = 0.0
        for lost in range(left):
            final = top + left - 1 - lost
            dropped += choose[left - 1, lost] * drop[final, lane]
            weighted[lost, lane] = scale * keep[final, lane] * mass[lane]
        book(failure, lane, dropped * scale * mass[lane])
    return weighted


@jit
def fold_safe(weighted: Floats, safe: int, choose: Ints) -> Floats:
    """Sum over the games of the `safe` classes, whose own wins need no book-keeping any more."""
    folded = np.zeros((weighted.shape[0] - safe, weighted.shape[1]))
    for lost in range(folded.shape[0]):
        for j in range(safe + 1):
            folded[lost] += choose[safe, j] * weighted[lost + j]
    return folded


@jit
def advance_layer(
    now: Floats,
    k: int,
    left: int,
    most: int,
    cap: int,
    keep: Floats,
    drop: Floats,
    choose: Ints,
    success: Floats,
    failure: Floats,
) -> Floats:
    """Return the next layer: in each state of `now`, k classes after class 0, the one with the most wins leaves."""
    kept = min(k, most)
    following = min(k + 1, most)
    first = 1 if kept == most else 0
    after = np.zeros((choose[left - 1 + following, following], now.shape[1]))
    parts = np.empty(kept + 1, np.int64)
    gaps = np.empty(kept + 1, np.int64)
    places = np.arange(kept)
    for state in range(now.shape[0]):
        if state > 0:
            step_combination(places)
        mass = now[state]
        if not mass.any():
            continue
        above = part_zeros(places, left, parts, gaps)
        safe = first == 1 and above == kept
        if safe or (cap >= 0 and is_hopeless(gaps, kept, first, k - above, k - kept, cap)):
            for lane in range(mass.size):
                book(success if safe else failure, lane, mass[lane])
            continue
        weighted = weigh_leaver(mass, left, k - above, keep, drop, choose, failure)
        if first == 1:
            weighted = fold_safe(weighted, gaps[0], choose)
        share_out(parts, gaps, kept, first, choose, weighted, after)
    return after


@jit
def expect_products(n: int, most: int, cap: int, start: Floats, keep: Floats, drop: Floats) -> tuple[Floats, Floats]:
    """Return, per lane, the expected product of `keep` over the scores of classes 1 .. n-1, and what was dropped.

    start[b, lane] is the mass with which b of them beat class 0; keep and drop (which sum to 1) are weights by final
    score. A class that has `most` wins fewer than the best possible so far is safe: its keep will be 1 (`most` = n:
    no class is ever safe). `cap` >= 0 says that keep is 0 above that score.
    """
    choose = pascal(n + 1)
    success = np.zeros((keep.shape[1], 2))
    failure = np.zeros((keep.shape[1], 2))
    now = start[::-1].copy()  # the row of n - 1 - b zeros, a one and b zeros has rank n - 1 - b
    for k in range(1, n):
        now = advance_layer(now, k, n - k, most, cap, keep, drop, choose, success, failure)
    return success[:, 0] + success[:, 1] + now[0], failure[:, 0] + failure[:, 1]


def count_steps(n: int, most: int) -> int:
    """Return how many times `expect_products` adds one state to another, each time over all lanes (before pruning)."""
    steps = 0
    for k in range(1, n):
        others = n - k - 1
        for top in range(1, min(k, most) + 1):  # the leaver stands in gap `top`, the others in it or below
            ways = 2 * top if k >= most else 2 * top + 1
            steps += math.comb(others + ways, others)
        steps += k < most
    return steps
