"""Functions that are pasted into compiled loops leave the reference counts of a decoder's state as they were."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from pairsim import Uniform, simulate
from pairsim.decoders import REGISTRY
from pairsim.kernels.driver import list_round, name_winner, record_round, start_decoder
from pairsim.kernels.stream import stream_key
from pairsim.replay import replay_trial

N = 9


def reference_counts(state: Any) -> list[tuple[int, int]]:
    """Return, of each array of a state, the count of its memory and that of the Python object."""
    if isinstance(state, np.ndarray):
        return [(state.base.refcount, sys.getrefcount(state))]
    return [each for part in state for each in reference_counts(part)]


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_rounds_from_outside_keep_them(name: str) -> None:
    kernel = REGISTRY[name]().kernel(N)
    state = start_decoder(kernel, N, stream_key(0, N))
    before = reference_counts(state)
    queries, rounds = list_round(kernel, state), 0
    while len(queries):
        record_round(kernel, state, queries, np.arange(len(queries)) % 2 == rounds % 2)
        queries, rounds = list_round(kernel, state), rounds + 1
    name_winner(kernel, state)
    assert rounds > 0
    assert reference_counts(state) == before
    kept = list(state) if isinstance(state, tuple) else [state]  # negative control: one reference more
    assert reference_counts(state) != before
    del kept


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_replaying_many_trials_predicts_what_simulating_does(name: str) -> None:
    """A state whose memory was given back too early gave other winners, or none, after a few trials."""
    oracle, decoder = Uniform(16, 0.8), REGISTRY[name]()
    replayed = [replay_trial(oracle, decoder, 0, trial) for trial in range(64)]
    found = simulate(oracle, decoder, 64, method="simulated", threads=1)
    assert sum(each.winner == each.truth for each in replayed) == round(64 * found.success)
    assert sum(each.queries for each in replayed) == round(64 * found.queries)
