"""The experiment with `learned`: its parts are right, and its table says what the documentation says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn")

from experiments import learned_on_real_data as experiment
from pairsim import Adag, Learned, MaxWin, Recorded, exact, simulate

N = 8
LOW, HIGH = np.triu_indices(N, 1)
KEPT = Path(experiment.__file__).parent / "results" / "learned_on_real_data.csv"


def on_a_line(rows: int, seed: int) -> Recorded:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, N, rows)
    at = truth[:, None] + rng.uniform(-0.6, 0.6, (rows, 1))
    return Recorded((np.abs(LOW - at) < np.abs(HIGH - at)) ^ (rng.random((rows, len(LOW))) < 0.03), truth)


def test_max_win_counts_by_its_probability_in_each_row() -> None:
    recorded = on_a_line(300, 0)
    assert experiment.max_win_on(recorded).right.mean() == pytest.approx(exact(recorded, MaxWin()).success)


def test_decisions_are_those_of_the_simulator() -> None:
    recorded, made = on_a_line(200, 1), Learned(on_a_line(400, 2))
    decided, simulated = experiment.decide(recorded, made), simulate(recorded, made, threads=1)
    assert decided.right.mean() == pytest.approx(simulated.success)
    assert decided.queries.mean() == pytest.approx(simulated.queries)
    assert (experiment.decide(recorded, Adag()).queries == N - 1).all()


def test_the_setting_is_chosen_among_those_that_ask_few() -> None:
    left_out = on_a_line(600, 3)
    chosen = experiment.choose(left_out)
    assert chosen.answers == Learned(left_out).answers  # it learns from all rows in the end
    assert simulate(on_a_line(2000, 4), chosen, threads=1).queries < experiment.GOAL * (N - 1)


def test_own_accuracy_is_that_of_pairs_with_the_true_class() -> None:
    answers = np.ones((2, len(LOW)), bool)  # class 0 wins all its pairs, class 7 none
    assert experiment.own_accuracy(Recorded(answers, [0, 7])) == 0.5


def test_the_corrected_interval_is_wider_than_that_of_independent_splits() -> None:
    differences = [0.01, -0.01, 0.02, 0.0]
    naive = np.mean(differences) - 3.18 * np.std(differences, ddof=1) / 2
    assert experiment.corrected_low(differences, 0.3) < naive
    assert np.isnan(experiment.corrected_low([0.1], 0.3))


def test_the_kept_table_reaches_the_goal_on_every_model() -> None:
    kept = pd.read_csv(KEPT)
    assert len(kept[["data", "estimator"]].drop_duplicates()) == 8
    assert (kept.groupby("decoder").size() == 8).all()
    few = kept["queries"] <= experiment.GOAL * (kept["n"] - 1)
    assert (kept["met"] == (few & (kept["low"] > experiment.LEAST))).all()
    met = kept.groupby("decoder")["met"].sum()
    assert met["learned, chosen"] == 8
    assert met[["adag", "max-win", "posterior, p given", "posterior, p unknown"]].sum() == 0  # the goal can be missed
    assert kept.loc[kept["data"].str.startswith("plants"), "splits"].unique().tolist() == [10]
