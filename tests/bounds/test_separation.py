"""How clear-cut tournaments are: separations against naive scores, exact laws and the paper's Theorem 3."""

from __future__ import annotations

import csv
import itertools
import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import SEEDS, OracleCase, oracle_cases

from pairsim import Matrix, MaxWin, ParameterError, Recorded, Uniform, separation, simulate
from pairsim.bounds import lemma_1, paper_sample_size, theorem_3
from pairsim.oracles import REGISTRY as ORACLES
from pairsim.simulation import Separation

TRIALS = 70
Command = Callable[..., Any]


def naive_scores(case: OracleCase, seed: int, trial: int) -> list[int]:
    """Return the points of each class, asking every pair once."""
    low_wins = case.twin(seed, trial)
    scores = [0] * case.oracle.n
    for low, high in itertools.combinations(range(case.oracle.n), 2):
        scores[low if low_wins(low, high) else high] += 1
    return scores


@settings(max_examples=40, deadline=None)
@given(data=st.data(), name=st.sampled_from(sorted(ORACLES)), n=st.integers(2, 9), seed=SEEDS)
def test_scores_are_those_of_the_naive_tournaments(data: st.DataObject, name: str, n: int, seed: int) -> None:
    case = data.draw(oracle_cases(name, n))
    truth = case.oracle.truth(0, TRIALS)
    found = separation(case.oracle, TRIALS, seed, threads=2)
    top = separation(case.oracle, TRIALS, seed, of="winner", threads=1)
    for trial in range(0, TRIALS, 5):
        scores = naive_scores(case, seed, trial)
        mine = scores[truth[trial]]
        others = [score for c, score in enumerate(scores) if c != truth[trial]]
        assert (found.first[trial], found.second[trial]) == (mine, max(others))
        assert [int(top.first[trial]), int(top.second[trial])] == sorted(scores)[:-3:-1]
        ratio = math.inf if max(others) == 0 else mine / max(others)
        assert found.ratios[trial] == ratio


def exact_law(n: int, p: float) -> dict[tuple[int, int], float]:
    """Return the probability of each (s_1, s_2) of uniform(n, p), by all outcomes."""
    law: dict[tuple[int, int], float] = {}
    pairs = list(itertools.combinations(range(n), 2))
    for outcome in itertools.product((True, False), repeat=len(pairs)):
        scores, probability = [0] * n, 1.0
        for (low, high), low_wins in zip(pairs, outcome, strict=True):
            scores[low if low_wins else high] += 1
            probability *= 0.5 if low else p if low_wins else 1.0 - p
        key = scores[0], max(scores[1:])
        law[key] = law.get(key, 0.0) + probability
    return law


@pytest.mark.parametrize(("n", "p"), [(3, 0.9), (4, 0.7), (5, 0.9)])
def test_fractions_are_those_of_the_exact_law(n: int, p: float) -> None:
    law = exact_law(n, p)
    found = separation(Uniform(n, p), 40_000, seed=3, confidence=1 - 1e-6)  # a false alarm in a million, a case
    for alpha in (0.5, 1.0, 1.5, 2.0, 3.0):
        expected = sum(probability for (mine, other), probability in law.items() if mine >= alpha * other)
        above = found.above(alpha)
        assert above.low <= expected <= above.high
        wrong = sum(probability for (mine, other), probability in law.items() if mine > alpha * other + 1e-9) - 0.05
        assert not above.low <= wrong <= above.high  # the negative control


def test_the_known_medians_and_fractions() -> None:
    for n, median in ((16, 1.30), (128, 1.47), (512, 1.59)):
        assert round(separation(Uniform(n, 0.9), 5000, seed=1).median, 2) == median
    few = separation(Uniform(16, 0.9), 100_000).above(1.8)
    assert few.low <= 0.0009 <= few.high
    assert few.share < 0.0012
    for n in (32, 128, 512):
        assert separation(Uniform(n, 0.9), 5000, seed=1).above(1.8).share == 0.0


