"""The evidence of a record of wins and losses: how much likelier it is for the true class than for coin flips.

The true class wins each of its games with probability p, and all other games are fair coins. So if p is known, a win
makes the class likelier by a factor 2p and a loss by 2(1 - p), against no class being the true one. With p uniform on
(1/2, 1) the evidence is the mean over p,

    F(w, l) = 2 * integral of (2p)^w (2 - 2p)^l dp from 1/2 to 1,

which is 2^(w + l + 1) B(w + 1, l + 1) times the incomplete beta function I at 1/2 of (l + 1, w + 1). The continued
fraction of I, or of its complement where that is the smaller one, takes a few steps (Press, Teukolsky, Vetterling and
Flannery, Numerical Recipes, section 6.4).
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np

from pairsim.kernels.jit import bare_inner, jit

LONGEST = 255  # games of a record in the table
WIDTH = LONGEST + 1
PRECISION = 1e-16
TINY = 1e-300
LOG_2 = math.log(2.0)


@bare_inner
def record_log(win, loss, wins, losses):
    """Return the logarithm of a record's evidence; `win` and `loss` are those of one game, 0 where p is unknown."""
    if win > 0.0:
        return wins * win + losses * loss
    a, b = wins + 1.0, losses + 1.0
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    power = (a + b - 1.0) * LOG_2
    if wins < losses:
        return power + log_beta + math.log(_half_beta(b, a, log_beta))
    return power + log_beta + math.log1p(-_half_beta(a, b, log_beta))


@bare_inner
def _half_beta(a, b, log_beta):
    """Return the incomplete beta function at 1/2, for a >= b, by Lentz's continued fraction."""
    c, d = 1.0, 1.0 / max(1.0 - 0.5 * (a + b) / (a + 1.0), TINY)
    fraction = d
    m, change = 1.0, 2.0
    while abs(change - 1.0) > PRECISION and m < 10_000.0:
        change = 1.0
        for step in range(2):
            if step == 0:
                term = 0.5 * m * (b - m) / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
            else:
                term = -0.5 * (a + m) * (a + b + m) / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
            d = 1.0 + term * d
            c = 1.0 + term / c
            d = 1.0 / (d if abs(d) > TINY else TINY)
            c = c if abs(c) > TINY else TINY
            change *= d * c
            fraction *= d * c
        m += 1.0
    return math.exp(-(a + b) * LOG_2 - log_beta) * fraction / a


@jit
def record_logs(win, loss, wins, losses):
    """Return the logarithm of the evidence of many records."""
    logs = np.empty(wins.size)
    for c in range(wins.size):
        logs[c] = record_log(win, loss, wins[c], losses[c])
    return logs


@bare_inner
def write_probabilities(win, loss, classes, known, labels, out):
    """Write the posterior probability of each class: the first `known` places have records of wins and losses."""
    highest = 0.0
    for place in range(labels.size):
        log = record_log(win, loss, classes[place, 0], classes[place, 1]) if place < known else 0.0
        out[labels[place]] = log
        highest = max(highest, log)
    total = 0.0
    for c in range(out.size):
        out[c] = np.exp(out[c] - highest)
        total += out[c]
    for c in range(out.size):
        out[c] /= total


class RecordTable(NamedTuple):
    """All records of up to `LONGEST` games, ranked by their evidence; equal evidence is one rank.

    The record without a game has a rank of its own.
    """

    win: float  # logarithms of a win and a loss, 0 where p is unknown
    loss: float
    fresh: int  # the rank of the record without a game
    logs: np.ndarray  # float64[ranks], falling
    weights: np.ndarray  # float64[ranks], their exponentials
    ranks: np.ndarray  # int32[WIDTH * WIDTH], at WIDTH * wins + losses


@functools.lru_cache(maxsize=16)
def record_table(p: float | None) -> RecordTable:
    """Return the table for an assumed p, None where it is unknown.

    Examples
    --------
    >>> table = record_table(0.9)
    >>> bool(table.logs[table.ranks[1 * WIDTH + 0]].round(6) == np.log(1.8).round(6))
    True
    """
    win, loss = (0.0, 0.0) if p is None else (math.log(2.0 * p), math.log(2.0 * (1.0 - p)))
    places = np.arange(WIDTH * WIDTH)
    wins, losses = places // WIDTH, places % WIDTH
    within = wins + losses <= LONGEST
    logs = record_logs(win, loss, wins[within], losses[within])
    own = np.zeros(len(logs), np.int64)
    own[0] = -1  # the record without a game comes before its equals
    order = np.lexsort((own, -logs))
    sorted_logs, sorted_own = logs[order], own[order]
    starts = np.concatenate(([True], (np.diff(sorted_logs) != 0.0) | (np.diff(sorted_own) != 0)))
    ranked = np.empty(len(logs), np.int32)
    ranked[order] = np.cumsum(starts) - 1
    ranks = np.full(WIDTH * WIDTH, -1, np.int32)
    ranks[within] = ranked
    distinct = sorted_logs[starts]
    table = RecordTable(win, loss, int(ranked[0]), distinct, np.exp(distinct), ranks)
    for array in (table.logs, table.weights, table.ranks):
        array.flags.writeable = False
    return table
