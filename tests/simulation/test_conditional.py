"""Conditional Monte Carlo: the exact part is exact, the average is unbiased, and the interval covers."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from pairsim import MaxWin, ParameterError, Poll, Similarity, TopK, Uniform, exact, simulate, sweep
from pairsim.kernels.conditional_max_win import max_win_failures, max_win_probabilities
from pairsim.kernels.conditional_poll import poll_trials
from pairsim.simulation.conditional import class_zero_scores, poll_tables
from pairsim.stats import Moments, binomial_interval, bounded_interval

TIES = {"random": 0, "lose": 1, "first": 2}


def naive_poll_probability(scores: list[int], target: int, l: int, ties: str) -> float:
    """P(a poll names `target`): sum over its sampled score and the number of rivals that tie with it."""
    n = len(scores)
    named = 0.0
    for v in range(l + 1):
        tied = [binom.pmf(v, l, scores[target] / (n - 1))]  # tied[t]: t rivals so far have v, none has more
        for c in range(n):
            if c == target:
                continue
            below, equal = binom.cdf(v - 1, l, scores[c] / (n - 1)), binom.pmf(v, l, scores[c] / (n - 1))
            if ties == "lose" or (ties == "first" and c < target):
                equal_stays, equal_ties = 0.0, 0.0
            elif ties == "first":
                equal_stays, equal_ties = equal, 0.0
            else:
                equal_stays, equal_ties = 0.0, equal
            longer = [probability * (below + equal_stays) for probability in tied] + [0.0]
            for t, probability in enumerate(tied):
                longer[t + 1] += probability * equal_ties
            tied = longer
        named += sum(probability / (t + 1) for t, probability in enumerate(tied))
    return named


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.data())
def test_poll_given_the_scores_is_exact(data):
    n = data.draw(st.integers(2, 14))
    l = data.draw(st.integers(1, 30))
    ties = data.draw(st.sampled_from(list(TIES)))
    scores = data.draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n))
    target, reference = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, n - 1))
    failures, agreements = np.empty((2, 1))
    columns = np.array([scores], np.uint16).T.copy()
    poll_trials(poll_tables(n, l), TIES[ties], columns, np.array([target]), np.array([reference]), failures, agreements)
    assert 1.0 - failures[0] == pytest.approx(naive_poll_probability(scores, target, l, ties), abs=1e-12)
    assert agreements[0] == pytest.approx(naive_poll_probability(scores, reference, l, ties), abs=1e-12)


@pytest.mark.parametrize(("n", "l"), [(200, 1), (200, 2), (300, 4), (120, 9)])
def test_crowds_of_ties_are_integrated_exactly(n, l):
    """With few samples hundreds tie: the long rules of the integral are used, and are as exact as the short ones."""
    rng = np.random.default_rng(n + l)
    scores = rng.binomial(n - 1, 0.5, n).tolist()
    scores[0] = n - 2
    failures, agreements = np.empty((2, 1))
    columns = np.array([scores], np.uint16).T.copy()
    poll_trials(poll_tables(n, l), 0, columns, np.zeros(1, np.int64), np.empty(0, np.int64), failures, agreements)
    assert 1.0 - failures[0] == pytest.approx(naive_poll_probability(scores, 0, l, "random"), rel=1e-10)


def test_a_tiny_poll_failure_keeps_its_digits():
    n, l = 40, 400
    scores = [39] + [10] * 39
    failures, agreements = np.empty((2, 1))
    columns = np.array([scores], np.uint16).T.copy()
    poll_trials(poll_tables(n, l), 1, columns, np.zeros(1, np.int64), np.empty(0, np.int64), failures, agreements)
    # class 0 always samples l wins; it fails when a rival does too (lose): 1 - (1 - q**l)**39 = 39 q**l to first order
    assert failures[0] == pytest.approx(39 * (10 / 39) ** l, rel=1e-9)
    assert 0.0 < failures[0] < 1e-200


def exact_fair_failure(scores: list[int], target: int, l: int) -> Fraction:
    """The probability that a poll with random ties does not name `target`, in fractions: no digit is lost."""
    n = len(scores)
    laws = [
        [math.comb(l, v) * Fraction(s, n - 1) ** v * Fraction(n - 1 - s, n - 1) ** (l - v) for v in range(l + 1)]
        for s in scores
    ]
    named = Fraction(0)
    for v in range(l + 1):
        tied = [laws[target][v]]  # tied[t]: t rivals have v, none has more
        for c in range(n):
            if c != target:
                below, equal = sum(laws[c][:v]), laws[c][v]
                tied = [
                    (tied[t] * below if t < len(tied) else 0) + (tied[t - 1] * equal if t else 0)
                    for t in range(len(tied) + 1)
                ]
        named += sum(probability / (t + 1) for t, probability in enumerate(tied))
    return 1 - named


@pytest.mark.parametrize(
    ("scores", "l"),
    [
        ([23] + [11] * 22 + [7], 60),  # ties at the top score only, all of them rare
        ([22] + [10, 11, 12] * 7 + [13, 14], 40),
        ([23] + [1] * 23, 30),
        ([12] + [11] * 22 + [22], 30),  # the target is not the leader
        ([12] * 24, 5),
    ],
)
def test_fair_polls_keep_all_their_digits(scores, l):
    failures, agreements = np.empty((2, 1))
    columns = np.array([scores], np.uint16).T.copy()
    poll_trials(poll_tables(len(scores), l), 0, columns, np.array([0]), np.array([1]), failures, agreements)
    assert failures[0] == pytest.approx(float(exact_fair_failure(scores, 0, l)), rel=1e-11, abs=0.0)
    assert agreements[0] == pytest.approx(1.0 - float(exact_fair_failure(scores, 1, l)), abs=1e-12)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.data())
def test_a_trial_has_the_same_digits_in_any_company(data):
    """Trials are looked at four at a time: what the others are, and how many there are, changes no bit."""
    n, l = data.draw(st.integers(2, 40)), data.draw(st.integers(1, 40))
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    trials = data.draw(st.integers(1, 70))
    columns = random.integers(0, n, (n, trials)).astype(np.uint16)
    truth, reference = random.integers(0, n, (2, trials))
    together, alone = np.empty((2, trials)), np.empty((2, 1))
    poll_trials(poll_tables(n, l), 0, columns, truth, reference, *together)
    for t in random.choice(trials, min(trials, 7), replace=False):
        one = np.ascontiguousarray(columns[:, t : t + 1])
        poll_trials(poll_tables(n, l), 0, one, truth[t : t + 1], reference[t : t + 1], *alone)
        assert alone[:, 0].tolist() == together[:, t].tolist()


def naive_max_win(games: dict[tuple[int, int], bool], n: int, p: float, ties: str) -> float:
    """P(max-win fails) given the games among classes 1 .. n - 1, over all answers of class 0's pairs."""
    base = [0] * n
    for (i, j), i_wins in games.items():
        base[i if i_wins else j] += 1
    failure = 0.0
    for beaten in itertools.product([True, False], repeat=n - 1):
        scores = [sum(beaten), *(base[c] + (not beaten[c - 1]) for c in range(1, n))]
        top = max(scores)
        tied = scores.count(top)
        success = 0.0
        if scores[0] == top:
            success = {"first": 1.0, "lose": float(tied == 1), "random": 1.0 / tied}[ties]
        probability = p ** sum(beaten) * (1.0 - p) ** (n - 1 - sum(beaten))
        failure += probability * (1.0 - success)
    return failure


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.integers(2, 8), st.randoms(use_true_random=False), st.sampled_from(list(TIES)), st.floats(0.0, 1.0))
def test_max_win_given_the_others_is_exact(n, random, ties, p):
    games = {(i, j): random.random() < 0.5 for i in range(1, n) for j in range(i + 1, n)}
    base = [0] * n
    for (i, j), i_wins in games.items():
        base[i if i_wins else j] += 1
    top = max(base[1:])
    heights = np.array([top])
    at_top, below_top = np.array([base[1:].count(top)]), np.array([base[1:].count(top - 1)])
    fail_at, fail_above = np.empty((2, 1))
    max_win_probabilities(n, TIES[ties], heights, at_top, below_top, fail_at, fail_above)
    missed = np.empty(1)
    max_win_failures(*class_zero_scores(n, p), heights, fail_at, fail_above, missed)
    assert missed[0] == pytest.approx(naive_max_win(games, n, p, ties), abs=1e-12)


