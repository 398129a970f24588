"""Knock-outs of many data points at once: slot by slot of the list, so that the few pairs of a slot stay in the cache.

The decoder's order is the same for every row. So all rows play the same pair in a slot of the first round, one of four
in the second, and so on: what belongs to a pair is fetched once for many rows, where row after row would fetch it anew.
"""

from __future__ import annotations

import numpy as np

from pairsim.decoders.order import deal
from pairsim.kernels.jit import bare_jit
from pairsim.learn.compiled.prediction import first_wins


@bare_jit
def write_order(decoder, key, order):
    """Write the order in which an adag or a champion lists the classes."""
    deal(order, decoder.shuffled, key)


@bare_jit
def play_knock_outs(oracle, trial, order, first, standing, winners):
    """Play an adag for the rows from `first` on, as many as `standing` has columns, and write who is left.

    `standing`, int64[(n + 1) // 2, rows], is scratch.
    """
    n, rows = order.size, standing.shape[1]
    for k in range(n // 2):
        i, j = order[k], order[n - 1 - k]
        for row in range(rows):
            trial.position[0] = first + row
            standing[k, row] = i if first_wins(oracle, trial, i, j) else j
    if n % 2:
        for row in range(rows):
            standing[n // 2, row] = order[n // 2]
    left = (n + 1) // 2
    while left > 1:
        for k in range(left // 2):
            for row in range(rows):
                trial.position[0] = first + row
                i, j = standing[k, row], standing[left - 1 - k, row]
                standing[k, row] = i if first_wins(oracle, trial, i, j) else j
        left = (left + 1) // 2
    for row in range(rows):
        winners[first + row] = standing[0, row]


@bare_jit
def play_challenges(oracle, trial, winners, by_winner, beaten):
    """Let each row's winner play every other class; write whether anybody beats it.

    `by_winner` lists the rows, those with the same winner one after the other: they ask about the same pairs.
    """
    first = 0
    while first < by_winner.size:
        champion = winners[by_winner[first]]
        last = first + 1
        while last < by_winner.size and winners[by_winner[last]] == champion:
            last += 1
        for other in range(oracle.n):
            if other != champion:
                for place in range(first, last):
                    row = by_winner[place]
                    trial.position[0] = row
                    if not first_wins(oracle, trial, champion, other):
                        beaten[row] = 1
        first = last


def games_by_place(n: int) -> np.ndarray:
    """Return how many games of a knock-out of n are played by whoever wins it from each place of the first list."""
    places, games, left = np.arange(n), np.zeros(n, np.int64), n
    while left > 1:
        games += places != left - 1 - places
        places = np.minimum(places, left - 1 - places)
        left = (left + 1) // 2
    return games
