"""Fits: the traits are what a plain count gives, each oracle is found again from its own answers, and so on."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import binom

from pairsim import (
    Adag,
    Ddag,
    MaxWin,
    ParameterError,
    Poll,
    Ranked,
    Recorded,
    Similarity,
    TopK,
    Uniform,
    fit_oracles,
)
from pairsim.fitting import fit_ranked, fit_similarity, fit_uniform, traits_of
from pairsim.fitting.compare import step_count
from pairsim.fitting.models import level_likelihood

PANEL = [MaxWin(), Poll("log"), Poll("3log"), Adag()]


@st.composite
def recordings(draw: st.DrawFn) -> Recorded:
    n, rows = draw(st.integers(4, 7)), draw(st.integers(1, 5))
    pairs = n * (n - 1) // 2
    bits = draw(st.integers(0, 2 ** (rows * pairs) - 1))
    answers = [[bool(bits >> (row * pairs + k) & 1) for k in range(pairs)] for row in range(rows)]
    return Recorded(answers, draw(st.lists(st.integers(0, n - 1), min_size=rows, max_size=rows)))


def relabelled(recorded: Recorded, seed: int) -> Recorded:
    """Give the classes of every row new numbers; the true class goes along."""
    rng = np.random.default_rng(seed)
    n, answers = recorded.n, recorded.answers()
    pairs = list(itertools.combinations(range(n), 2))
    rows, truth = [], []
    for row, true in zip(answers, recorded.truth(0, recorded.rows), strict=True):
        new = rng.permutation(n)
        wins = {}
        for (low, high), low_won in zip(pairs, row, strict=True):
            a, b = new[low], new[high]
            wins[min(a, b), max(a, b)] = bool(low_won) if a < b else not low_won
        rows.append([wins[pair] for pair in pairs])
        truth.append(int(new[true]))
    return Recorded(rows, truth)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(recordings())
def test_traits_are_those_of_a_plain_count(recorded: Recorded) -> None:
    n, pairs = recorded.n, list(itertools.combinations(range(recorded.n), 2))
    right, unbeaten, circles, triples, highest, second = 0, 0, 0, 0, [], []
    losses = [0] * n
    for row, true in zip(recorded.answers(), recorded.truth(0, recorded.rows), strict=True):
        winner = {pair: pair[0] if low_won else pair[1] for pair, low_won in zip(pairs, row, strict=True)}
        own = [winner[pair] == true for pair in pairs if true in pair]
        right, unbeaten = right + sum(own), unbeaten + all(own)
        losses[len(own) - sum(own)] += 1
        for three in itertools.combinations([c for c in range(n) if c != true], 3):
            champions = [winner[pair] for pair in itertools.combinations(three, 2)]
            circles, triples = circles + (len(set(champions)) == 3), triples + 1
        scores = sorted((list(winner.values()).count(c) for c in range(n)), reverse=True)
        highest.append(scores[0] / (n - 1))
        second.append(scores[1] / (n - 1))
    found = traits_of(recorded)
    assert found.accuracy == pytest.approx(right / (recorded.rows * (n - 1)))
    assert found.unbeaten == pytest.approx(unbeaten / recorded.rows)
    assert found.circles == pytest.approx(4 * circles / triples)
    assert (found.winner, found.runner_up) == pytest.approx((np.mean(highest), np.mean(second)))
    assert found.losses.tolist() == losses
    assert (found.beats + found.beats.T == recorded.rows * (1 - np.eye(n))).all()
    among = found.beats[1:, 1:].sum(axis=1)
    assert (np.diff(among) <= 0).all()  # places are in the order of wins


@settings(derandomize=True, deadline=None, max_examples=20)
@given(recordings(), st.integers(0, 99))
def test_traits_do_not_depend_on_the_numbers_of_the_classes(recorded: Recorded, seed: int) -> None:
    one, two = traits_of(recorded), traits_of(relabelled(recorded, seed))
    assert one.losses.tolist() == two.losses.tolist()
    assert (one.circles, one.winner, one.runner_up) == pytest.approx((two.circles, two.winner, two.runner_up))


@pytest.mark.parametrize(
    "oracle",
    [Ranked(16, 0.97, 0.9, 0.6), Ranked(16, 0.8, 0.3, 0.2), Ranked(16, 0.9, 1.0, 0.0), Ranked(12, 0.6, 0.0, 0.9)],
    ids=lambda oracle: oracle.label,
)
def test_a_ranked_oracle_is_found_again(oracle):
    found = fit_ranked(relabelled(Recorded.of(oracle, 1000, seed=4), 1))
    assert abs(found.p - oracle.p) < 0.02
    assert abs(found.order - oracle.order) < 0.02
    assert abs(found.difficulty - oracle.difficulty) < 0.05


def test_uniform_answers_have_no_order_and_no_difficulty():
    answers = Recorded.of(Uniform(20, 0.8), 2000)
    found = fit_ranked(answers)
    assert (found.order, found.difficulty) == (pytest.approx(0.0, abs=0.02), pytest.approx(0.0, abs=0.01))
    assert fit_uniform(answers).p == pytest.approx(0.8, abs=0.01)
    assert found.p == pytest.approx(fit_uniform(answers).p, abs=0.002)


def test_the_likelihood_is_the_binomial_one_without_difficulty_and_the_fit_is_at_its_top():
    losses = np.array([50, 30, 10, 5, 3, 2])
    plain = float(losses @ binom.logpmf(np.arange(6), 5, 0.3))
    assert level_likelihood(losses, ndtri(0.7), 0.0) == pytest.approx(plain, rel=1e-9)
    answers = Recorded.of(Ranked(6, 0.85, 0.7, 0.4), 500, seed=9)
    found, seen = fit_ranked(answers), traits_of(answers).losses
    top = level_likelihood(seen, ndtri(found.p), found.difficulty)
    for p, difficulty in itertools.product((-0.01, 0.0, 0.01), (-0.05, 0.0, 0.05)):
        assert level_likelihood(seen, ndtri(found.p + p), found.difficulty + difficulty) <= top + 1e-4


def test_similarities_are_found_again_where_places_are_clear():
    r = np.array([0.7, 0.25, 0.045, 0.005])
    found = fit_similarity(Recorded.of(Similarity(r), 4000))
    # the wrong classes are put in the order of their wins, so upsets among them are not seen as such
    assert found.r[0] == pytest.approx(0.7, abs=0.05)
    assert (np.diff(found.r) < 0).all()


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_a_true_class_that_always_wins_or_loses_can_be_fitted(p):
    fits = fit_oracles(Recorded.of(Ranked(6, p, 0.9), 50), PANEL, trials=1000)
    assert (fits["uniform"].oracle.p, fits["ranked"].oracle.p, fits["ranked"].oracle.difficulty) == (p, p, 0.0)
    assert fits["similarity"].oracle.r.argmax() == 0


def test_the_true_model_predicts_and_the_wrong_one_does_not():
    fits = fit_oracles(relabelled(Recorded.of(Ranked(32, 0.97, 0.9, 0.6), 2000, seed=5), 2), PANEL, trials=8192, seed=1)
    assert fits.worst("ranked") < 0.04
    assert fits.worst("uniform") > 0.15
    assert fits.best is fits["ranked"]
    assert fits["ranked"].traits.circles == pytest.approx(fits.traits.circles, abs=0.02)
    assert fits["uniform"].traits.circles == pytest.approx(1.0, abs=0.05)
    for seen, row in zip(fits.observed, fits.to_records(), strict=True):
        assert row["low"] <= row["observed"] == seen.success <= row["high"]
        assert row["ranked_distance"] == row["ranked"] - row["observed"] == fits.distances("ranked")[row["decoder"]]
        assert row["ranked_distance_low"] <= row["ranked_distance"] <= row["ranked_distance_high"]
    assert any(each.low > 0.0 for each in fits["uniform"].predictions)
    assert fits.to_frame()["decoder"].tolist() == [decoder.spec for decoder in PANEL]
    accuracies = {model.oracle.name: model.traits.accuracy for model in fits.models}
    assert fits.trait_records()[0] == {"trait": "accuracy", "observed": fits.traits.accuracy} | accuracies
    with pytest.raises(ParameterError, match="one of uniform, similarity, ranked"):
        fits["matrix"]


def test_results_do_not_depend_on_threads_and_every_step_is_reported():
    recorded = Recorded.of(Ranked(6, 0.9), 60)
    steps = []
    panel = [*PANEL, TopK(3), Ddag()]
    one = fit_oracles(recorded, panel, trials=2000, folds=3, threads=1, progress=steps.append)
    again = fit_oracles(recorded, panel, trials=2000, folds=3, threads=2)
    assert (one.to_records(), one.parameter_records()) == (again.to_records(), again.parameter_records())
    assert len(steps) == step_count(3)
    assert one.to_records() != fit_oracles(recorded, panel, trials=2000, folds=3, seed=1).to_records()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((Uniform(5, 0.9),), "'recorded' parameter of fit_oracles must be recorded answers"),
        ((Recorded.of(Uniform(3, 0.9), 5),), "at least 4 classes"),
        ((Recorded.of(Uniform(5, 0.9), 5), ["max-win"]), "'decoders' parameter"),
        ((Recorded.of(Uniform(5, 0.9), 5), []), "'decoders' parameter"),
        ((Recorded.of(Uniform(5, 0.9), 1),), "at least 2 rows"),
    ],
)
def test_what_cannot_be_fitted_is_refused(arguments, message):
    with pytest.raises(ParameterError, match=message):
        fit_oracles(*arguments)


@pytest.mark.parametrize("folds", [0, 1, 6, 2.5, "two", True])
def test_folds_must_be_a_number_of_parts_that_rows_can_have(folds):
    with pytest.raises(ParameterError, match="'folds' parameter of fit_oracles must be an integer from 2 to"):
        fit_oracles(Recorded.of(Uniform(5, 0.9), 5), PANEL, folds=folds)


@pytest.mark.parametrize("rows", [2, 3])
def test_a_handful_of_rows_can_be_fitted(rows):
    fits = fit_oracles(Recorded.of(Ranked(5, 0.8), rows), PANEL, trials=500)
    assert fits.folds == rows
    assert all(-1.0 <= each.low <= each.distance <= each.high <= 1.0 for each in fits["ranked"].predictions)


# --- the command -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    path = tmp_path_factory.mktemp("answers") / "answers.npz"
    Recorded.of(Ranked(8, 0.9), 200).save(path)
    return path


def test_the_command_prints_writes_and_draws(pairsim_command, answers, tmp_path):
    out, plot = tmp_path / "table.csv", tmp_path / "fig.png"
    outcome = pairsim_command("fit-oracle", answers, "--trials", "1000", "--out", out, "--plot", plot)
    assert outcome.code == 0
    assert "closest: " in outcome.out
    assert "difficulty" in outcome.out
    assert all(len(line) <= 80 for line in outcome.out.splitlines() if "±" in line)
    assert "runner up" in outcome.out
    frame = pd.read_csv(out)
    assert frame["decoder"].tolist()[:2] == ["max-win", "poll:l=log"]
    assert np.allclose(frame["ranked_distance"], frame["ranked"] - frame["observed"])
    assert (frame["uniform_distance_low"] <= frame["uniform_distance"]).all()
    assert plot.read_bytes().startswith(b"\x89PNG")
    again = pairsim_command("fit-oracle", answers, "--trials", "1000", "--out", out, "--format", "csv")
    assert (again.code, again.out) == (0, out.read_text())


def test_the_command_speaks_json(pairsim_command, answers, tmp_path):
    out = tmp_path / "table.json"
    outcome = pairsim_command(
        "fit-oracle", answers, "--decoder", "adag", "--trials", "500", "--format", "json", "--out", out
    )
    (row,) = json.loads(outcome.out)
    assert json.loads(out.read_text()) == [row]
    assert row["decoder"] == "adag"
    assert math.isclose(row["uniform_distance"], row["uniform"] - row["observed"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["no-such.npz"], "path"),
        (["--out", "table.txt"], "a file name ending in .csv, .json"),
        (["--plot", "fig.bmp"], "a file name ending in .png"),
        (["--ties", "maybe"], "'ties' parameter"),
        (["--trials", "0"], "'trials' parameter"),
        (["--folds", "1"], "'folds' parameter of fit-oracle must be an integer from 2 to the number of rows, 200"),
        (["--decoder", "nobody"], "decoder"),
    ],
)
def test_the_command_says_no_in_one_line(pairsim_command, answers, options, message):
    arguments = options if options[0].endswith(".npz") else [str(answers), *options]
    outcome = pairsim_command("fit-oracle", *arguments)
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    assert message in outcome.err


def test_the_command_does_not_write_over_a_stranger(pairsim_command, answers, tmp_path):
    out = tmp_path / "table.csv"
    out.write_text("mine\n")
    assert pairsim_command("fit-oracle", answers, "--out", out).code == 2
    assert out.read_text() == "mine\n"


def test_ranked_on_the_command_line(pairsim_command):
    table = pairsim_command(
        *("sweep", "--oracle", "ranked", "--n", "6", "--p", "0.9", "--order", "0.5,1", "--difficulty", "0..0.5:0.5"),
        *("--decoder", "adag", "--trials", "100", "--format", "csv"),
    )
    assert [line.split('"')[1] for line in table.out.splitlines()[1:]] == [
        "ranked:order=0.5,difficulty=0",
        "ranked:order=1,difficulty=0",
        "ranked:order=0.5,difficulty=0.5",
        "ranked:order=1,difficulty=0.5",
    ]
    by_option = pairsim_command(
        "plan", "--n", "6", "--p", "0.95", "--order", "0.9", "--target", "0.5", "--format", "csv"
    )
    assert by_option.code == 0
    for arguments, message in (
        (("sweep", "--n", "6", "--p", "0.9", "--order", "2"), "'order' parameter of Ranked must be a number in [0, 1]"),
        (("sweep", "--oracle", "ranked", "--n", "6"), "'p' parameter"),
        (
            ("sweep", "--oracle", "uniform", "--n", "6", "--p", "0.9", "--order", "1"),
            "omitted: the oracle uniform has no such option",
        ),
        (("exact", "--oracle", "ranked", "--n", "6", "--p", "0.9", "--decoder", "adag"), "no exact value"),
        (("exact", "--oracle", "ranked", "--n", "6,8", "--p", "0.9"), "no exact value"),
        (("bound", "--oracle", "ranked", "--n", "6", "--p", "0.9"), "a uniform, similarity or matrix oracle"),
    ):
        outcome = pairsim_command(*arguments)
        assert (outcome.code, outcome.err.count("\n"), message in outcome.err) == (2, 1, True), outcome.err
