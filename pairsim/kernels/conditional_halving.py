"""HALVING on known scores: the opponents of a round are one binomial draw per class that is left."""

from __future__ import annotations

import numpy as np

from pairsim.kernels.driver import QUERIES, ROUNDS
from pairsim.kernels.jit import inner, jit
from pairsim.kernels.stream import SHIFT_11 as UNIT_SHIFT
from pairsim.kernels.stream import UNIT, draw_key, fold, mix, place
from pairsim.kernels.ties import BY_HALVING, cut, settle

BINOMIAL_DRAWS = np.uint64(4)  # keeps these draws apart from those of a halving that is really asked


@inner
def _write_distribution(trials, share, cdf):
    """Write the distribution function of Binomial(trials, share): outwards from its mode, where nothing underflows."""
    if share >= 1.0:
        cdf[:] = 0.0
        cdf[trials] = 1.0
        return
    odds = share / (1.0 - share)
    mode = min(np.int64((trials + 1) * share), trials)
    cdf[mode] = 1.0
    for v in range(mode, trials):
        cdf[v + 1] = cdf[v] * odds * (trials - v) / (v + 1)
    for v in range(mode, 0, -1):
        cdf[v - 1] = cdf[v] * v / (odds * (trials - v + 1)) if odds > 0.0 else 0.0
    total = 0.0
    for v in range(trials + 1):
        total += cdf[v]
        cdf[v] = total
    for v in range(trials + 1):
        cdf[v] /= total


@jit
def binomial_tables(n, asks, parts):
    """Return the distribution functions of what a class with each score wins in each sampled round, and guides.

    Those of round r are `cdf[starts[r]:]`, asks[r] + 1 numbers for each score. `guide[r, s, k]` is where to start
    for a uniform number in part k of [0, 1).
    """
    sampled = asks.size - 1 if asks[asks.size - 1] == n - 1 else asks.size
    starts = np.zeros(sampled + 1, np.int64)
    for r in range(sampled):
        starts[r + 1] = starts[r] + n * (asks[r] + 1)
    cdf = np.empty(starts[sampled])
    guide = np.empty((sampled, n, parts), np.int32)
    for r in range(sampled):
        width = asks[r] + 1
        for s in range(n):
            row = cdf[starts[r] + s * width : starts[r] + (s + 1) * width]
            _write_distribution(asks[r], s / (n - 1), row)
            v = 0
            for k in range(parts):
                while v < asks[r] and row[v] <= k / parts:
                    v += 1
                guide[r, s, k] = v
    return cdf, starts, guide


@jit
def halving_trials(asks, ties, cdf, starts, guide, scores, stream, first_trial, winners, cost):
    """Write the winner of each trial and add up the cost, but for distinct pairs, which are not known."""
    n = scores.shape[0]
    parts = guide.shape[2]
    classes, stay = np.empty(n, np.int64), np.empty(n, np.int64)
    wins, standing = np.empty(n, np.int64), np.empty(n, np.int64)
    for t in range(winners.size):
        key = fold(draw_key(stream, first_trial + t), BINOMIAL_DRAWS)
        for c in range(n):
            classes[c] = c
            wins[c] = 0
        alive = n
        r = 0
        winner = -2
        while winner == -2:
            cost[QUERIES] += alive * asks[r]
            cost[ROUNDS] += 1
            if asks[r] == n - 1:
                for k in range(alive):
                    standing[k] = scores[classes[k], t]
                k = settle(standing[:alive], ties, key, BY_HALVING)
                winner = classes[k] if k >= 0 else -1
                break
            width = asks[r] + 1
            for k in range(alive):
                c = classes[k]
                s = np.int64(scores[c, t])
                u = np.float64(mix(place(c, r) ^ key) >> UNIT_SHIFT) * UNIT
                at = starts[r] + s * width
                v = np.int64(guide[r, s, np.int64(u * parts)])
                while u >= cdf[at + v] and v < asks[r]:
                    v += 1
                wins[c] += v
                standing[k] = wins[c]
            alive = cut(standing[:alive], (alive + 1) // 2, ties, fold(key, np.uint64(r)), stay)
            for k in range(alive):
                classes[k] = classes[stay[k]]
            r += 1
            if alive <= 1:
                winner = classes[0] if alive == 1 else -1
        winners[t] = winner