def test_a_separation_below_one_is_a_failure_of_max_win() -> None:
    oracle = Uniform(12, 0.7)
    found = separation(oracle, 3000, seed=5)
    lost = simulate(oracle, MaxWin(ties="lose"), 3000, seed=5, method="simulated")
    assert found.trials - int((found.first > found.second).sum()) == round(lost.failure * 3000)


def test_theorem_3_promises_no_more_than_happens() -> None:
    for n, p, alpha in ((2000, 0.9, 1.2), (2000, 0.8, 1.05), (4000, 0.9, 1.3)):
        found = separation(Uniform(n, p), 1024, threads=1).above(alpha)
        assert found.epsilon == pytest.approx((2 * p - alpha) / (2 * p + alpha))
        assert theorem_3(n, p, found.epsilon).separation == pytest.approx(alpha)
        assert 0.0 < found.at_least <= found.high
        assert found.at_least == 1.0 - theorem_3(n, p, found.epsilon).failure
    out_of_reach = separation(Uniform(64, 0.9), 64).above(1.8)
    assert out_of_reach.at_least == 0.0
    assert math.isnan(out_of_reach.epsilon)
    assert math.isnan(separation(Matrix([[0.5, 0.9], [0.1, 0.5]]), 64).above(1.2).at_least)
    assert math.isnan(separation(Uniform(4, 0.5), 64).above(1.2).at_least)


def test_quantiles_are_order_statistics_and_infinity_is_one() -> None:
    found = Separation(
        Uniform(4, 0.9), "truth", np.array([3, 3, 2, 1], np.uint16), np.array([2, 1, 2, 0], np.uint16), 0.9
    )
    assert [found.quantile(share) for share in (0, 0.25, 0.5, 0.75, 1)] == [1.0, 1.0, 1.5, 3.0, math.inf]
    assert found.median == 1.5
    assert found.above(1.5).share == 0.75
    assert found.above(1.6).share == 0.5


def test_an_exact_ratio_counts_as_reached() -> None:
    first, second = np.array([9, 18, 27], np.uint16), np.array([5, 10, 15], np.uint16)  # 1.8 each
    assert Separation(Uniform(64, 0.9), "truth", first, second, 0.95).above(1.8).share == 1.0
    assert Fraction(9, 5) == Fraction(27, 15)


def test_threads_and_pieces_do_not_matter() -> None:
    oracle = Uniform(9, 0.8)
    many = separation(oracle, 5000, seed=2, threads=3)
    few = separation(oracle, 1500, seed=2, threads=1)
    assert (many.first[:1500] == few.first).all()
    assert (many.second[:1500] == few.second).all()
    seen: list[int] = []
    separation(oracle, 2500, progress=seen.append)
    assert seen == [1024, 1024, 452]


