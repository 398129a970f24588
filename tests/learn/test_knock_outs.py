"""Knock-outs of all rows at once give, row by row, what the ask/tell decoder gives: winner, queries and rounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("sklearn")

from pairsim import Adag, Champion, decoder
from pairsim.kernels.driver import list_round, name_winner, record_round, start_decoder
from pairsim.kernels.stream import stream_key
from pairsim.learn.compiled.knock_outs import games_by_place
from pairsim.learn.one_vs_one.prediction import KNOCK_OUT_ROWS, name_classes
from pairsim.models import LinearPairs
from pairsim.models.compiled.exponentials import BATCH, exponentials

SPECS = ["adag", "adag:order=given", *(f"champion:ties={ties}" for ties in ("random", "first", "any"))]


def random_model(n: int, seed: int, transitive: float) -> tuple[LinearPairs, np.ndarray]:
    """Return hyperplanes that tell the classes by their strengths, more or less, and points to ask about."""
    rng = np.random.default_rng(seed)
    low, high = np.triu_indices(n, 1)
    centres = rng.normal(size=(n, 3))
    coef = transitive * (centres[low] - centres[high]) + rng.normal(size=(low.size, 3))
    return LinearPairs(coef, rng.normal(size=low.size)), rng.normal(size=(40, 3))


def ask_one_row(spec: str, answers: np.ndarray, n: int, seed: int) -> tuple[int, int, int]:
    """Run the ask/tell decoder on one row's answers, query by query."""
    kernel = decoder(spec).kernel(n)
    state = start_decoder(kernel, n, stream_key(seed, n))
    beats = np.zeros((n, n), bool)
    beats[np.triu_indices(n, 1)] = answers
    asked = rounds = 0
    while len(queries := list_round(kernel, state)):
        won = np.array([beats[i, j] if i < j else not beats[j, i] for i, j in queries])
        record_round(kernel, state, queries, won)
        asked, rounds = asked + len(queries), rounds + 1
    return int(name_winner(kernel, state)), asked, rounds


@settings(max_examples=40, deadline=None)
@given(n=st.integers(2, 23), seed=st.integers(0, 10**6), transitive=st.sampled_from([0.0, 1.0, 5.0]))
@pytest.mark.parametrize("spec", SPECS)
def test_all_rows_at_once_are_the_decoder_row_by_row(spec: str, n: int, seed: int, transitive: float) -> None:
    model, points = random_model(n, seed, transitive)
    winners, costs = name_classes(model, decoder(spec), points, seed)
    answers = model.answers(points)
    for row in range(len(points)):
        found = (int(winners[row]), int(costs.queries[row]), int(costs.rounds[row]))
        assert found == ask_one_row(spec, answers[row], n, seed)
    assert (costs.distinct == costs.queries).all()


@pytest.mark.parametrize("spec", ["adag", "champion:ties=first"])
def test_a_row_is_answered_alike_in_any_batch(spec: str) -> None:
    model, points = random_model(9, 3, 1.0)
    many = np.tile(points, (KNOCK_OUT_ROWS // len(points) + 2, 1))  # more rows than play at a time
    together, _ = name_classes(model, decoder(spec), many)
    alone = [int(name_classes(model, decoder(spec), point[None, :])[0][0]) for point in points]
    assert together.tolist() == [alone[row % len(points)] for row in range(len(many))]
    assert len(set(alone)) > 1


@pytest.mark.parametrize("n", range(2, 40))
def test_games_of_whoever_wins_from_each_place(n: int) -> None:
    games = games_by_place(n)
    most = (n - 1).bit_length()
    assert set(games.tolist()) <= {most, most - 1}  # nobody passes twice
    assert abs(sum(2.0**-g for g in games) - 1.0) < 1e-12  # with fair answers somebody wins


def test_both_decoders_share_the_list() -> None:
    model, points = random_model(16, 0, 5.0)
    adag, champion = (name_classes(model, each, points)[0] for each in (Adag(), Champion()))
    best = model.answers(points)
    assert best.shape == (40, 120)
    assert (adag == champion).mean() > 0.5  # a champion that is not beaten is the adag's


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(-700.0, 0.0), min_size=1, max_size=50))
def test_exponentials_to_the_last_digits(numbers: list[float]) -> None:
    values = np.array(numbers)
    wanted = np.exp(values)
    assert np.abs(exponentials(values.copy()) / wanted - 1.0).max() <= 3 * np.finfo(float).eps


def test_exponentials_of_long_arrays_and_of_the_ends() -> None:
    values = -np.linspace(0.0, 50.0, 3 * BATCH + 7).reshape(-1, 1)
    assert np.abs(exponentials(values.copy()) / np.exp(values) - 1.0).max() <= 3 * np.finfo(float).eps
    low, above, least = exponentials(np.array([-1e300, 1e-9, -708.0]))
    assert (above, low) == (1.0, least)
    assert 0.0 < least < 1e-307
