"""Stopping early: estimates without bias, intervals that cover, and rules that say the same everywhere."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaincinv
from scipy.stats import binom, norm
from sweep_tools import counted_runs, finished_cells, small_blocks, swept

from pairsim import Adag, Ddag, MaxWin, ParameterError, Poll, Uniform, exact
from pairsim.simulation.tally import Tally
from pairsim.stats import Moments, binomial_interval
from pairsim.sweeps.stopping import (
    MOST_TRIALS,
    Stop,
    count_for_precision,
    inverse_estimate,
    inverse_interval,
    make_stop,
    stopped_failure,
)

FALSE_ALARM = 1e-6  # the probability that a right program fails one of the statistical tests with another seed
CASES = [(1, 2, 40), (1, 3, 40), (3, 2, 12), (4, 3, 12), (5, 6, 12), (8, 4, 6)]  # (block, k, most blocks)
PROBABILITIES = (0.0, 0.01, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 0.99, 1.0)


def outcomes(block: int, wanted: int, most: int) -> list[tuple[int, int, int]]:
    """Return all (seen before, trials before, seen in the last block); a sample that met its cap has seen < wanted."""
    found = []
    for earlier in range(0, most * block, block):
        for seen in range(min(wanted, earlier + 1)):
            least = 0 if earlier + block == most * block else wanted - seen
            found += [(seen, earlier, more) for more in range(least, block + 1)]
    return found


def probability_of(outcome: tuple[int, int, int], block: int, q: float) -> float:
    """Return the probability of an outcome: it was not over before exactly because fewer than wanted were seen."""
    seen, earlier, more = outcome
    return float(binom.pmf(seen, earlier, q) * binom.pmf(more, block, q))


@functools.cache
def said(
    block: int, wanted: int, most: int, confidence: float
) -> list[tuple[tuple[int, int, int], float, float, float]]:
    """Return what is said after each outcome: estimate, low, high."""
    stop = Stop(most * block, failures=wanted)
    answers = []
    for seen, earlier, more in outcomes(block, wanted, most):
        before, whole = Tally(earlier, seen), Tally(earlier + block, seen + more)
        found = stopped_failure(stop, before, whole, confidence)
        if found is None:  # the cap ended it: the trials are those that were planned
            assert whole.failed < wanted
            found = whole.failed / whole.trials, *binomial_interval(whole.failed, whole.trials, confidence)
        answers.append(((seen, earlier, more), *found))
    return answers


@pytest.mark.parametrize(("block", "wanted", "most"), CASES)
def test_no_bias_over_all_outcomes(block, wanted, most):
    answers = said(block, wanted, most, 0.9)
    for q in PROBABILITIES:
        probabilities = [probability_of(outcome, block, q) for outcome, *_ in answers]
        assert math.fsum(probabilities) == pytest.approx(1.0, abs=1e-12)
        mean = math.fsum(c * estimate for c, (_, estimate, _, _) in zip(probabilities, answers, strict=True))
        assert mean == pytest.approx(q, abs=1e-9)


@pytest.mark.parametrize(("block", "wanted", "most"), CASES)
@pytest.mark.parametrize("confidence", [0.9, 0.99])
def test_coverage_over_all_outcomes(block, wanted, most, confidence):
    answers = said(block, wanted, most, confidence)
    grid = [*PROBABILITIES, *np.linspace(0.003, 0.997, 80)]
    slack = 1e-9  # of the roots that are the limits
    covered = [
        sum(probability_of(outcome, block, q) for outcome, _, low, high in answers if low - slack <= q <= high + slack)
        for q in grid
    ]
    assert min(covered) >= confidence - 1e-9
    assert min(covered) < confidence + (1 - confidence) * 0.9  # exact, not just wide
    assert all(low <= estimate <= high for _, estimate, low, high in answers)


def test_the_checks_can_fail():
    """Negative controls: the plain ratio is far off, and intervals of less confidence do not cover."""
    block, wanted, most = 1, 3, 40
    answers = said(block, wanted, most, 0.9)
    q = 0.35
    plain = math.fsum(probability_of(o, block, q) * (o[0] + o[2]) / (o[1] + block) for o, *_ in answers)
    assert plain > 1.2 * q
    narrow = said(block, wanted, most, 0.6)
    covered = [
        sum(probability_of(o, block, q) for o, _, low, high in narrow if low <= q <= high) for q in (0.2, 0.35, 0.5)
    ]
    assert min(covered) < 0.9


def test_one_block_is_clopper_pearson_and_the_plain_ratio():
    for wanted, seen, trials in [(2, 2, 50), (3, 5, 100), (6, 30, 64), (386, 5000, 16384), (4, 4, 4)]:
        assert inverse_interval(wanted, (0, 0), (seen, trials), 0.95) == binomial_interval(seen, trials, 0.95)
        assert inverse_estimate(wanted, (0, 0), (seen, trials)) == pytest.approx(seen / trials, rel=1e-12)


def test_blocks_of_one_trial_are_the_classical_estimate():
    assert inverse_estimate(3, (2, 1000), (1, 1)) == pytest.approx(2 / 1000)
    low, high = inverse_interval(3, (2, 1000), (1, 1), 0.9)
    assert binom.sf(2, 1001, low) == pytest.approx(0.05)  # the third at trial 1001 or sooner
    assert binom.cdf(2, 1000, high) == pytest.approx(0.05)  # or later


def test_the_count_for_a_precision_is_the_least():
    for share, confidence in itertools.product((0.05, 0.1, 0.3, 0.5, 0.9), (0.5, 0.8, 0.95, 0.999)):

        def wide(k: int, share: float = share, tail: float = (1 - confidence) / 2) -> bool:
            return (gammaincinv(k + 1, 1 - tail) - gammaincinv(k, tail)) / 2 / (k - 1) > share

        k = count_for_precision(share, confidence)
        assert k == next(k for k in itertools.count(2) if not wide(k))


@settings(derandomize=True, deadline=None, max_examples=150)
@given(st.sampled_from([0.1, 0.2, 0.4]), st.sampled_from([1, 8, 64, 1024, 16384]), st.data())
def test_a_relative_rule_keeps_its_word(share, block, data):
    """The interval is as narrow as was asked for, wherever in its block the last failure came."""
    wanted = count_for_precision(share, 0.95)
    q = data.draw(st.sampled_from([0.001, 0.01, 0.1, 0.4]))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    end = int(wanted + rng.negative_binomial(wanted, q))  # the trial of the decisive outcome
    earlier = (end - 1) // block * block
    inside = int(rng.hypergeometric(end - 1 - earlier, earlier, wanted - 1))
    last = (inside + 1 + int(rng.binomial(earlier + block - end, q)), block)
    before = (wanted - 1 - inside, earlier)
    low, high = inverse_interval(wanted, before, last, 0.95)
    assert (high - low) / 2 <= share * inverse_estimate(wanted, before, last)


def test_met_or_not():
    counts, probabilities = Tally(100, 5), Tally(100, 0, Moments(100, 0.05, 0.0, 0.0))
    assert not Stop(10).is_met("simulated", counts, 0.95)  # no rule
    assert not Stop(10, failures=5).is_met("simulated", Tally(), 0.95)
    assert Stop(10, failures=5).is_met("simulated", counts, 0.95)
    assert not Stop(10, failures=6).is_met("simulated", counts, 0.95)
    assert Stop(10, failures=6).is_met("exact", counts, 0.95)  # nothing to learn
    low, high = binomial_interval(5, 100, 0.95)
    assert Stop(10, half_width=(high - low) / 2).is_met("simulated", counts, 0.95)
    assert not Stop(10, half_width=(high - low) / 2.001).is_met("simulated", counts, 0.95)
    wanted = count_for_precision(0.5, 0.95)
    rule = Stop(10, half_width=0.5, relative=True)
    for seen, met in ((wanted, True), (wanted - 1, False), (1000 - wanted, True), (1001 - wanted, False)):
        assert rule.is_met("simulated", Tally(1000, seen), 0.95) is met
    assert Stop(10, half_width=0.05).is_met("conditional", probabilities, 0.95)
    assert not Stop(10, half_width=0.05, relative=True).is_met("conditional", probabilities, 0.95)
    assert rule.wanted_count(0.95) == wanted
    assert Stop(10, half_width=0.5).wanted_count(0.95) is None


def test_rules_as_they_are_written():
    assert make_stop(None, 7, None, None) == Stop(7)
    assert make_stop(5, 7, None, None) == Stop(5)
    assert make_stop(None, 7, 0.01, None) == Stop(MOST_TRIALS, 0.01)
    assert make_stop(9, 7, "0.01", None) == Stop(9, 0.01)
    assert make_stop(9, 7, " 2.5% ", None) == Stop(9, 0.025, relative=True)
    assert make_stop(None, 7, None, 100) == Stop(MOST_TRIALS, failures=100)
    assert not make_stop(5, 7, None, None).is_rule


@pytest.mark.parametrize(
    "text", ["", "%", "abc", "0", "1", "-0.1", "0%", "100%", "nan", "inf", "1e400", "5%%", True, []]
)
def test_widths_that_are_none(text):
    with pytest.raises(ParameterError, match=r"The 'half_width' parameter of sweep must be .* Got .* instead"):
        make_stop(None, 7, text, None)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"max_failures": 1}, "max_failures"),
        ({"max_failures": 2.5}, "max_failures"),
        ({"max_failures": 10, "half_width": 0.1}, "max_failures"),
        ({"max_failures": 10, "method": "conditional"}, "max_failures"),
        ({"max_seconds": 0}, "max_seconds"),
        ({"max_seconds": math.nan}, "max_seconds"),
    ],
)
def test_rules_that_are_refused(arguments, name):
    with pytest.raises(ParameterError, match=f"The '{name}' parameter of sweep must be .* Got .* instead"):
        swept([Uniform(4, 0.9)], [MaxWin()], **arguments)


def absolute_rule(block: int, half_width: float, probabilities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (coverage, mean estimate) of the absolute rule at confidence 0.95, by going through all outcomes."""
    left = np.ones((len(probabilities), 1))
    one_block = binom.pmf(np.arange(block + 1), block, probabilities[:, None])
    covered, mean, trials = np.zeros(len(probabilities)), np.zeros(len(probabilities)), 0
    while left.sum(axis=1).max() > 1e-9:
        trials += block
        left = np.array([np.convolve(*both) for both in zip(left, one_block, strict=True)])
        for failed in np.flatnonzero(left.max(axis=0) > 1e-15):
            low, high = binomial_interval(int(failed), trials, 0.95)
            if Stop(10**9, half_width).is_met("simulated", Tally(trials, int(failed)), 0.95):
                covered += left[:, failed] * ((low <= probabilities) & (probabilities <= high))
                mean += left[:, failed] * failed / trials
                left[:, failed] = 0.0
    return covered, mean