def test_recorded_rows_are_read_with_their_labels() -> None:
    rows = np.random.default_rng(0).random((300, 10)) < 0.6
    truth = np.arange(300) % 5
    found = separation(Recorded(rows, truth))
    assert found.trials == 300
    assert not (found.first == separation(Recorded(rows)).first).all()
    same = separation(Recorded.of(Uniform(6, 0.8), 400))
    drawn = separation(Uniform(6, 0.8), 400)
    assert (same.first == drawn.first).all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"oracle": 3}, "'oracle'"),
        ({"oracle": Uniform(70_000, 0.9)}, "at most 65,535 classes"),
        ({"trials": 0}, "'trials'"),
        ({"of": "both"}, "'of' parameter of separation must be one of 'truth', 'winner'"),
        ({"confidence": 1.0}, "'confidence'"),
        ({"threads": 0}, "'threads'"),
        ({"progress": 1}, "'progress'"),
        ({"seed": -1}, "'seed'"),
    ],
)
def test_what_cannot_be_used_is_refused(change: dict[str, object], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        separation(**{"oracle": Uniform(4, 0.9), "trials": 64, **change})  # type: ignore[arg-type]
    found = separation(Uniform(4, 0.9), 64)
    for wrong in (0.0, -1.0, math.nan, math.inf, "x"):
        with pytest.raises(ParameterError, match="'alpha'"):
            found.above(wrong)  # type: ignore[arg-type]
    for wrong in (-0.1, 1.1, math.nan):
        with pytest.raises(ParameterError, match="'probability'"):
            found.quantile(wrong)


def test_the_command_prints_what_the_library_finds(pairsim_command: Command, tmp_path: Path) -> None:
    words = ("separation", "--n", "16,32", "--p", "0.9", "--alpha", "1.2,1.8", "--trials", "2000", "--seed", "4")
    rows = json.loads(pairsim_command(*words, "--format", "json").out)
    assert [(row["n"], row["alpha"]) for row in rows] == [(16, 1.2), (16, 1.8), (32, 1.2), (32, 1.8)]
    found = separation(Uniform(32, 0.9), 2000, seed=4)
    above = found.above(1.2)
    assert [rows[2][name] for name in ("share", "low", "high", "promised")] == [*above[1:4], above.at_least]
    assert [rows[2][name] for name in ("q05", "q50", "q95")] == [found.quantile(x) for x in (0.05, 0.5, 0.95)]
    table = pairsim_command(*words).out
    assert "interval" in table
    assert "2,000 trials" in table
    Recorded.of(Uniform(6, 0.8), 200).save(tmp_path / "a.npz")
    answers = ("separation", "--oracle", f"recorded:{tmp_path / 'a.npz'}", "--of", "winner", "--format", "csv")
    (row,) = csv.DictReader(pairsim_command(*answers).out.splitlines())
    assert row["trials"] == "200"
    assert row["promised"] == ""


def test_the_theorems_are_on_the_command_line(pairsim_command: Command) -> None:
    words = ("bound", "--n", "4096", "--p", "0.9", "--alpha", "1.2", "--power", "2", "--format", "csv")
    rows = list(csv.DictReader(pairsim_command(*words).out.splitlines()))
    assert [row["theorem"] for row in rows] == ["Lemma 1", "Theorem 2", "Theorem 3", "Theorem 3"]
    for column, printed in (("corrected", False), ("printed", True)):
        slope, start = lemma_1(1.2, 2.0, printed=printed)
        told = theorem_3(4096, 0.9, 0.2, printed=printed)
        expected = [
            math.ceil(slope * math.log2(4095) + start),
            paper_sample_size(4096, 1.2, 2.0, printed=printed),
            told.failure,
            told.separation,
        ]
        assert [float(row[column]) for row in rows] == pytest.approx(expected)
    nothing = pairsim_command("bound", "--n", "64", "--p", "0.9", "--alpha", "1.9", "--format", "json").out
    assert [row["corrected"] for row in json.loads(nothing)][2:] == [1.0, None]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("bound", "--n", 8, "--p", 0.9, "--alpha", 1.0), "The 'alpha' parameter of bound must be a number above 1"),
        (
            ("bound", "--n", 8, "--p", 0.9, "--alpha", 1.5, "--failure", "1/n"),
            "'failure' parameter of bound must be omitted",
        ),
        (("bound", "--n", 8, "--p", 0.9, "--alpha", 1.5, "--power", 0), "'c' parameter of bound"),
        (("bound", "--n", 2, "--p", 0.9, "--alpha", 1.5), "'n' parameter of bound must be at least 3"),
        (("separation", "--n", 8, "--p", 0.9, "--alpha", "x"), "'alpha'"),
        (("separation", "--n", 8, "--p", 0.9, "--of", "x"), "'of' parameter of separation"),
    ],
)
def test_the_commands_refuse_in_one_line(words: tuple[object, ...], message: str, pairsim_command: Command) -> None:
    outcome = pairsim_command(*words)
    assert outcome.code == 2
    assert message in outcome.err
    assert outcome.err.count("\n") == 1
