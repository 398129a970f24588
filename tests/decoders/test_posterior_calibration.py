"""POSTERIOR says how likely it is right: over many trials that is the share of right answers, and of credible sets."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

from pairsim import Posterior, Uniform, pick
from pairsim.kernels.driver import decode_trials
from pairsim.kernels.stream import stream_key

FALSE_ALARM = 1e-4  # of the whole grid, and of each test below
GRID = [
    (n, p, Posterior(p, stop, budget, rounds))
    for n, p, stop, (budget, rounds) in itertools.product(
        (3, 8, 32, 128), (0.7, 0.9), (0.8, 0.99), ((None, None), (None, 4), (40, None), (None, 18))
    )
]
TRIALS = 200_000 // len(GRID) + 1


def outcomes(n: int, p: float, decoder: Posterior, trials: int, seed: int) -> tuple[NDArray[np.bool_], NDArray[float]]:
    """Return whether each trial was decoded correctly, and how likely the decoder found that."""
    winners, cost, sure = np.empty(trials, np.int64), np.zeros(3, np.int64), np.empty(trials)
    decode_trials(Uniform(n, p).kernel(), decoder.kernel(n), n, stream_key(seed, n), 0, 0, winners, cost, sure)
    return winners == 0, sure


def distance(right: NDArray[np.bool_], sure: NDArray[float]) -> float:
    """Return by how many standard deviations the number of right answers differs from what was expected."""
    return float((right.sum() - sure.sum()) / math.sqrt((sure * (1.0 - sure)).sum()))


def test_the_share_of_right_answers_is_the_mean_confidence() -> None:
    """200,000 trials: each point of the grid at its part of the false-alarm rate, and all of them together."""
    found = [outcomes(n, p, decoder, TRIALS, seed) for seed, (n, p, decoder) in enumerate(GRID)]
    far = norm.isf(FALSE_ALARM / len(GRID) / 2)
    wrong = [(n, p, each.spec) for (n, p, each), pair in zip(GRID, found, strict=True) if abs(distance(*pair)) > far]
    assert not wrong
    right, sure = (np.concatenate(part) for part in zip(*found, strict=True))
    assert abs(distance(right, sure)) < norm.isf(FALSE_ALARM / 2)


@pytest.mark.parametrize("rounds", [None, 18])
def test_with_a_wrong_p_it_is_not(rounds: int | None) -> None:
    """Negative control: assumed 0.9 where 0.8 is true it is too sure, assumed 0.7 it is not sure enough."""
    far = norm.isf(FALSE_ALARM / 2)
    assert distance(*outcomes(32, 0.8, Posterior(0.9, 0.95, None, rounds), 5000, 1)) < -far
    assert distance(*outcomes(32, 0.8, Posterior(0.7, 0.95, None, rounds), 5000, 1)) > far


@pytest.mark.parametrize("rounds", [None, 5])
def test_with_p_unknown_it_is_calibrated_over_its_prior(rounds: int | None) -> None:
    """One p in the middle of each of 1,000 parts of (1/2, 1); at one low p alone it is too sure (negative control)."""
    decoder, far = Posterior(None, 0.9, None, rounds), norm.isf(FALSE_ALARM / 2)
    found = [outcomes(12, 0.5 + (k + 0.5) / 2000, decoder, 20, k) for k in range(1000)]
    right, sure = (np.concatenate(part) for part in zip(*found, strict=True))
    assert abs(distance(right, sure)) < far
    assert distance(*outcomes(12, 0.55, decoder, 2000, 1)) < -far


@pytest.mark.parametrize("rounds", [None, 3])
def test_credible_sets_hold_the_true_class_as_often_as_they_say(rounds: int | None) -> None:
    """Their own probability is the expected share; it is at least the level, and no smaller set would reach it."""
    rng, trials, level = np.random.default_rng(7), 1500, 0.8
    held, expected = np.empty(trials, np.bool_), np.empty(trials)
    for trial in range(trials):
        truth = int(rng.integers(6))

        def judge(i: int, j: int, truth: int = truth) -> bool:
            return bool(rng.random() < (0.75 if i == truth else 0.25 if j == truth else 0.5))

        choice = pick(judge, 6, Posterior(0.75, 0.9, 9, rounds), seed=trial)
        assert choice is not None
        classes = choice.credible_set(level)
        assert classes is not None
        assert choice.probabilities is not None
        assert choice.probabilities.sum() == pytest.approx(1.0)
        assert classes[0] == choice
        expected[trial] = choice.probabilities[classes].sum()
        assert expected[trial] >= level - 1e-9
        assert choice.probabilities[classes[:-1]].sum() < level
        held[trial] = truth in classes
    assert abs(distance(held, expected)) < norm.isf(FALSE_ALARM / 2)
    assert distance(held, np.full(trials, 0.97)) < -norm.isf(FALSE_ALARM / 2)  # negative control: a larger claim