def test_an_absolute_width_costs_next_to_nothing():
    """Stopping when the interval is narrow is no exact method: what it costs is small, and stated here."""
    probabilities = np.array([0.002, 0.01, 0.03, 0.05, 0.08, 0.1, 0.13, 0.2, 0.3, 0.45])
    covered, mean = absolute_rule(32, 0.1, probabilities)
    assert covered.min() > 0.945
    assert np.abs(mean - probabilities).max() < 0.012


# through real sweeps: adag has an exact value; blocks of 8 trials make the rules bite


def sample(decoder, oracle, seeds: int, *, block: int = 8, **rule):
    with small_blocks(block):
        cells = [finished_cells([oracle], [decoder], seed=seed, **rule)[0] for seed in range(seeds)]
    return cells, [cell.estimate(None) for cell in cells]  # type: ignore[arg-type]


def is_off(values: list[float], truth: float) -> bool:
    """Say whether a mean is not the truth, at the stated rate of false alarms."""
    error = np.std(values, ddof=1) / math.sqrt(len(values))
    return bool(abs(np.mean(values) - truth) > norm.isf(FALSE_ALARM / 2) * error)


def covers_too_seldom(estimates, truth: float) -> bool:
    misses = sum(not (each.low <= truth <= each.high) for each in estimates)
    return bool(binom.sf(misses - 1, len(estimates), 0.05) < FALSE_ALARM)


