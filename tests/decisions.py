"""What the compiled decoders decide, trial by trial: the one place where the tests call the trial loop itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pairsim.kernels.driver import decode_trials
from pairsim.kernels.stream import stream_key

if TYPE_CHECKING:
    from pairsim import Decoder, Oracle


def decide(
    oracle: Oracle, decoder: Decoder, count: int, seed: int, first: int = 0
) -> tuple[list[int], tuple[int, int, int]]:
    """Return the winners of trials first .. first + count - 1 and the sums of queries, distinct and rounds."""
    winners = np.full(count, -7, np.int64)  # no decoder names class -7: a trial that is left out shows
    spent = np.zeros(3, np.int64)
    room = decoder.cost(oracle.n).queries if decoder.repeats else 0
    stream = stream_key(seed, oracle.n)
    decode_trials(oracle.kernel(), decoder.kernel(oracle.n), oracle.n, stream, first, room, winners, spent, np.empty(0))
    queries, distinct, rounds = spent.tolist()
    return winners.tolist(), (queries, distinct, rounds)