@pytest.mark.parametrize("ties", list(TIES))
def test_many_trials_meet_the_exact_value(ties):
    """False alarm: 1e-6 for each interval; a value 1% off is rejected."""
    oracle = Uniform(8, 0.8)
    decoders = [MaxWin(ties), Poll(3, ties), Poll(20, ties), TopK(2, 3, ties=ties), TopK(3, 2, "maxwin", ties)]
    if ties == "first":
        decoders.pop()  # it reads class numbers twice, so that no rule without numbers does the same
    for decoder in decoders:
        truth = exact(oracle, decoder).success
        estimate = simulate(oracle, decoder, 400_000, method="conditional", confidence=1.0 - 1e-6)
        assert estimate.method == "conditional"
        assert estimate.low <= truth <= estimate.high
        assert not estimate.low <= truth * 1.01 <= estimate.high


@pytest.mark.parametrize(
    ("oracle", "decoder"),
    [
        (Uniform(6, 0.8), Poll(4)),
        (Uniform(6, 0.8), MaxWin()),
        (Uniform(12, 0.95), MaxWin("lose")),
        (Uniform(10, 0.97), Poll(30)),
        (Similarity([0.5, 0.3, 0.1, 0.1]), Poll(5, "first")),
    ],
    ids=str,
)
def test_intervals_cover_as_often_as_they_say(oracle, decoder):
    """600 runs of 64 trials at 90%: coverage is at least 0.85 (false alarm under 1e-4 were it 0.9)."""
    truth = exact(oracle, decoder).success
    runs = [simulate(oracle, decoder, 64, seed, 0.9, method="conditional", threads=1) for seed in range(600)]
    covered = sum(run.low <= truth <= run.high for run in runs)
    assert binomtest(covered, 600, 0.9, alternative="less").pvalue > 1e-4
    assert sum(run.low <= truth * 0.6 <= run.high for run in runs) < 60  # not so wide that anything passes