def test_counting_failures_in_real_sweeps():
    oracle, decoder = Uniform(4, 0.95), Adag()
    truth = exact(oracle, decoder)
    cells, estimates = sample(decoder, oracle, 500, max_failures=3)
    assert all(cell.total.failed >= 3 > cell.before.failed for cell in cells)  # overshoot is less than a block
    assert not is_off([each.failure for each in estimates], truth.failure)
    assert not covers_too_seldom(estimates, truth.success)
    assert is_off([cell.total.failed / cell.total.trials for cell in cells], truth.failure)  # negative controls
    assert covers_too_seldom(estimates, 1 - 4 * truth.failure)


def test_a_share_of_the_rarer_outcome_in_real_sweeps():
    for p in (0.9, 0.3):  # failures are rarer, then successes
        oracle, decoder = Uniform(4, p), Ddag()
        truth = exact(oracle, decoder)
        rarer = "failure" if truth.failure < 0.5 else "success"
        _, estimates = sample(decoder, oracle, 250, half_width="80%", method="simulated", confidence=0.8)
        assert not is_off([getattr(each, rarer) for each in estimates], getattr(truth, rarer))
        misses = sum(not (each.low <= truth.success <= each.high) for each in estimates)
        assert binom.sf(misses - 1, 250, 0.2) > FALSE_ALARM
        assert is_off([getattr(each, rarer) for each in estimates], 1.5 * getattr(truth, rarer))


