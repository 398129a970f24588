"""The conditional method of posterior: the mean of its own probability is its success, with less variance."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from pairsim import MaxWin, Posterior, Quick, Uniform, exact, simulate
from pairsim.errors import ParameterError
from pairsim.simulation.methods import has_conditional

FALSE_ALARM = 1e-5
RUNS, TRIALS = 400, 300


@pytest.mark.parametrize(
    ("n", "p", "decoder"),
    [
        (16, 0.7, Posterior(0.7, 0.9)),
        (16, 0.9, Posterior(0.9, 0.999)),
        (9, 0.8, Posterior(0.8, 0.99, budget=14)),
        (16, 0.7, Posterior(0.7, 0.95, rounds=4)),
    ],
    ids=lambda each: getattr(each, "spec", str(each)),
)
def test_it_is_the_counted_success_with_less_variance(n: int, p: float, decoder: Posterior) -> None:
    counted = simulate(Uniform(n, p), decoder, 100_000, seed=1, method="simulated")
    computed = simulate(Uniform(n, p), decoder, 100_000, seed=2)
    assert (counted.method, computed.method) == ("simulated", "conditional")
    both = math.hypot(counted.standard_error, computed.standard_error)
    assert abs(counted.success - computed.success) < 4.5 * both
    assert computed.standard_error < 0.8 * counted.standard_error
    same = simulate(Uniform(n, p), decoder, 100_000, seed=1)
    assert (same.queries, same.rounds) == (counted.queries, counted.rounds)  # the same trials cost the same


@pytest.mark.parametrize("stop", [0.8, 0.999])
def test_its_interval_covers(stop: float) -> None:
    """Over 400 runs of 300 trials each, a 95% interval misses the success as often as it may, or less."""
    oracle, decoder = Uniform(12, 0.8), Posterior(0.8, stop)
    truth = simulate(oracle, decoder, 400_000, seed=10**6).success
    found = [simulate(oracle, decoder, TRIALS, seed, threads=1) for seed in range(RUNS)]
    missed = sum(not each.low <= truth <= each.high for each in found)
    assert missed <= binom.isf(FALSE_ALARM, RUNS, 0.05)
    shrunk = sum(not abs(each.success - truth) <= 0.2 * (each.high - each.low) / 2 for each in found)
    assert shrunk > binom.isf(FALSE_ALARM, RUNS, 0.05)  # negative control: a fifth of the interval


def test_with_every_pair_asked_it_is_the_exact_value_of_max_win() -> None:
    computed = simulate(Uniform(8, 0.75), Posterior(0.75, 1.0), 50_000, 3, 1 - FALSE_ALARM)
    value = exact(Uniform(8, 0.75), MaxWin()).success
    assert computed.low < value < computed.high


def test_it_applies_where_the_assumed_p_is_the_true_one() -> None:
    assert has_conditional(Uniform(9, 0.8), Posterior(0.8))
    assert has_conditional(Uniform(9, 0.8), Posterior(0.8, rounds=3))
    for decoder in (Posterior(0.7), Posterior(None), Quick()):
        assert not has_conditional(Uniform(9, 0.8), decoder)
        assert simulate(Uniform(9, 0.8), decoder, 64, threads=1).method == "simulated"
        with pytest.raises(ParameterError, match="method"):
            simulate(Uniform(9, 0.8), decoder, 64, method="conditional", threads=1)


def test_a_wrong_p_would_be_biased() -> None:
    """Negative control: what the decoder believes is not its success where p is another."""
    wrong, counted = (
        simulate(Uniform(16, p), Posterior(0.9, 0.95), 20_000, method=method)
        for p, method in ((0.9, "conditional"), (0.75, "simulated"))
    )
    assert np.abs(wrong.success - counted.success) > 10 * counted.standard_error