def test_the_interval_of_counts_is_close_to_clopper_pearson():
    for trials in (20, 100, 10_000):
        for failures in {0, 1, 2, trials // 10, trials // 2, trials - 1, trials}:
            mean = failures / trials
            spread = trials * mean * (1.0 - mean)
            ours = bounded_interval(Moments(trials, mean, spread, spread * (1.0 - 2.0 * mean)))
            theirs = binomial_interval(failures, trials)
            width = theirs[1] - theirs[0]
            assert ours == pytest.approx(theirs, abs=0.06 * width)


def test_moments_merge_like_the_whole_sample():
    values = np.random.default_rng(3).random(1000) ** 4
    parts = [values[:10], values[10:11], values[11:600], values[600:]]
    total = Moments()
    for part in parts:
        gaps = part - part.mean()
        total = total.plus(Moments(len(part), part.mean(), (gaps**2).sum(), (gaps**3).sum()))
    gaps = values - values.mean()
    assert (total.mean, total.second, total.third) == pytest.approx((values.mean(), (gaps**2).sum(), (gaps**3).sum()))


def test_a_sweep_over_p_gives_what_each_p_gives_alone():
    probabilities = (0.55, 0.7, 0.95)
    decoders = [MaxWin(), MaxWin("lose"), Poll("log"), Poll("3log"), TopK(3)]
    together = sweep([Uniform(20, p) for p in probabilities], decoders, trials=2500)
    for p in probabilities:
        alone = sweep([Uniform(20, p)], decoders, trials=2500)
        assert together[together["p"] == p].to_csv(index=False) == alone.to_csv(index=False)


def test_conditional_says_more_with_the_same_trials():
    decoder = Poll("5log")
    counted = simulate(Uniform(64, 0.9), decoder, 5000, method="simulated")
    computed = simulate(Uniform(64, 0.9), decoder, 5000)
    assert (counted.method, computed.method) == ("simulated", "conditional")
    assert computed.high - computed.low < (counted.high - counted.low) / 2
    assert computed.low <= counted.high
    assert counted.low <= computed.high


def test_methods_that_do_not_apply_are_refused():
    from pairsim import Adag

    with pytest.raises(ParameterError, match="'method' parameter"):
        simulate(Uniform(8, 0.9), Adag(), method="conditional")
    with pytest.raises(ParameterError, match="'method' parameter"):
        simulate(Uniform(8, 0.9), Adag(), method="guess")
    with pytest.raises(ParameterError, match="at most"):
        simulate(Uniform(512, 0.9), MaxWin(), method="exact")


def test_exact_rows_need_no_trial():
    from pairsim import Adag

    estimate = simulate(Uniform(10**6, 0.9), Adag())
    assert (estimate.method, estimate.trials) == ("exact", 0)
    assert estimate.low == estimate.success == estimate.high
    levels = math.ceil(math.log2(10**6))
    assert 0.9**levels <= estimate.success <= 0.9 ** (levels - 1)
