"""What single trials cost: for quantiles, which sums over blocks cannot give."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairsim.decoders import Decoder
from pairsim.kernels.driver import decode_trials
from pairsim.kernels.stream import stream_key
from pairsim.oracles import Oracle
from pairsim.oracles.labels import without_labels


def trial_costs(
    oracle: Oracle, decoder: Decoder, trials: int, seed: int, work: float, least: int = 4
) -> NDArray[np.int64]:
    """Return [queries, distinct, rounds] of trials 0, 1, ..., one row each.

    Fewer than `trials` where their queries add up to `work`, but at least `least` of them.

    Examples
    --------
    >>> from pairsim import Poll, Uniform
    >>> trial_costs(Uniform(8, 0.9), Poll(2), trials=3, seed=0, work=1e6)[:, [0, 2]].tolist()
    [[16, 1], [16, 1], [16, 1]]
    """
    n, decoder = oracle.n, without_labels(oracle, decoder)
    asks, rules, stream = oracle.kernel(), decoder.kernel(n), stream_key(seed, n)
    repeats = decoder.cost(n).queries if decoder.repeats else 0
    costs, winner, unsure = np.zeros((trials, 3), np.int64), np.empty(1, np.int64), np.empty(0)
    queries = 0
    for trial in range(trials):
        if queries >= work and trial >= least:
            return costs[:trial]
        decode_trials(asks, rules, n, stream, trial, repeats, winner, costs[trial], unsure)
        queries += int(costs[trial, 0])
    return costs
