"""The law of the place: which number the true class has tells no decoder anything.

The random oracles call the true class 0; for a real data point it can have any number. So success and cost of a decoder
that does not read numbers must not depend on the place of the truth, and what the simulator reports of any decoder on
`Uniform` and `Ranked` must be the mean over places drawn at random.

Every comparison is made at false-alarm rate PER_COMPARISON (costs: by the normal approximation); fewer than 3,000 are
made here, so the probability that any of them rings falsely is below 1e-5. The seeds are fixed.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
from decisions import decide
from labels import with_truth_at
from scipy.stats import binomtest, norm
from strategies import every_decoder

from pairsim import Champion, Decoder, Matrix, MaxWin, Oracle, Quick, Ranked, Recorded, Similarity, Uniform, simulate
from pairsim.decoders import Cost
from pairsim.kernels.driver import decode_trials
from pairsim.kernels.protocol import DECODERS, DecoderFunctions
from pairsim.oracles.labels import without_labels
from pairsim.simulation import simulator

PER_COMPARISON = 3e-9
WIDTH = float(norm.isf(PER_COMPARISON / 2))  # of an interval, in standard errors
BATCHES = 64
SIZES = (7, 8)  # with and without byes
PLACES = ("first", "middle", "last", "drawn")

ORACLES = {
    "uniform": lambda n: Uniform(n, 0.7),
    "ranked": lambda n: Ranked(n, 0.8),
    "similarity": lambda n: Similarity.profile("zipf:1.0", n),
}


class Outcome(NamedTuple):
    """In which rows the true class was named, and the mean cost of each batch of rows (queries, rounds)."""

    right: np.ndarray  # bool[rows]
    costs: np.ndarray  # float[BATCHES, 2]


def decode(rows: Recorded, decoder: Decoder) -> Outcome:
    assert rows.rows is not None
    size = rows.rows // BATCHES
    winners: list[int] = []
    costs = np.empty((BATCHES, 2))
    for batch in range(BATCHES):
        named, (queries, _, rounds) = decide(rows, decoder, size, seed=11, first=batch * size)
        winners += named
        costs[batch] = queries / size, rounds / size
    return Outcome(np.array(winners) == rows.truth(0, rows.rows), costs)


# --- decoders that do not read class numbers -------------------------------------------------------------------------


@functools.cache
def rows_with_truth_at(oracle: str, n: int, place: str) -> Recorded:
    """Return the same tournaments for every place, numbered anew."""
    count = 2048
    drawn = np.random.default_rng(3).integers(0, n, count)
    places = {"first": np.zeros_like(drawn), "middle": drawn * 0 + n // 2, "last": drawn * 0 + n - 1, "drawn": drawn}
    return with_truth_at(ORACLES[oracle](n), places[place], seed=1, dice_seed=2)


def same_wherever(one: Outcome, other: Outcome) -> bool:
    """Compare success (McNemar's exact test: the rows are the same tournaments) and cost."""
    only_one, only_other = int((one.right & ~other.right).sum()), int((other.right & ~one.right).sum())
    told_apart = only_one + only_other > 0 and binomtest(only_one, only_one + only_other).pvalue < PER_COMPARISON
    return not told_apart and costs_agree(one.costs - other.costs)


def costs_agree(differences: np.ndarray) -> bool:
    """Say whether the mean of independent differences may be 0."""
    errors = differences.std(axis=0, ddof=1) / math.sqrt(len(differences))
    return bool((np.abs(differences.mean(axis=0)) <= WIDTH * errors).all())


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("n", SIZES)
def test_the_place_of_the_truth_changes_nothing(oracle: str, n: int) -> None:
    for decoder in every_decoder(n):
        if decoder.reads_labels:
            continue
        first, *others = (decode(rows_with_truth_at(oracle, n, place), decoder) for place in PLACES)
        assert all(same_wherever(first, other) for other in others), decoder.spec


@pytest.mark.parametrize("decoder", [Quick(order="given"), Quick("any", "given"), Champion("any", "given")], ids=str)
def test_decoders_that_read_numbers_are_told_apart(decoder: Decoder) -> None:
    """Negative control: quick and champion as they were."""
    outcomes = [decode(rows_with_truth_at("uniform", 8, place), decoder) for place in ("first", "last")]
    assert not same_wherever(*outcomes)


# --- all decoders ----------------------------------------------------------------------------------------------------


@functools.cache
def rows_with_truth_anywhere(oracle: str, n: int) -> Recorded:
    count = 8192
    return with_truth_at(ORACLES[oracle](n), np.random.default_rng(5).integers(0, n, count), seed=6, dice_seed=7)


def reports(oracle: Oracle, asked: Decoder, truth: Outcome) -> bool:
    """Compare what the simulator reports with other tournaments, in which the truth stands anywhere."""
    count = len(truth.right)
    found = simulate(oracle, asked, count, seed=8, threads=1)
    success = truth.right.mean()
    error = math.hypot(found.standard_error, math.sqrt((success * (1 - success) + 1 / count) / count))
    if abs(found.success - success) > WIDTH * error:
        return False
    costs, errors = truth.costs.mean(axis=0), truth.costs.std(axis=0, ddof=1) / math.sqrt(BATCHES)
    # as many trials as rows, so the reported mean has about the same error
    return bool((np.abs(costs - (found.queries, found.rounds)) <= WIDTH * math.sqrt(2) * errors + 1e-9).all())


@pytest.mark.parametrize("oracle", ["uniform", "ranked"])
def test_the_simulator_reports_the_mean_over_places(oracle: str) -> None:
    n = SIZES[0]
    rows = rows_with_truth_anywhere(oracle, n)
    wrong = [d.spec for d in every_decoder(n) if not reports(ORACLES[oracle](n), d, decode(rows, d))]
    assert not wrong


def test_reports_that_are_wrong_are_rejected() -> None:
    """Negative control: a truth at place 0, and the random tie rule in place of the first, which asks for less."""
    n = SIZES[0]
    uniform, rows = ORACLES["uniform"](n), rows_with_truth_anywhere("uniform", n)
    assert not reports(Matrix(uniform.matrix()), MaxWin("first"), decode(rows, MaxWin("first")))
    assert not reports(uniform, MaxWin("lose"), decode(rows, MaxWin("first")))
    assert not reports(uniform, Quick("random"), decode(rows, Quick("first")))
    assert not reports(uniform, Champion("random"), decode(rows, Champion("first")))


def test_what_reads_numbers_has_them_drawn() -> None:
    for oracle in (Uniform(7, 0.7), Ranked(7, 0.7)):
        for decoder in every_decoder(7):
            rules = without_labels(oracle, decoder)
            assert not rules.reads_labels
            assert (rules == decoder) == (not decoder.reads_labels)
            assert rules.cost(7) == decoder.cost(7)
    for oracle in (Similarity([0.5, 0.3, 0.2]), Matrix(Uniform(3, 0.7).matrix()), Recorded.of(Uniform(3, 0.7), 1)):
        assert all(without_labels(oracle, decoder) is decoder for decoder in every_decoder(3))


class FavouriteKernel(NamedTuple):
    """Compiled form of `Favourite`."""

    named: int


class FavouriteState(NamedTuple):
    left: np.ndarray  # int64[1]: queries


def _begin(decoder, state, key):
    state.left[0] = 1


def _finish_round(decoder, state):
    state.left[0] = 0


DECODERS[FavouriteKernel] = DecoderFunctions(
    lambda decoder, n: FavouriteState(np.zeros(1, np.int64)),
    _begin,
    lambda decoder, state: state.left[0],
    lambda decoder, state, k: (0, 1),
    lambda decoder, state, k, i, j, i_wins: None,
    _finish_round,
    lambda decoder, state: decoder.named,
)


@dataclasses.dataclass(frozen=True)
class Favourite(Decoder):
    """A decoder of a user's that always names the class with this number, after one query for show."""

    name: ClassVar[str] = "favourite"
    summary: ClassVar[str] = "always the same number"
    repeats: ClassVar[bool] = False

    number: int = 0

    def cost(self, n: int) -> Cost:
        return Cost(1, 1)

    def kernel(self, n: int) -> FavouriteKernel:
        return FavouriteKernel(self.number)


def decode_in_plain_python(*arguments: object) -> None:
    with np.errstate(over="ignore"):
        decode_trials.py_func(*arguments)


@pytest.mark.parametrize("number", [0, 3])
def test_a_decoder_of_the_user_profits_from_no_number(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # compiled for a type of this file, the loop would stay in the kernel cache, where others could not load it
    monkeypatch.setattr(simulator, "decode_trials", decode_in_plain_python)
    trials = 2000
    found = simulate(Uniform(4, 0.9), Favourite(number), trials, seed=2, threads=1)
    assert binomtest(round(found.success * trials), trials, 1 / 4).pvalue > PER_COMPARISON
    assert (found.decoder, found.queries, found.rounds) == (Favourite(number).spec, 1.0, 1.0)
    assert simulate(Matrix(Uniform(4, 0.9).matrix()), Favourite(number), 100, threads=1).success == (number == 0)


# --- published figures -----------------------------------------------------------------------------------------------


def is_figure(values: list[float], figure: float, unit: float) -> bool:
    """Say whether a figure, rounded to `unit`, may be the mean of what independent seeds gave."""
    error = float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return abs(float(np.mean(values)) - figure) <= WIDTH * error + unit / 2


QUERIES = [  # oracle, quick's mean queries with the truth anywhere, and with the truth at 0
    (Uniform(16, 0.99), 23.7, 17.5, 0.1),
    (Uniform(64, 0.99), 128, 103, 1),
    (Ranked(64, 0.99), 97, 71, 1),
    (Uniform(32, 0.9), 138, 133, 1),
]


@pytest.mark.parametrize(("oracle", "now", "before", "unit"), QUERIES, ids=str)
def test_queries_of_quick(oracle: Oracle, now: float, before: float, unit: float) -> None:
    found = [simulate(oracle, Quick(), 1000, seed, method="simulated", threads=1).queries for seed in range(64)]
    assert is_figure(found, now, unit)
    assert not is_figure(found, before, unit)


@pytest.mark.parametrize(
    ("decoder", "now", "before"), [(Quick("any"), 0.460, 0.521), (Champion("any"), 0.460, 0.494)], ids=str
)
def test_success_when_any_winner_will_do(decoder: Decoder, now: float, before: float) -> None:
    found = [simulate(Uniform(16, 0.7), decoder, 1000, seed, threads=1).success for seed in range(64)]
    assert is_figure(found, now, 0.001)
    assert not is_figure(found, before, 0.001)
