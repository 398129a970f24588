"""Tournaments scored 64 trials at a time are, trial for trial and bit for bit, those that the ask/tell decoders see."""

from __future__ import annotations

import numpy as np
import pytest
from decisions import decide

from pairsim import Matrix, MaxWin, Oracle, Ranked, Recorded, Similarity, Uniform
from pairsim.kernels.bits import SLAB_TRIALS, U_LANES
from pairsim.kernels.slabs import play_class_zero, play_slab
from pairsim.kernels.stream import stream_key
from pairsim.kernels.top_scores import unpack_scores
from pairsim.simulation.conditional import CONDITIONAL
from pairsim.simulation.slab import SlabTrials
from pairsim.simulation.workspace import Workspace

SIZES = [2, 3, 5, 15, 16, 17, 31, 32, 33, 48, 65, 100, 257, 300]  # around the tiles of 16, and well past them
TIES = ["random", "lose", "first"]


def any_matrix(n: int) -> Matrix:
    """Probabilities of every kind: certain, all but certain, fair, dyadic, and arbitrary doubles."""
    rng = np.random.default_rng(n)
    kinds = np.array([0.0, 1.0, 0.5, 0.75, 2.0**-40, 1.0 - 2.0**-53, 0.7, 1.0 / 3.0, np.nextafter(0.5, 1.0)])
    upper = np.where(rng.random((n, n)) < 0.5, rng.choice(kinds, (n, n)), rng.random((n, n)))
    upper = np.triu(upper, 1)
    return Matrix(upper + np.tril(1.0 - upper.T, -1))


def oracles(n: int) -> list[Oracle]:
    ranked = [Ranked(n, 0.9, 0.8, 0.5), Ranked(n, 0.6, 0.0, 0.7), Ranked(n, 0.9, 1.0, 0.0), Ranked(n, 0.7, 0.0, 0.0)]
    fewer = 4 if n <= 33 else 1 if n <= 65 else 0  # asked one by one, its answers take the longest
    return [Uniform(n, 0.7), Uniform(n, 0.0), Similarity.profile("zipf:1.0", n), any_matrix(n), *ranked[:fewer]]


def recorded_scores(oracle: Oracle, first: int, seed: int) -> np.ndarray:
    answers = Recorded.of(oracle, first + SLAB_TRIALS, seed).answers()[first:]
    scores = np.zeros((oracle.n, SLAB_TRIALS), np.int64)
    for k, (i, j) in enumerate(zip(*np.triu_indices(oracle.n, 1), strict=True)):
        scores[i] += answers[:, k]
        scores[j] += ~answers[:, k]
    return scores


def slab_scores(oracle: Oracle, first: int, seed: int, apart: bool) -> np.ndarray:
    """Score a slab in one go, or the wrong classes first and class 0 added to them."""
    n, stream, word = oracle.n, stream_key(seed, oracle.n), first // 64
    workspace = Workspace(n)
    slab = workspace.full
    play_slab(oracle.kernel(), n, 0, stream, word, slab, U_LANES)
    if apart:  # in a workspace that was used before
        play_slab(oracle.kernel(), n, 1, stream, word, workspace.others, U_LANES)
        play_class_zero(oracle.kernel(), n, stream, word, workspace.others, slab, workspace.answers, U_LANES)
    scores = np.empty((n, SLAB_TRIALS), np.uint16)
    unpack_scores(slab, n, scores)
    return scores


@pytest.mark.parametrize("n", SIZES)
def test_scores_are_those_of_the_recorded_answers(n):
    for place, oracle in enumerate(oracles(n)):
        for first in (0, SLAB_TRIALS) if n < 50 else (SLAB_TRIALS,):
            recorded = recorded_scores(oracle, first, seed=place)
            assert (slab_scores(oracle, first, place, apart=False) == recorded).all()
            assert (slab_scores(oracle, first, place, apart=True) == recorded).all()
            if n > 3 and oracle.p != 0.0:  # the comparison can fail: another seed is another tournament
                assert (slab_scores(oracle, first, place + 1, apart=False) != recorded).any()


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("n", SIZES)
def test_max_win_winners_are_those_of_the_ask_tell_decoder(n, ties):
    for oracle in oracles(n):
        truth = oracle.truth(SLAB_TRIALS, SLAB_TRIALS)
        trials = SlabTrials(oracle, stream_key(11, n), SLAB_TRIALS, truth, Workspace(n), None)
        fast = np.empty(SLAB_TRIALS, np.int64)
        assert CONDITIONAL.of(MaxWin()).names(trials, MaxWin(ties), fast)
        slow, _ = decide(oracle, MaxWin(ties), SLAB_TRIALS, 11, SLAB_TRIALS)
        assert fast.tolist() == slow


def test_ties_are_met_and_settled_in_every_way():
    """The equality above covers ties: there are many of them at n = 5, and each rule treats them differently."""
    oracle = Uniform(5, 0.6)
    random, lose, first = (decide(oracle, MaxWin(ties), 2000, 1)[0] for ties in TIES)
    tied = [t for t in range(2000) if lose[t] == -1]
    assert 300 < len(tied) < 1500
    assert any(random[t] != first[t] for t in tied)
    assert all(random[t] == first[t] == lose[t] for t in range(2000) if t not in set(tied))


def test_scores_add_up():
    for n in (33, 300):
        scores = slab_scores(Uniform(n, 0.9), 0, 5, apart=False)
        assert (scores.sum(axis=0) == n * (n - 1) // 2).all()
        assert scores.max() <= n - 1
