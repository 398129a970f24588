"""The ranked oracle: what its three numbers promise, each on its own and exactly."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.special import ndtr, ndtri
from scipy.stats import binom, binomtest, chisquare
from strategies import SEEDS, probabilities

from pairsim import Adag, MaxWin, ParameterError, Poll, Ranked, Recorded, TopK, Uniform, exact, plan, simulate, sweep
from pairsim.bounds import bound
from pairsim.exact_values import ExactUnavailable

FALSE_ALARM = 1e-6  # of each statistical test; the seeds are fixed
SHARES = [(order, difficulty) for order in (0.0, 0.6, 1.0) for difficulty in (0.0, 0.5, 1.0)]


def table(oracle: Ranked, trials: int, seed: int) -> np.ndarray:
    """Return won[trial, i, j]: whether i beats j."""
    n, answers = oracle.n, Recorded.of(oracle, trials, seed).answers()
    won = np.zeros((trials, n, n), np.bool_)
    low, high = np.triu_indices(n, 1)
    won[:, low, high], won[:, high, low] = answers, ~answers
    return won


def circles(won: np.ndarray) -> np.ndarray:
    """Say of each trial whether classes 1, 2 and 3 beat each other in a circle."""
    return (won[:, 1, 2] == won[:, 2, 3]) & (won[:, 2, 3] == won[:, 3, 1])


def fits(count: int, trials: int, probability: float) -> bool:
    return bool(binomtest(int(count), trials, probability).pvalue > FALSE_ALARM)


@settings(derandomize=True, deadline=None, max_examples=30)
@given(probabilities(), SEEDS)
def test_without_order_and_difficulty_it_is_uniform_answer_by_answer(p: float, seed: int) -> None:
    assert Recorded.of(Ranked(7, p, 0.0, 0.0), 70, seed) == Recorded.of(Uniform(7, p), 70, seed)


def test_without_order_and_difficulty_the_estimates_are_those_of_uniform() -> None:
    panel = [MaxWin(), Poll("log"), TopK(3, 4)]
    for n in (5, 40):
        same, other, control = (
            simulate(oracle, panel, 2000, 3, method="simulated")
            for oracle in (Uniform(n, 0.8), Ranked(n, 0.8, 0.0, 0.0), Ranked(n, 0.8, 0.0, 0.1))
        )
        assert same == other != control


@pytest.mark.parametrize(("order", "difficulty"), SHARES)
@pytest.mark.parametrize("p", [0.0, 0.3, 0.97, 1.0])
def test_p_is_the_probability_of_a_pair_with_the_true_class_over_all_trials(p, order, difficulty):
    won = table(Ranked(3, p, order, difficulty), 20_000, 5)
    for other in (1, 2):
        assert fits(won[:, 0, other].sum(), 20_000, p)
    assert fits(won[:, 1, 2].sum(), 20_000, 0.5)
    if p == 0.97:
        assert not fits(won[:, 0, 1].sum(), 20_000, 0.955)  # the test can fail


@pytest.mark.parametrize("order", [0.0, 0.3, 0.8, 0.95, 1.0])
def test_circles_are_as_rare_as_the_order_says(order):
    trials = 20_000
    count = circles(table(Ranked(4, 0.9, order, 0.5), trials, 6)).sum()
    assert fits(count, trials, max(0.0, 0.25 - 1.5 / math.pi * math.asin(order / 2)))
    assert not fits(count, trials, 0.25 - 1.5 / math.pi * math.asin(abs(order - 0.1) / 2))


def test_a_strict_order_has_no_circle_at_all():
    won = table(Ranked(9, 0.8, 1.0, 0.3), 500, 1)[:, 1:, 1:]
    assert (np.sort(won.sum(2), axis=1) == np.arange(8)).all()


@pytest.mark.parametrize(("order", "difficulty"), [(0.0, 0.4), (0.9, 0.4), (1.0, 0.8), (0.5, 0.0)])
def test_losses_of_the_true_class_are_a_mixture_of_binomials_whatever_the_order(order, difficulty):
    n, p, trials = 8, 0.8, 20_000
    seen = np.bincount((~table(Ranked(n, p, order, difficulty), trials, 8)[:, 0, 1:]).sum(1), minlength=n)

    def expected(share: float) -> np.ndarray:
        nodes, weights = np.polynomial.hermite_e.hermegauss(120)
        lost = np.clip(ndtr(-(ndtri(p) + math.sqrt(share) * nodes) / math.sqrt(1.0 - share)), 1e-12, 1.0 - 1e-12)
        law = (binom.pmf(np.arange(n)[:, None], n - 1, lost) * weights).sum(1)
        return law / law.sum() * trials

    assert chisquare(seen, expected(difficulty)).pvalue > FALSE_ALARM
    assert chisquare(seen, expected(abs(difficulty - 0.1))).pvalue < FALSE_ALARM


def test_at_full_difficulty_the_true_class_wins_all_or_none():
    wins = table(Ranked(6, 0.7, 0.5, 1.0), 2000, 2)[:, 0, 1:].sum(1)
    assert set(wins) == {0, 5}


def test_the_true_class_loses_to_the_strong():
    won = table(Ranked(10, 0.9, 1.0, 0.5), 4000, 4)
    lost = won[:, 1:, 0]
    ranks = won[:, 1:, 1:].sum(2)  # 8 is the strongest of the wrong classes, 0 the weakest
    hard = lost.any(1)
    assert (lost & (ranks == 8)).any(1)[hard].all()  # in a strict order, who loses at all loses to the strongest
    weak = table(Ranked(10, 0.9, 0.0, 0.5), 4000, 4)
    assert not (weak[:, 1:, 0] & (weak[:, 1:, 1:].sum(2) == 8)).any(1)[weak[:, 1:, 0].any(1)].all()


@pytest.mark.parametrize("decoder", [Poll("3log"), TopK(4, "log")], ids=lambda decoder: decoder.spec)
def test_probabilities_given_the_scores_agree_with_counted_trials(decoder):
    oracle = Ranked(24, 0.95, 0.9, 0.6)
    smooth, counted = (simulate(oracle, decoder, 20_000, seed=3, method=m) for m in ("conditional", "simulated"))
    assert abs(smooth.success - counted.success) < 5.0 * math.hypot(smooth.standard_error, counted.standard_error)
    assert smooth.standard_error < counted.standard_error or decoder.name == "top-k"


def test_reality_differs_from_coin_flips():
    """What the oracle is for: with the same p, a poll that does well on coin flips fails on ranked answers."""
    flips, ranked = (simulate(oracle, Poll("3log"), 2000) for oracle in (Uniform(64, 0.99), Ranked(64, 0.99)))
    assert flips.low > 0.85
    assert ranked.high < 0.4


def test_a_hundred_thousand_classes_are_asked_lazily():
    found = simulate(Ranked(100_000, 0.9999), Adag(), trials=3, threads=1)
    assert found.queries == 99_999


def test_plans_and_sweeps_take_it():
    oracle = Ranked(20, 0.99)
    assert plan(oracle, 0.5, trials=1024).options[0].method == "simulated"
    rows = sweep([oracle, Ranked(20, 0.99, 0.5)], [MaxWin(), Poll(3)], trials=1024)
    assert rows["oracle"].unique().tolist() == [
        "ranked:order=0.95,difficulty=0.6",
        "ranked:order=0.5,difficulty=0.6",
    ]
    assert rows["p"].tolist() == [0.99] * 4


def test_what_has_no_exact_value_or_bound_says_so():
    with pytest.raises(ExactUnavailable, match="use simulate"):
        exact(Ranked(5, 0.9), Adag())
    with pytest.raises(ParameterError, match="uniform, similarity or matrix"):
        bound(Ranked(5, 0.9), MaxWin())
    with pytest.raises(ParameterError, match="'conditional' for max-win"):
        simulate(Ranked(5, 0.9), MaxWin(), 10, method="conditional")


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((1, 0.5), "n"),
        ((3, 1.1), "p"),
        ((3, math.nan), "p"),
        ((3, 0.9, -0.1), "order"),
        ((3, 0.9, 0.5, 2), "difficulty"),
    ],
)
def test_numbers_that_are_no_shares_are_refused(arguments, name):
    with pytest.raises(ParameterError, match=f"The '{name}' parameter of Ranked must be an? "):
        Ranked(*arguments)


def test_it_is_frozen_and_its_repr_evaluates_back():
    oracle = Ranked(5, 1 / 3, 0.1, 0.7)
    assert eval(repr(oracle)) == oracle
    assert oracle != Ranked(5, 1 / 3, 0.1, 0.6)
    with pytest.raises(AttributeError):
        oracle.order = 0.5
    assert (oracle.matrix() == Uniform(5, 1 / 3).matrix()).all()
