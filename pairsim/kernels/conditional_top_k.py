"""TOP-k on known scores: the poll is drawn as one binomial per class, the final is read off the tournament."""

from __future__ import annotations

import numpy as np

from pairsim.kernels.driver import QUERIES, ROUNDS
from pairsim.kernels.jit import inner, jit
from pairsim.kernels.protocol import low_wins
from pairsim.kernels.stream import SHIFT_11 as UNIT_SHIFT
from pairsim.kernels.stream import UNIT, draw_key, fold, mix, move_trial, new_trial, place
from pairsim.kernels.ties import BY_TOP_K, cut, settle

BINOMIAL_DRAWS = np.uint64(3)  # keeps these draws apart from those of a poll that is really asked


@inner
def _invert(cdf, guide, u):
    """Return the smallest v with u < cdf[v]; `guide` says where to start for each of its equal parts of [0, 1)."""
    v = guide[np.int64(u * guide.size)]
    while u >= cdf[v] and v + 1 < cdf.size:
        v += 1
    return v


@jit
def top_k_trials(oracle, decoder, cdf, guide, scores, stream, first_trial, winners, cost):
    """Write the winner of each trial and add up the cost, but for distinct pairs, which are not known.

    `cdf[s]` and `guide[s]` are the distribution of a sampled score given the score s.
    """
    n = scores.shape[0]
    sampled = np.empty(n, np.int64)
    candidates = np.empty(decoder.k, np.int64)
    finals = np.empty(decoder.k, np.int64)
    trial = new_trial()
    for t in range(winners.size):
        key = fold(draw_key(stream, first_trial + t), BINOMIAL_DRAWS)
        for c in range(n):
            s = scores[c, t]
            u = np.float64(mix(place(c, 0) ^ key) >> UNIT_SHIFT) * UNIT
            sampled[c] = _invert(cdf[s], guide[s], u)
        size = cut(sampled, decoder.k, decoder.ties, key, candidates)
        asked = size * (n - 1) if decoder.rescore else size * (size - 1) // 2
        cost[QUERIES] += n * decoder.l + asked
        cost[ROUNDS] += 2 if asked else 1
        winners[t] = -1
        if size == 0:
            continue
        finals[:size] = 0
        if decoder.rescore:
            for k in range(size):
                finals[k] = scores[candidates[k], t]
        else:
            move_trial(trial, stream, first_trial + t)
            for a in range(size):
                for b in range(a + 1, size):
                    a_wins = low_wins(oracle, trial, candidates[a], candidates[b])
                    finals[a] += a_wins
                    finals[b] += not a_wins
        k = settle(finals[:size], decoder.ties, key, BY_TOP_K)
        if k >= 0:
            winners[t] = candidates[k]
