"""`plan`: what it lists reaches the target, by figures that were not used to choose it, and keeps every limit."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from pairsim import (
    Adag,
    Matrix,
    MaxWin,
    ParameterError,
    Poll,
    Posterior,
    Quick,
    Ranked,
    Recorded,
    TopK,
    Uniform,
    plan,
    simulate,
)
from pairsim.bounds import least_mean_queries, least_queries
from pairsim.planning import plan as plan_function
from pairsim.planning.plan import _halves
from pairsim.planning.screen import Screen
from pairsim.simulation.trial_costs import trial_costs

SURE = 1 - 1e-6  # confidence of intervals that must hold


def bradley_terry(n: int = 24, slope: float = 1.5) -> Matrix:
    s = np.linspace(2.0, -2.0, n)
    return Matrix(1.0 / (1.0 + np.exp(-slope * (s[:, None] - s[None, :]))))


def test_a_reachable_target_is_not_refused_for_its_interval() -> None:
    """The truth is 0.434: 0.42 was refused, because the lower end of what is certified is 0.4188."""
    oracle = bradley_terry()
    truth = simulate(oracle, MaxWin(), 100_000, seed=5, confidence=SURE)
    found = plan(oracle, 0.42, decoders=[Quick(), MaxWin()])
    assert [option.decoder for option in found.options] == [Quick(), MaxWin()]
    for option in found.options:
        assert truth.low < option.success < truth.high  # a best estimate, and no end of an interval
        assert option.low < option.success < option.high
    with pytest.raises(ParameterError, match=r"at most 0\.4\d+, the most that is reached here \(quick"):
        plan(oracle, 0.6, decoders=[Quick()])


def test_what_nothing_can_reach_is_refused_before_any_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Screen, "judge", None)
    with pytest.raises(ParameterError, match=r"at most 0\.99999\d+, the success of max-win, which none exceeds"):
        plan(Uniform(64, 0.9), 0.999999999999)
    with pytest.raises(ParameterError, match="which none exceeds with max_queries = 100"):
        plan(Uniform(64, 0.9), 0.99, max_queries=100)
    with pytest.raises(ParameterError, match=r"mean_queries.*at least 6"):
        plan(Uniform(64, 0.9), 0.99, mean_queries=60)
    with pytest.raises(TypeError):  # negative control: here trials are needed
        plan(Uniform(64, 0.9), 0.9)


def test_options_are_listed_once_cheapest_first_above_their_floors() -> None:
    oracle = Uniform(24, 0.9)
    found = plan(oracle, 0.9)
    specs = [option.decoder.spec for option in found.options]
    assert len(set(specs)) == len(specs)
    assert {"quick", "champion", "max-win"} <= set(specs)
    assert [option.distinct for option in found.options] == sorted(option.distinct for option in found.options)
    for option in found.options:
        assert option.distinct <= option.distinct_95 <= option.most or not option.decoder.adaptive
        assert option.distinct <= option.queries
        check = simulate(oracle, option.decoder, 20_000, seed=99, confidence=SURE)
        assert check.low <= option.high
        assert check.high >= max(0.885, option.low)
        assert option.distinct >= least_mean_queries(oracle, check.low)
        assert option.most >= least_queries(oracle, check.low)
        assert option.at_once == pytest.approx(option.queries / option.rounds)
    assert all(option.most >= least_queries(oracle, 0.9) for option in found.options)  # else it cannot reach it
    cheapest = found.options[0]
    assert isinstance(cheapest.decoder, Posterior)
    assert cheapest.decoder.p == 0.9
    assert any(o.decoder == Posterior(None, o.decoder.stop) for o in found.options if isinstance(o.decoder, Posterior))
    repeats = [option for option in found.options if option.decoder.repeats]
    assert repeats
    assert all(option.distinct < option.queries for option in repeats)


def test_figures_are_those_of_the_seed_and_choices_are_not() -> None:
    oracle, decoders = Uniform(10, 0.8), [TopK(2, 3), TopK(3, 4), Poll(5)]
    listed = {option.decoder: option for option in plan(oracle, 0.3, decoders=decoders, trials=3000, seed=4).options}
    chosen = {option.decoder: option for option in plan(oracle, 0.3, decoders=decoders, seed=4).looked_at}
    for decoder in decoders:
        own = simulate(oracle, decoder, 3000, seed=4)
        assert (listed[decoder].success, listed[decoder].low) == (own.success, own.low)
        assert chosen[decoder].success not in {simulate(oracle, decoder, k, seed=4).success for k in (1024, 3000)}


def test_intervals_cover_whatever_was_chosen() -> None:
    """95% intervals of listed options cover in all but 8% of cases; the best of several figures does not.

    With 95% covered, fewer than 92% of 480 or more have a probability below 0.3%.
    """
    oracle = Uniform(6, 0.8)
    decoders = [Poll(l) for l in (4, 5, 6, 7)]
    truth = {decoder: simulate(oracle, decoder, 400_000, seed=10**6).success for decoder in decoders}
    target = truth[decoders[1]]
    covered, lucky = [], []
    for seed in range(160):
        try:
            found = plan(oracle, target, decoders=decoders, trials=256, seed=seed)
        except ParameterError:
            continue
        for option in found.options:
            covered += [option.low <= truth[option.decoder] <= option.high]
        # negative control: the best of eight by the trials of its own figure
        tries = (simulate(oracle, decoders[1], 256, seed=1000 * seed + k, method="simulated") for k in range(8))
        best = max(tries, key=lambda each: each.success)
        lucky.append(best.low <= target <= best.high)
    assert len(covered) >= 300
    assert np.mean(covered) > 0.92
    assert np.mean(lucky) < 0.92


@pytest.mark.parametrize("target", [None, 0.6])
def test_limits_hold_in_every_trial(target: float | None) -> None:
    oracle = Uniform(32, 0.9)
    found = plan(oracle, target, max_queries=70, max_rounds=40)
    assert {option.decoder.name for option in found.options} >= {"posterior"}
    for option in (*found.options, *found.looked_at):
        assert option.most <= 70
        assert option.decoder.cost(32).rounds <= 40
        costs = trial_costs(oracle, option.decoder, 200, 3, 1e9)
        assert costs[:, 1].max() <= 70
        assert costs[:, 2].max() <= 40
    average = plan(oracle, target, mean_queries=70)
    assert all(option.distinct <= 73 for option in average.options)
    assert max(option.distinct_95 for option in average.options) > 70  # negative control: the mean is what is limited


def test_the_best_for_a_number_of_queries() -> None:
    """quick asks 65 pairs on average, and was hidden by 200 as it may ask all 496."""
    found = plan(Uniform(32, 0.9), max_queries=100)
    successes = [option.success for option in found.options]
    assert successes == sorted(successes, reverse=True)
    by_name = {}
    for option in found.options:
        by_name.setdefault(option.decoder.name, option)
    assert by_name["quick"].decoder == Quick(budget=100)
    assert found.options[0].decoder.name == "posterior"
    assert by_name["quick"].success > by_name["adag"].success > by_name["poll"].success
    assert found.target is None
    with pytest.raises(ParameterError, match="unless a limit such as max_queries is given"):
        plan(Uniform(32, 0.9))
    with pytest.raises(ParameterError, match="max_queries"):
        plan(Uniform(32, 0.9), max_queries=100, decoders=[MaxWin()])


def test_recorded_rows_are_for_choosing_or_for_reporting() -> None:
    oracle = Recorded.of(Uniform(12, 0.95), 501)
    chooses, reports = _halves(oracle, 0)
    assert (chooses.rows, reports.rows) == (250, 251)
    rows = sorted(bytes(row) for part in (chooses, reports) for row in part.recording.bits)
    assert rows == sorted(bytes(row) for row in oracle.bits)
    found = plan(oracle, 0.8)
    assert all(option.method == "simulated" for option in found.options)
    option = next(option for option in found.options if option.decoder == MaxWin())
    assert option.success == simulate(reports, MaxWin()).success
    assert all(math.isnan(option.budget_floor) for option in found.options)


def test_progress_counts_what_is_looked_at() -> None:
    steps: list[tuple[str, int, int]] = []
    plan(Uniform(8, 0.9), 0.5, decoders=[Adag(), Poll(3)], progress=lambda *step: steps.append(step))
    assert [step[1:] for step in steps[:2]] == [(0, 2), (1, 2)]
    assert steps[2] == ("adag", 2, 2 + len(steps) - 2)
    assert all(done < total for _, done, total in steps)


def test_more_candidates_than_twenty_are_looked_at() -> None:
    found = plan(Uniform(64, 0.9), 0.99, max_rounds=2, trials=1024)
    best = next(option for option in found.options if option.decoder.spec.startswith("top-k"))
    assert isinstance(best.decoder, TopK)
    assert best.decoder.k > 20
    assert best.distinct < 900


def test_a_plan_is_the_same_whenever_it_is_made() -> None:
    first, second = (plan_function(Uniform(12, 0.8), 0.5, trials=512, threads=threads) for threads in (1, 2))
    assert [o.decoder for o in first.options] == [o.decoder for o in second.options]
    assert [o.success for o in first.options] == [o.success for o in second.options]
    assert all(a.distinct <= b.distinct for a, b in itertools.pairwise(first.options))


def test_posterior_is_listed_on_other_answers_only_where_it_reaches_the_target_and_with_a_warning() -> None:
    """On nearly transitive answers its success is far below what it stops at; on uniform-p there is no warning."""
    answers = Recorded.of(Ranked(24, 0.99, order=0.99), 2000)
    assert simulate(answers, Posterior(0.9, 0.9), method="simulated").success < 0.8
    decoders = [Posterior(0.9, 0.9), Adag()]
    found = plan(answers, 0.85, decoders=decoders)
    assert [each.decoder for each in found.options] == [Adag()]
    assert found.warnings == ()
    low = plan(answers, 0.05, decoders=decoders)
    assert Posterior(0.9, 0.9) in [each.decoder for each in low.options]
    assert len(low.warnings) == 1
    assert "posterior assumes uniform-p" in low.warnings[0]
    assert plan(Uniform(24, 0.9), 0.5, decoders=[Posterior(0.9, 0.9)]).warnings == ()
