"""Observed success is exact or averaged over draws; predictions are judged on unseen rows; intervals cover."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from pairsim import (
    Adag,
    Champion,
    Ddag,
    Halving,
    MaxWin,
    Poll,
    Quick,
    Ranked,
    Recorded,
    TopK,
    Uniform,
    exact,
    fit_oracles,
    simulate,
)
from pairsim.fitting import compare, fit_ranked, traits_of
from pairsim.fitting.folds import assign_folds, jackknife_variance, judge, student_quantile
from pairsim.fitting.observed import MOST_DRAWS, OWN_SHARE, RecordedRows
from pairsim.fitting.parameters import NOT_IDENTIFIED, ranked_parameters
from pairsim.fitting.traits import RowCounts, count_rows
from pairsim.stats import Moments, binomial_interval, bounded_interval

RARE = 1e-4  # false alarms of a statistical test


def counts_of(recorded: Recorded) -> RowCounts:
    return count_rows(recorded, np.zeros(recorded.rows, np.int64))


def part_of(recorded: Recorded, rows: np.ndarray) -> Recorded:
    return Recorded(recorded.answers()[rows], recorded.truth(0, recorded.rows)[rows])


# --- observed success ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "decoder",
    [MaxWin(), MaxWin("lose"), Poll("log"), Poll("3log", "first"), Poll(2, "lose"), Adag(), Ddag(), Adag("given")],
    ids=lambda decoder: decoder.spec,
)
def test_the_observed_success_is_the_exact_value_over_the_rows_whatever_the_seed(decoder):
    recorded = Recorded.of(Ranked(7, 0.85, 0.8, 0.5), 60, seed=3)
    fits = [fit_oracles(recorded, [decoder], trials=200, folds=2, seed=seed) for seed in (0, 1)]
    value = exact(recorded, decoder)
    for each in fits:
        (seen,) = each.observed
        assert (seen.success, seen.draws) == (pytest.approx(value.success, abs=1e-12), 0)
        assert (seen.low, seen.high) == pytest.approx((value.low, value.high), abs=1e-12)
    # one draw per row, as it was, is something else, and another with each seed
    drawn = [simulate(recorded, decoder, seed=seed).success for seed in range(8)]
    always = decoder.spec in ("max-win:ties=lose", "adag:order=given")
    assert (drawn == pytest.approx([value.success] * 8)) == always


def test_decoders_that_agree_with_max_win_have_its_exact_value():
    rows = RecordedRows(Recorded.of(Ranked(7, 0.85), 40))
    for ties in ("random", "lose", "first"):
        for twin in (Quick(ties), Champion(ties)):
            assert (rows.exact_probabilities(twin) == rows.exact_probabilities(MaxWin(ties))).all()
    assert rows.exact_probabilities(Quick("any")) is None


@pytest.mark.parametrize("decoder", [TopK(3, 4), TopK(4, 2, "maxwin"), Halving(3), Adag()], ids=lambda d: d.spec)
def test_without_an_exact_value_many_draws_are_averaged(decoder):
    recorded = Recorded.of(Ranked(20, 0.9, 0.7, 0.4), 50, seed=1)
    rows = RecordedRows(recorded)
    seen, probabilities = rows.observe(decoder, seed=0, threads=2)
    assert seen.draws >= 8
    own = (probabilities * (1.0 - probabilities)).mean() / (seen.draws - 1)
    assert own <= OWN_SHARE * probabilities.var() or seen.draws == MOST_DRAWS
    # against decoders that really ask, one draw per row and seed
    asked = np.array([simulate(recorded, decoder, seed=seed).success for seed in range(400)])
    error = np.sqrt(
        asked.var(ddof=1) / len(asked) + (probabilities * (1.0 - probabilities)).sum() / seen.draws / seen.rows**2
    )
    assert abs(asked.mean() - seen.success) < 3.9 * error  # false alarms: 1e-4
    other = rows.observe(TopK(2, 1), seed=0)[0].success
    assert abs(asked.mean() - other) > 3.9 * error  # another decoder is told apart


# --- folds -----------------------------------------------------------------------------------------------------------


def test_fits_without_a_fold_see_all_other_rows_and_no_row_of_it():
    recorded = Recorded.of(Ranked(6, 0.8), 23, seed=2)
    group = assign_folds(23, 4, seed=5)
    assert sorted(np.bincount(group).tolist()) == [5, 6, 6, 6]
    assert (group != assign_folds(23, 4, seed=6)).any()
    counts = count_rows(recorded, group)
    for fold in range(4):
        found, expected = counts.traits(fold), traits_of(part_of(recorded, group != fold))
        assert found.losses.tolist() == expected.losses.tolist()
        assert found.beats.tolist() == expected.beats.tolist()
        for name in ("rows", "accuracy", "circles", "winner", "runner_up"):
            assert getattr(found, name) == pytest.approx(getattr(expected, name))


def test_each_row_is_judged_by_a_fit_that_has_not_seen_it():
    # one row says that the true class always wins, the other that it never does: a fit to one is wrong on the other
    recorded = Recorded([[True] * 10, [False] * 4 + [True] * 6])
    fits = fit_oracles(recorded, [MaxWin()], trials=1000, folds=2)
    assert fits["uniform"].oracle.p == 0.5
    assert fits["uniform"].predictions[0].success == 0.5  # the mean of 1 and 0; to both rows at once: 0.2
    assert simulate(Uniform(5, 0.5), MaxWin(), 1000).success == pytest.approx(0.2, abs=0.05)


@pytest.mark.parametrize("folds", [5, 7])
def test_the_jackknife_is_that_of_a_mean(folds):
    numbers = np.random.default_rng(0).normal(size=3000) ** 2
    group = np.arange(3000) % folds
    kept = 3000 - np.bincount(group)
    found = [
        jackknife_variance(sample.mean(), (sample.sum() - np.bincount(group, sample)) / kept, kept)
        for sample in (np.random.default_rng(seed).permutation(numbers) for seed in range(200))
    ]
    assert np.mean(found) == pytest.approx(numbers.var() / 3000, rel=0.2)  # 5 standard errors at 4 degrees of freedom
    assert student_quantile(0.95, 9) == pytest.approx(2.262, abs=0.001)


def test_failures_that_no_row_shows_leave_room():
    fits = fit_oracles(Recorded.of(Ranked(6, 1.0), 50), [MaxWin()], trials=1000)
    (judged,) = fits["ranked"].predictions
    assert (judged.distance, judged.high) == (0.0, pytest.approx(np.log(40) / 50))


# --- do the intervals cover? -----------------------------------------------------------------------------------------

TRUE = Ranked(8, 0.85, 0.8, 0.5)
SAMPLES, ROWS, TRIALS = 40, 200, 16_384
DECODERS = [MaxWin(), Poll("3log")]


@pytest.fixture(scope="module")
def judged():
    """Return what the folds say of ranked in samples of rows that a ranked oracle gave, with the observed success."""
    found = []
    for sample in range(SAMPLES):
        recorded = Recorded.of(TRUE, ROWS, seed=70_000 + sample)
        counts = count_rows(recorded, assign_folds(ROWS, 8, sample))
        parts = [fit_ranked(counts.traits(fold)) for fold in range(8)]
        predicted = compare._predict(fit_ranked(counts.traits()), parts, DECODERS, TRIALS, sample, 1, lambda step: None)
        rows = RecordedRows(recorded)
        for decoder, foreseen in zip(DECODERS, predicted, strict=True):
            probabilities = rows.exact_probabilities(decoder)
            levels = {level: judge(decoder.spec, probabilities, counts.group, foreseen, level) for level in (0.5, 0.95)}
            found.append((decoder.spec, probabilities, foreseen, levels))
    return found


def covered_too_seldom(covered: int, confidence: float) -> bool:
    return bool(binom.cdf(covered, SAMPLES, confidence) < RARE)


def covered_too_often(covered: int, confidence: float) -> bool:
    return bool(binom.sf(covered - 1, SAMPLES, confidence) < RARE)


@pytest.mark.parametrize("decoder", DECODERS, ids=lambda decoder: decoder.spec)
def test_the_distance_of_the_true_model_has_an_interval_that_covers_0(judged, decoder):
    mine = [each[1:] for each in judged if each[0] == decoder.spec]
    for level in (0.5, 0.95):
        covered = sum(levels[level].low <= 0.0 <= levels[level].high for _, _, levels in mine)
        assert not covered_too_seldom(covered, level)
    half = sum(levels[0.5].low <= 0.0 <= levels[0.5].high for _, _, levels in mine)
    assert not covered_too_often(half, 0.5)
    # controls that must fail: the noise of the simulation alone is too little ...
    short = sum(abs(levels[0.95].distance) <= 1.96 * predicted.error for _, predicted, levels in mine)
    assert covered_too_seldom(short, 0.95)
    # ... and that of the rows alone too much: rows move the fit the same way
    long = 0
    for probabilities, _, levels in mine:
        apart = probabilities - probabilities.mean()
        moments = Moments(ROWS, probabilities.mean(), (apart**2).sum(), (apart**3).sum())
        low, high = bounded_interval(moments, 0.5)
        long += low <= levels[0.5].success <= high
    assert covered_too_often(long, 0.5)


def test_the_intervals_of_the_parameters_cover():
    oracle, rows = Ranked(16, 0.85, 0.8, 0.6), 100
    truth, pairs = (oracle.p, oracle.order, oracle.difficulty), rows * 15
    hits, short = np.zeros(3, int), 0
    for sample in range(SAMPLES):
        counts = counts_of(Recorded.of(oracle, rows, seed=900 + sample))
        found = ranked_parameters(fit_ranked(counts.traits()), counts, 0.9)
        hits += [each.low <= value <= each.high for each, value in zip(found, truth, strict=True)]
        low, high = binomial_interval(pairs - int(counts.losses.sum()), pairs, 0.9)
        short += low <= oracle.p <= high
    assert not any(covered_too_seldom(int(each), 0.9) for each in hits)
    assert covered_too_seldom(short, 0.9)  # control: the pairs of a row are not independent


# --- a difficulty that the rows do not determine ---------------------------------------------------------------------


def test_a_difficulty_that_is_not_identified_is_reported_as_such():
    on_zero = 0
    for seed in range(12):
        counts = counts_of(Recorded.of(Ranked(8, 0.99, 0.95, 0.6), 60, seed=seed))
        oracle = fit_ranked(counts.traits())
        difficulty = ranked_parameters(oracle, counts, 0.95)[2]
        assert difficulty.low <= oracle.difficulty <= difficulty.high
        on_zero += oracle.difficulty < 0.01
        if oracle.difficulty < 0.01:
            assert difficulty.low == 0.0
            assert difficulty.note == NOT_IDENTIFIED
            assert not difficulty.identified
    assert on_zero >= 2  # accurate models: some fits are 0 where 0.6 is right


def test_a_difficulty_that_is_known_is_not_reported():
    counts = counts_of(Recorded.of(Ranked(16, 0.9, 0.8, 0.5), 500))
    difficulty = ranked_parameters(fit_ranked(counts.traits()), counts, 0.95)[2]
    assert (difficulty.note, difficulty.identified) == ("", True)
    assert 0.4 < difficulty.low < 0.5 < difficulty.high < 0.6
    counts = counts_of(Recorded.of(Uniform(16, 0.8), 500))
    difficulty = ranked_parameters(fit_ranked(counts.traits()), counts, 0.95)[2]
    assert (difficulty.note, difficulty.low, difficulty.identified) == ("may be 0", 0.0, True)
    assert difficulty.high < 0.05


def test_the_command_says_that_the_difficulty_is_not_identified(pairsim_command, tmp_path):
    accurate, plain = tmp_path / "accurate.npz", tmp_path / "plain.npz"
    Recorded.of(Ranked(8, 0.995), 60).save(accurate)
    Recorded.of(Ranked(8, 0.85), 300).save(plain)
    options = ("--decoder", "max-win", "--trials", "200", "--folds", "2")
    table = pairsim_command("fit-oracle", accurate, *options)
    said = "difficulty of ranked is not identified by these rows"
    assert said in " ".join(table.out.split())
    records = pairsim_command("fit-oracle", accurate, *options, "--format", "csv")
    assert (records.code, records.err.count(said), records.out.count("\n")) == (0, 1, 2)
    assert said not in " ".join(pairsim_command("fit-oracle", plain, *options).out.split())
