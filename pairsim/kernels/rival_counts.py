"""How many rivals of the true class have each score, four trials side by side.

Four trials that lie side by side share what is read from a table of logarithms, and give four sums that do not wait for
each other. Scores that nobody has are counted as 0, which changes no digit of a sum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pairsim.kernels.jit import inner, jit
from pairsim.kernels.stream import ONE, TRIALS_PER_WORD, ZERO

TOGETHER = 4  # trials in a group
U_TOGETHER = np.uint64(TOGETHER)
U_WORD = np.uint64(TRIALS_PER_WORD)
USUAL_SCORES = np.uint64(96)  # room for so many scores a group is enough for hundreds of classes
NO_SCORE = np.uint16(0xFFFF)


class RivalCounts(NamedTuple):
    """The rivals of some trials, group after group, the last one filled up with trials that have no rivals."""

    lows: np.ndarray  # uint64[groups]: the lowest score of a group's rivals
    starts: np.ndarray  # uint64[groups + 1]: where its rows begin, one for each score from the lowest to the highest
    counts: np.ndarray  # uint16[rows * TOGETHER]: how many rivals have the row's score in each of the four trials


@inner
def _grown(numbers, size):
    """Return a longer array that begins with `numbers`."""
    longer = np.empty(size, numbers.dtype)
    for k in range(numbers.size):  # an assignment of slices would compile the words of its error too
        longer[k] = numbers[k]
    return longer


@jit
def count_rivals(scores, truth):
    """Return the `RivalCounts` of the trials (columns of `scores`): all classes but the true one.

    A word of trials is counted side by side, class after class: then no count waits for the one before it.
    """
    n, columns, trials = np.uint64(scores.shape[0]), np.uint64(scores.shape[1]), np.uint64(truth.size)
    flat = scores.reshape(-1)
    having = np.zeros(U_WORD * n, np.uint16)
    places, own = np.empty(U_WORD, np.uint64), np.empty(U_WORD, np.uint16)
    low, high = np.empty(U_WORD, np.uint16), np.empty(U_WORD, np.uint16)
    groups = (trials + U_TOGETHER - ONE) // U_TOGETHER
    lows, starts = np.zeros(groups, np.uint64), np.zeros(groups + ONE, np.uint64)
    counts = np.empty(groups * U_TOGETHER * min(n, USUAL_SCORES), np.uint16)
    for k in range(U_WORD):
        places[k] = k // U_TOGETHER * U_TOGETHER * n + k % U_TOGETHER
    size = ZERO
    for first in range(ZERO, trials, U_WORD):
        some = min(U_WORD, trials - first)
        for k in range(U_WORD):
            low[k] = NO_SCORE
            high[k] = 0
        for k in range(some):
            own[k] = truth[first + k]
        for c in range(n):
            here = c * columns + first
            for k in range(some):
                score = flat[here + k]
                low[k] = min(low[k], NO_SCORE if own[k] == c else score)
                high[k] = max(high[k], np.uint16(0) if own[k] == c else score)
            for k in range(some):
                having[places[k] + np.uint64(flat[here + k]) * U_TOGETHER] += np.uint16(own[k] != c)
        for group in range((some + U_TOGETHER - ONE) // U_TOGETHER):
            a = group * U_TOGETHER
            least = np.uint64(min(low[a], low[a + 1], low[a + 2], low[a + 3]))
            most = np.uint64(max(high[a], high[a + 1], high[a + 2], high[a + 3]))
            more = (most - least + ONE) * U_TOGETHER
            if size + more > np.uint64(counts.size):
                counts = _grown(counts, 2 * (size + more))
            there = (group * n + least) * U_TOGETHER
            for place in range(more):
                counts[size + place] = having[there + place]
                having[there + place] = 0
            size += more
            number = first // U_TOGETHER + group
            lows[number] = least
            starts[number + ONE] = size // U_TOGETHER
    return RivalCounts(lows, starts, counts)
