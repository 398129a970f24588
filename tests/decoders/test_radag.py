"""Radag: pairings that cost the least, byes that are shared, errors from anywhere."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path

import naive
import numpy as np
import pytest
from cheapest import NOBODY, by_hand, by_programming, pair_up_naively
from decisions import decide
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import SEEDS

import pairsim
from pairsim import Adag, Matrix, ParameterError, Radag, Recorded, Session, Uniform, exact, simulate
from pairsim.decoders.pair_errors import PairErrors
from pairsim.exact_values.result import ExactUnavailable
from pairsim.kernels.matching import MOST_COST, cheapest_pairing

Costs = list[list[int]]


# --- the matching ----------------------------------------------------------------------------------------------------


def pair_up(costs: Costs) -> list[int]:
    found: list[int] = cheapest_pairing(np.array(costs, np.int64)).tolist()
    assert [found[mate] for mate in found] == list(range(len(costs))), "a pairing"
    assert sum(mate == c for c, mate in enumerate(found)) == len(costs) % 2, "a bye for one of an odd number"
    return found


def total(costs: Costs, mates: dict[int, int] | list[int]) -> int:
    return sum(costs[c][mates[c]] for c in range(len(costs)) if mates[c] > c)


def symmetric(n: int, flat: list[int]) -> Costs:
    above = iter(flat)
    costs = [[0] * n for _ in range(n)]
    for i, j in itertools.combinations(range(n), 2):
        costs[i][j] = costs[j][i] = next(above)
    return costs


def in_odd_clusters(n: int, dice: random.Random) -> Costs:
    """Return distances on a line of clusters of clusters of three: blossoms within blossoms."""
    places = [9**3 * (c // 9) + 9**2 * (c // 3) + dice.randrange(9) for c in range(n)]
    dice.shuffle(places)
    return [[abs(a - b) for b in places] for a in places]


@st.composite
def costs_of(draw: st.DrawFn, most: int) -> Costs:
    n = draw(st.integers(2, most))
    if draw(st.booleans()):
        return in_odd_clusters(n, random.Random(draw(st.integers(0, 10**6))))
    largest = draw(st.sampled_from([1, 2, 9, 1000, MOST_COST]))
    pairs = n * (n - 1) // 2
    return symmetric(n, draw(st.lists(st.integers(0, largest), min_size=pairs, max_size=pairs)))


@settings(derandomize=True, deadline=None, max_examples=400)
@given(costs_of(8))
def test_no_pairing_is_cheaper(costs: Costs) -> None:
    """Against every pairing there is, by listing the players in every order."""
    players = [*range(len(costs)), *([NOBODY] if len(costs) % 2 else [])]

    def pairings(left: list) -> list[int]:
        if not left:
            return [0]
        return [
            (0 if other == NOBODY else costs[left[0]][other]) + rest
            for other in left[1:]
            for rest in pairings([each for each in left[1:] if each != other])
        ]

    assert total(costs, pair_up(costs)) == min(pairings(players))


@settings(derandomize=True, deadline=None, max_examples=60)
@given(costs_of(14))
def test_as_cheap_as_by_hand(costs: Costs) -> None:
    naively = pair_up_naively(range(len(costs)), lambda i, j: costs[i][j])
    assert total(costs, pair_up(costs)) == total(costs, naively)


@pytest.mark.parametrize("n", [30, 41, 60])
@pytest.mark.parametrize("kind", ["random", "clusters"])
def test_as_cheap_as_an_integer_programme(n: int, kind: str) -> None:
    dice = random.Random(n)
    flat = [dice.randrange(10**5) for _ in range(n * (n - 1) // 2)]
    costs = symmetric(n, flat) if kind == "random" else in_odd_clusters(n, dice)
    assert total(costs, pair_up(costs)) == total(costs, pair_up_naively(range(n), lambda i, j: costs[i][j]))


def test_greedy_pairing_would_be_noticed() -> None:
    """Negative control: the two ways to the cheapest agree, and taking the cheapest game first does not."""
    costs = [[0, 1, 2, 9], [1, 0, 9, 2], [2, 9, 0, 9], [9, 2, 9, 0]]
    pair_costs = {(i, j): costs[i][j] for i, j in itertools.combinations(range(4), 2)}
    assert by_hand((0, 1, 2, 3), pair_costs) == [(0, 2), (1, 3)] == by_programming([0, 1, 2, 3], pair_costs)
    assert pair_up(costs) == [2, 3, 0, 1]


# --- the decoder -----------------------------------------------------------------------------------------------------


def rounds_of(n: int, decoder: Radag, low_wins: naive.LowWins) -> list[list[tuple[int, int]]]:
    session, rounds = Session(n, decoder), []
    while not session.done:
        rounds.append(session.ask())
        session.tell_all([low_wins(min(pair), max(pair)) == (pair[0] < pair[1]) for pair in rounds[-1]])
    return rounds


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.integers(2, 13), st.integers(0, 10**6))
def test_each_round_costs_the_least_that_it_can(n: int, seed: int) -> None:
    dice = random.Random(seed)
    table = symmetric(n, [dice.randrange(1, 1000) for _ in range(n * (n - 1) // 2)])
    decoder = Radag(np.array(table) / 1000)
    answers = [dice.random() < 0.5 for _ in range(n * (n - 1) // 2)]
    low_wins = naive.recorded_tournament(n, answers)
    alive, before = set(range(n)), None
    for games in rounds_of(n, decoder, low_wins):
        players = {c for game in games for c in game}
        idle = alive - players
        assert players <= alive
        assert len(players) == 2 * len(games)
        assert len(idle) == len(alive) % 2
        assert not idle or idle != before, "nobody has a bye twice in a row"
        barred = next(iter(before)) if before else None
        best = pair_up_naively(sorted(alive), lambda i, j: table[i][j], barred)
        assert sum(table[i][j] for i, j in games) == sum(table[i][j] for i, j in best.items() if i < j)
        alive -= {c for i, j in games for c in ((j,) if low_wins(min(i, j), max(i, j)) == (i < j) else (i,))}
        before = idle or None
    assert len(alive) == 1


@pytest.mark.parametrize("n", [2, 3, 7, 12, 33])
def test_equal_errors_are_adag(n: int) -> None:
    """With its random order: the order of the class numbers would favour some of them, where there are byes."""
    oracle = Uniform(n, 0.7)
    adag = decide(oracle, Adag(), 300, seed=4)
    assert decide(oracle, Radag(), 300, seed=4) == adag
    assert decide(oracle, Radag([0.3] * (n * (n - 1) // 2)), 300, seed=4) == adag
    assert decide(oracle, Radag([0.0] * (n * (n - 1) // 2)), 300, seed=4) == adag


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.integers(3, 12), SEEDS)
def test_renaming_the_classes_renames_the_winner(n: int, seed: int) -> None:
    """Errors that are all different leave nothing to the preference for some pairs by their number."""
    dice = random.Random(seed)
    new_name = dice.sample(range(n), n)
    pairs = list(itertools.combinations(range(n), 2))
    errors = dict(zip(pairs, dice.sample(range(1, 10**6), len(pairs)), strict=True))
    wins = {pair: dice.random() < 0.5 for pair in pairs}
    renamed_errors, renamed_wins = {}, {}
    for i, j in pairs:
        a, b = new_name[i], new_name[j]
        renamed_errors[min(a, b), max(a, b)] = errors[i, j]
        renamed_wins[min(a, b), max(a, b)] = wins[i, j] == (a < b)
    (winner,), _ = decide(Recorded([list(wins.values())]), Radag([e / 10**6 for e in errors.values()]), 1, seed)
    renamed = Recorded([[renamed_wins[pair] for pair in pairs]])
    (other,), _ = decide(renamed, Radag([renamed_errors[pair] / 10**6 for pair in pairs]), 1, seed)
    assert other == new_name[winner]


def test_good_errors_help_and_bad_ones_harm() -> None:
    """What it is for: told which pairs are unreliable, it succeeds more often than an adag that does not know."""
    n, dice = 16, np.random.default_rng(5)
    probabilities = np.full((n, n), 0.5)
    upper = np.triu_indices(n, 1)
    probabilities[upper] = np.where(dice.random(len(upper[0])) < 0.5, 0.98, 0.6)
    oracle = Matrix(np.triu(probabilities, 1) + np.tril(1 - probabilities.T, -1) + np.eye(n) / 2)
    errors = 1 - probabilities[upper]
    worst = errors.max() - errors
    good, blind, bad = simulate(oracle, [Radag(errors), Adag(), Radag(worst)], 4_000, seed=1)
    assert good.low > blind.high > blind.low > bad.high


# --- errors from anywhere --------------------------------------------------------------------------------------------


def test_the_ways_to_give_errors(tmp_path: Path) -> None:
    flat = [0.125, 0.25, 1e-9]
    square = [[0.5, 0.125, 0.25], [0.125, 0.5, 1e-9], [0.25, 1e-9, 0.5]]
    np.save(tmp_path / "square.npy", square)
    (tmp_path / "square.csv").write_text("\n".join(",".join(map(str, row)) for row in square))
    (tmp_path / "flat.csv").write_text(",".join(map(str, flat)))
    (tmp_path / "column.csv").write_text("\n".join(map(str, flat)))
    files = ("square.npy", "square.csv", "flat.csv", "column.csv")
    specs = [f"radag:errors={tmp_path / name}" for name in files]
    for given_errors in (flat, square, np.array(square), "0.125/0.25/1e-09", *(tmp_path / name for name in files)):
        assert Radag(given_errors) == Radag(flat)
        assert hash(Radag(given_errors)) == hash(Radag(flat))
    for spec in specs:
        assert pairsim.decoder(spec) == Radag(flat)
        assert pairsim.decoder(spec).spec == spec
    assert Radag(flat).spec == "radag:errors=0.125/0.25/1e-09"
    assert pairsim.decoder(Radag(flat).spec) == Radag(flat) != Radag()
    assert Radag().spec == "radag"
    assert Radag(json.loads(json.dumps(Radag(flat).errors))) == Radag(flat), "as a store keeps it"
    assert isinstance(Radag(flat).errors, PairErrors)
    assert eval(repr(Radag(flat)), {"Radag": Radag}) == Radag(flat)


@pytest.mark.parametrize(
    "errors",
    [
        [0.1, 0.2],
        [],
        0.3,
        [[0, 0.1], [0.2, 0]],
        [[0, 0.1, 0.2], [0.1, 0, 0.3]],
        [0.1, 1.5, 0.2],
        [-0.1],
        [float("nan")],
        [[0, float("nan")], [float("nan"), 0]],
        ["a"],
        {"a": 1},
        "no such file.csv",
        [[[0.1]]],
    ],
    ids=str,
)
def test_refuses(errors: object) -> None:
    with pytest.raises(ParameterError, match="'errors' parameter of Radag"):
        Radag(errors)


def test_refuses_files_and_numbers_of_classes(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("a,b\nc,d")
    np.save(tmp_path / "objects.npy", np.array([{}, 1], object), allow_pickle=True)
    for name in ("bad.csv", "objects.npy"):
        with pytest.raises(ParameterError, match="'errors' parameter of Radag must be a readable csv or npy file"):
            pairsim.decoder(f"radag:errors={tmp_path / name}")
    for use in (Radag([0.1]).cost, Radag([0.1]).kernel):
        with pytest.raises(ParameterError, match=r"of 3 classes, as many as there are\. Got errors of 2 instead"):
            use(3)
    with pytest.raises(ExactUnavailable):
        exact(Uniform(4, 0.9), Radag())
