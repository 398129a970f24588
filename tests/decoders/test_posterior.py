"""POSTERIOR: its probability is right, its budget holds, and what it assumes matters."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import naive
import numpy as np
import pytest
from cache_processes import ROOT, run_python
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from pairsim import Choice, MaxWin, Posterior, Quick, Session, Uniform, pick, simulate
from pairsim.decoders.record_evidence import record_logs
from pairsim.errors import ParameterError
from pairsim.replay import replay_trial

FALSE_ALARM = 1e-4  # per comparison
TRIALS = 1500


def decide(n: int, p: float, decoder: Posterior, trials: int, seed: int) -> tuple[int, float]:
    """Return how often the decoder is right over random tournaments, and how often it expects to be."""
    rng = np.random.default_rng(seed)
    right, expected = 0, 0.0
    for trial in range(trials):
        truth = int(rng.integers(n))

        def judge(i: int, j: int, truth: int = truth) -> bool:
            chance = p if i == truth else 1.0 - p if j == truth else 0.5
            return bool(rng.random() < chance)

        choice = pick(judge, n, decoder, seed=trial)
        assert isinstance(choice, Choice)
        assert choice.confidence is not None
        right += choice == truth
        expected += choice.confidence
    return right, expected / trials


@pytest.mark.parametrize(("n", "p", "stop"), [(2, 0.7, 0.99), (5, 0.8, 0.9), (9, 0.9, 0.95), (16, 0.7, 0.6)])
def test_its_probability_is_calibrated(n: int, p: float, stop: float) -> None:
    right, expected = decide(n, p, Posterior(p, stop), TRIALS, seed=1)
    assert binomtest(right, TRIALS, expected).pvalue > FALSE_ALARM


def test_a_wrong_p_is_not_calibrated() -> None:
    """Negative control: who takes the judge for better than it is, is too sure."""
    right, expected = decide(9, 0.6, Posterior(0.95, 0.95), TRIALS, seed=1)
    assert binomtest(right, TRIALS, expected).pvalue < FALSE_ALARM
    assert right / TRIALS < expected


def test_it_asks_far_less_than_max_win_for_a_high_success() -> None:
    oracle = Uniform(64, 0.9)
    sure, every = simulate(oracle, [Posterior(0.9, 0.99), Quick()], 4000, method="simulated")
    assert sure.success > 0.985
    assert sure.queries < every.queries / 3
    unknown = simulate(oracle, Posterior(None, 0.99), 2000, method="simulated")
    assert unknown.success > 0.98
    assert unknown.queries < 2.0 * sure.queries


@settings(derandomize=True, deadline=None, max_examples=25)
@given(st.integers(2, 12), st.integers(1, 40), st.integers(0, 99))
def test_a_budget_holds_and_is_spent(n: int, budget: int, seed: int) -> None:
    decoder = Posterior(0.7, 1.0, budget)
    assert decoder.cost(n).queries == min(budget, n * (n - 1) // 2)
    found = simulate(Uniform(n, 0.7), decoder, 64, seed, method="simulated", threads=1)
    assert found.queries == decoder.cost(n).queries  # 1 is never reached


def test_with_all_pairs_asked_it_is_the_best_decoder() -> None:
    """Under uniform-p the class with the highest score is the likeliest: with every pair asked it is max-win's."""
    posterior, max_win = simulate(Uniform(7, 0.8), [Posterior(0.8, 1.0), MaxWin()], 20_000, method="simulated")
    assert posterior.queries == max_win.queries
    assert abs(posterior.success - max_win.success) < 4.0 * math.hypot(posterior.standard_error, max_win.standard_error)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.integers(0, 60), st.integers(0, 60))
