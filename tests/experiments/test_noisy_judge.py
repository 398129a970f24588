"""The experiment with a noisy judge: its probabilities are those of its queries, and the plan's promise holds."""

from __future__ import annotations

import random
import sys

import numpy as np
import pytest
from scipy.stats import binomtest

from experiments import noisy_judge
from experiments.noisy_judge import Judge, ask_both_orders, choose_decoder, pick_best, qualities

ALARM = 1e-6  # false alarms, a comparison


def is_plausible(right: int, trials: int, probability: float) -> bool:
    return bool(binomtest(right, trials, probability).pvalue > ALARM)


def test_both_orders_have_the_probabilities_that_the_plan_is_made_for():
    judge, rng, trials = Judge(), random.Random(1), 4000
    first, second = 0.4, 0.1
    probability = judge.probabilities(np.array([first, second]))[0, 1]
    right = sum(ask_both_orders(judge, first, second, rng) for _ in range(trials))
    assert is_plausible(right, trials, probability)
    said = [judge.compare(first, second, rng) for _ in range(trials)]
    assert is_plausible(said.count(None), trials, judge.silence)
    one_order = sum(each if each is not None else rng.random() < 0.5 for each in said)
    assert not is_plausible(one_order, trials, probability)  # negative control: the judge favours what it sees first
    assert judge.probabilities(np.array([first, second])).sum() == pytest.approx(2.0)


def test_the_promise_holds_within_the_budget():
    n, calls, repeats = 6, 40, 400
    judge, rng = Judge(), random.Random(2)
    option = choose_decoder(judge, n, calls)
    assert 2 * option.queries <= calls
    right = 0
    for _ in range(repeats):
        order = np.array(rng.sample(range(n), n))
        answer = pick_best(judge, qualities(n)[order], option, rng)
        assert answer.calls <= calls
        assert answer.probability == option.success
        right += int(order[answer.winner] == 0)
    assert is_plausible(right, repeats, option.success)
    assert not is_plausible(right, repeats, 1.0 / n)  # negative control: it is no guess


def test_it_runs_from_the_command_line_and_says_when_the_budget_is_too_small(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["noisy_judge", "--candidates", "6", "--calls", "40", "--repeats", "3"])
    noisy_judge.main()
    out = capsys.readouterr().out
    assert "right with probability 0." in out
    assert "3 decisions" in out
    monkeypatch.setattr(sys, "argv", ["noisy_judge", "--candidates", "6", "--calls", "1"])
    with pytest.raises(SystemExit, match="too few"):
        noisy_judge.main()


@pytest.mark.parametrize("arguments", [("--candidates", "1"), ("--repeats", "0"), ("--calls", "many")], ids=str)
def test_numbers_that_make_no_sense_are_refused(monkeypatch, capsys, arguments):
    monkeypatch.setattr(sys, "argv", ["noisy_judge", *arguments])
    with pytest.raises(SystemExit, match="2"):
        noisy_judge.main()
    assert "must be an integer, at least" in capsys.readouterr().err.splitlines()[-1]
