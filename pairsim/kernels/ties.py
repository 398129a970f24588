"""How an equal top score is settled."""

from __future__ import annotations

import hashlib

import numpy as np

from pairsim.kernels.jit import bare_inner, inner
from pairsim.kernels.stream import draw_below

RANDOM = 0  # a fair draw among the tied
LOSE = 1  # nobody is named
FIRST = 2  # the lowest class number
ANY = 3  # the class that is known first to have the top score: only for decoders that find out one class at a time

SETTLE_DRAW = 1 << 31  # first coordinate of the tie-break draws: past every class number
CUT_DRAW = SETTLE_DRAW + 1

# second coordinate: each kind of decoder draws for itself, or two decoders would settle their ties alike and agree
# more often than they should
BY_MAX_WIN = 0
BY_POLL = 1
BY_TOP_K = 2
BY_HALVING = 3


def tie_draw(name):
    """Return the number of the draws by which the decoder of this name settles its ties: `settle` takes it as `who`.

    Examples
    --------
    >>> 2**16 <= tie_draw("my-decoder") < 2**31
    True
    """
    return 2**16 + int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "big") % (2**31 - 2**16)


@bare_inner
def settle(scores, ties, key, who):
    """Return the class with the highest score, ties settled by rule; -1 where the rule is LOSE and there is a tie."""
    best = scores[0]
    first = 0
    tied = 1
    for c in range(1, scores.size):
        if scores[c] > best:
            best = scores[c]
            first = c
            tied = 1
        elif scores[c] == best:
            tied += 1
    if tied == 1 or ties == FIRST:
        return first
    if ties == LOSE:
        return -1
    skip = draw_below(key, SETTLE_DRAW, who, tied)
    for c in range(first, scores.size):
        if scores[c] == best:
            if skip == 0:
                return c
            skip -= 1
    return -1


@inner
def cut(scores, count, ties, key, chosen):
    """Write the `count` best classes to `chosen` in class order and return how many there are.

    Ties at the cut: RANDOM draws among them, FIRST takes the lowest numbers, LOSE leaves all of them out
    (a class is in only when fewer than `count` others score at least as much), so fewer may be returned.
    """
    having = np.zeros(scores.max() + 1, np.int64)  # scores are small numbers: counting them is faster than sorting
    for c in range(scores.size):
        having[scores[c]] += 1
    bar = having.size - 1
    above = 0
    while above + having[bar] < count:
        above += having[bar]
        bar -= 1
    at = having[bar]
    open_places = count - above
    if ties == LOSE and at > open_places:
        open_places = 0
    size = 0
    for c in range(scores.size):
        if scores[c] > bar:
            chosen[size] = c
            size += 1
        elif scores[c] == bar:
            # selection sampling: each tied class gets an open place with its fair probability
            if open_places > 0 and (ties != RANDOM or draw_below(key, CUT_DRAW, c, at) < open_places):
                chosen[size] = c
                size += 1
                open_places -= 1
            at -= 1
    return size