@pytest.mark.parametrize(("decoder", "block"), [(MaxWin(), 64), (Poll(2), 64)])
@pytest.mark.parametrize("half_width", [0.02, "10%"])
def test_conditional_rules_in_real_sweeps(decoder, block, half_width):
    oracle = Uniform(4, 0.8)
    truth = exact(oracle, decoder)
    _, estimates = sample(decoder, oracle, 150, block=block, half_width=half_width, method="conditional")
    assert {each.method for each in estimates} == {"conditional"}
    for each in estimates:
        allowed = 0.02 if half_width == 0.02 else 0.1 * min(each.failure, each.success)
        assert (each.high - each.low) / 2 <= allowed
    assert not covers_too_seldom(estimates, truth.success)
    assert covers_too_seldom(estimates, truth.success - 0.05)
    assert abs(np.mean([each.success for each in estimates]) - truth.success) < 0.005


def test_an_absolute_width_in_real_sweeps():
    oracle, decoder = Uniform(4, 0.9), Adag()
    truth = exact(oracle, decoder)
    cells, estimates = sample(decoder, oracle, 100, block=32, half_width=0.08, method="simulated")
    for cell, each in zip(cells, estimates, strict=True):
        assert (each.high - each.low) / 2 <= 0.08
        low, high = binomial_interval(cell.before.failed, cell.before.trials, 0.95)
        assert (high - low) / 2 > 0.08  # one block earlier it was not narrow enough
    assert not covers_too_seldom(estimates, truth.success)
    assert covers_too_seldom(estimates, truth.success - 0.15)


RARE = Uniform(4, 0.9999)  # about three failures in a whole block of 16,384 trials


def test_rules_say_the_same_on_any_number_of_threads():
    for rule in ({"max_failures": 12}, {"half_width": "60%", "method": "simulated"}, {"half_width": 0.0004}):
        one, two, three = (swept([RARE], [Adag(), Poll(9)], seed=5, threads=t, **rule)
                           for t in (1, 2, 3))  # fmt: skip
        assert one == two == three
        assert one != swept([RARE], [Adag(), Poll(9)], seed=6, **rule)


def test_a_rule_that_is_met_at_once_and_one_that_never_is():
    with small_blocks(64):
        (met,) = finished_cells([Uniform(4, 0.5)], [Adag()], max_failures=2)
        (capped,) = finished_cells([Uniform(4, 1.0)], [Adag()], trials=200, max_failures=2)
    assert (met.total.trials, met.ended) == (64, True)
    (found,) = [met.estimate(None)]  # type: ignore[arg-type]
    assert found.failure == pytest.approx(met.total.failed / 64, rel=1e-12)  # one block was planned, as it were
    assert (capped.total.trials, capped.total.failed, capped.ended) == (200, 0, True)
    found = capped.estimate(None)  # type: ignore[arg-type]
    assert (found.failure, found.low, found.high) == (0.0, binomial_interval(200, 200)[0], 1.0)


def test_fixed_trials_after_a_rule_play_what_is_missing_only(tmp_path):
    store = tmp_path / "results.db"
    oracles, decoders = [Uniform(4, 0.97)], [Adag()]
    with small_blocks(64):
        with counted_runs() as ruled:
            swept(oracles, decoders, max_failures=20, method="simulated", store=store)
        there = {first // 64 for first, *_ in ruled}
        with counted_runs() as more:
            extended = swept(oracles, decoders, 64 * 30 + 10, method="simulated", store=store)
        assert {first // 64 for first, *_ in more} == set(range(31)) - there
        assert sum(count for _, count, _ in more) == 64 * (30 - len(there)) + 10
        assert extended == swept(oracles, decoders, 64 * 30 + 10, method="simulated")
        with counted_runs() as again:
            ruled_again = swept(oracles, decoders, max_failures=20, method="simulated", store=store)
        assert ruled_again == swept(oracles, decoders, max_failures=20, method="simulated")
        assert not again  # all that the rule looks at is there