def test_the_evidence_with_unknown_p_is_the_integral(wins: int, losses: int) -> None:
    (log,) = record_logs(0.0, 0.0, np.array([wins]), np.array([losses]))
    assert log == pytest.approx(naive.record_evidence(None, wins, losses), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(("wins", "losses"), [(700, 3), (5000, 0), (4000, 3400), (20_000, 10)])
def test_the_evidence_of_long_records(wins: int, losses: int) -> None:
    """Past the exact sum: the recursion F(w + 1, l) = (2 (w + 1) F(w, l) + 1) / (w + l + 2) in logarithms."""
    before, after = record_logs(0.0, 0.0, np.array([wins, wins + 1]), np.array([losses, losses]))
    step = math.log(2.0 * (wins + 1) / (wins + losses + 2)) + math.log1p(math.exp(-before) / (2.0 * (wins + 1)))
    assert after - before == pytest.approx(step, abs=1e-9)


def test_probabilities_are_bayes_rule() -> None:
    found = Posterior(0.8).probabilities([2, 1, 0, 0], [0, 1, 1, 1])
    weights = [Fraction(16, 10) ** w * Fraction(4, 10) ** l for w, l in ((2, 0), (1, 1), (0, 1), (0, 1))]
    assert found == pytest.approx([float(weight / sum(weights)) for weight in weights])


def test_a_session_knows_how_sure_it_is() -> None:
    session = Session(4, Posterior(0.9, 0.85))
    assert session.confidence == pytest.approx(0.25)
    before = 0.0
    while not session.done:
        ((i, j),) = session.ask()
        session.tell(i, j, i > j)
        assert session.confidence is not None
        before = max(before, session.confidence)
    assert session.winner == 3
    assert session.confidence == before >= 0.85
    assert Session(4, MaxWin()).confidence is None


def test_nothing_is_asked_where_the_start_is_sure_enough() -> None:
    found = replay_trial(Uniform(4, 0.9), Posterior(0.9, 0.2), 0, 0)
    assert found.queries == 0
    assert "0 queries" in found.to_text(None)


def test_many_classes() -> None:
    found = simulate(Uniform(70_000, 0.95), Posterior(0.95, 0.9), 2, method="simulated")  # more than scores can count
    assert found.queries < 2 * 70_000


def test_the_confidence_of_the_compiled_decoder_is_that_of_the_records() -> None:
    session = Session(6, Posterior(0.7, 0.9), seed=3)
    wins, losses = np.zeros(6, int), np.zeros(6, int)
    while not session.done:
        ((i, j),) = session.ask()
        i_wins = (i * 7 + j) % 3 > 0
        session.tell(i, j, i_wins)
        wins[i if i_wins else j] += 1
        losses[j if i_wins else i] += 1
        assert session.confidence == pytest.approx(Posterior(0.7).probabilities(wins, losses).max())


@pytest.mark.parametrize(
    ("wrong", "name"),
    [({"p": 0.5}, "p"), ({"p": 1.0}, "p"), ({"p": math.nan}, "p"), ({"stop": 0.0}, "stop"), ({"stop": 1.1}, "stop"),
     ({"budget": 0}, "budget"), ({"budget": 2**40}, "budget"), ({"p": "x"}, "p")],
)  # fmt: skip
def test_what_is_refused(wrong: dict[str, object], name: str) -> None:
    with pytest.raises(ParameterError, match=f"The '{name}' parameter of Posterior must be"):
        Posterior(**wrong)  # type: ignore[arg-type]


LONG_RECORDS = """
from pairsim import Posterior, Uniform, simulate
for rounds in (None, 40):
    found = simulate(Uniform(700, 0.65), Posterior(0.65, 0.95, rounds=rounds), 300, threads=1)
    assert found.queries > 5000 and 0.9 < found.success < 1.0, found
print("inside")
"""


def test_records_longer_than_the_table_stay_inside_the_arrays(tmp_path: Path) -> None:
    """With numba's own checks of every index; a record of 256 games and more is listed at a rank next to its own."""
    found = run_python(LONG_RECORDS, tmp_path, PYTHONPATH=str(ROOT), NUMBA_BOUNDSCHECK="1")
    assert found.stdout == "inside\n", found.stderr
