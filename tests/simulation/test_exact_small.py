"""Simulation against exact numbers: closed forms, and every tournament and every poll of small problems.

All probabilities are fractions. Each comparison of a count with its exact probability uses an exact binomial interval
at confidence 1 - PER_COMPARISON; fewer than 1,000 comparisons are made here, so the probability that any of them rings
falsely is below 1e-6. The seeds are fixed: what passes once passes always.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

import naive
import pytest
from decisions import decide
from labels import told_apart

from pairsim import Adag, Ddag, Decoder, Halving, Matrix, MaxWin, Oracle, Poll, TopK, Uniform, simulate
from pairsim.exact_values import exact
from pairsim.stats import binomial_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

PER_COMPARISON = 1e-9
TRIALS = 40_000
FINALS = ("rescore", "maxwin")
UNEVEN = ((0.5, 0.75, 0.625, 0.9), (0.25, 0.5, 0.3125, 0.7), (0.375, 0.6875, 0.5, 0.4), (0.1, 0.3, 0.6, 0.5))

Result = TypeVar("Result")
Distribution = dict[int, Fraction]  # winner, or -1 for nobody, to its probability


def agrees(count: int, trials: int, probability: Fraction) -> bool:
    low, high = binomial_interval(count, trials, 1 - PER_COMPARISON)
    return low <= float(probability) <= high


# --- closed forms (the POLL paper, section 1.4; there p is the probability of a wrong answer, here called error)
# ----------


def ddag_success(n: int, error: Fraction) -> Fraction:
    right = 1 - error
    return (right / error + right ** (n - 1) - right**n / error) / n


def adag_success(n: int, error: Fraction) -> Fraction:
    log = (n - 1).bit_length()  # log2 n, rounded up
    late = Fraction(2 * n - 2**log, n)  # share of the places that must win `log` games; the others play one less
    return late * (1 - error) ** log + (1 - late) * (1 - error) ** (log - 1)


def ddag_without_its_last_game(n: int, error: Fraction) -> Fraction:
    """Return a wrong form: as if the two places that meet last had to win different numbers of games."""
    return sum((1 - error) ** games for games in range(1, n + 1)) / Fraction(n)


def adag_without_byes(n: int, error: Fraction) -> Fraction:
    """Return a wrong form: as if nobody ever passed a round."""
    return (1 - error) ** (n - 1).bit_length()


FORMS = {"ddag": ddag_success, "adag": adag_success}


def success_agrees(decoder: Decoder, n: int, p: float, form: Callable[[int, Fraction], Fraction]) -> bool:
    estimate = simulate(told_apart(Uniform(n, p), decoder), decoder, TRIALS, seed=n, threads=1)
    return agrees(round(estimate.success * TRIALS), TRIALS, form(n, 1 - Fraction(p)))


@pytest.mark.parametrize("p", [0.9, 0.7])
@pytest.mark.parametrize("decoder", [Ddag(), Adag()], ids=lambda decoder: decoder.spec)
def test_simulation_meets_the_closed_forms(decoder: Decoder, p: float) -> None:
    missed = [n for n in range(2, 65) if not success_agrees(decoder, n, p, FORMS[decoder.name])]
    assert not missed


def test_wrong_closed_forms_are_rejected() -> None:
    """Negative control, at sizes where the wrong forms are wrong by more than the intervals are wide."""
    assert not success_agrees(Ddag(), 3, 0.9, ddag_without_its_last_game)
    assert not success_agrees(Adag(), 3, 0.9, adag_without_byes)
    assert not success_agrees(Adag(), 33, 0.9, adag_without_byes)
    assert not success_agrees(Ddag(), 8, 0.9, adag_success)
    assert not success_agrees(Ddag("given"), 8, 0.9, ddag_success)  # class 0 is first, and must beat everybody
    assert not success_agrees(Adag(), 8, 0.9, lambda n, error: adag_success(n, 1 - error))  # p read the wrong way


# --- enumeration -----------------------------------------------------------------------------------------------------


class Chooser:
    """Follows a given path of choices, then always takes the first; multiplies up the probability of the path."""

    def __init__(self, path: Sequence[int]) -> None:
        self.path = path
        self.taken: list[tuple[int, int]] = []  # (choice, number of choices there were)
        self.probability = Fraction(1)

    def choose(self, probabilities: Sequence[Fraction]) -> int:
        choice = self.path[len(self.taken)] if len(self.taken) < len(self.path) else 0
        self.taken.append((choice, len(probabilities)))
        self.probability *= probabilities[choice]
        return choice


def every_outcome(play: Callable[[Chooser], Result]) -> Iterator[tuple[Fraction, Result]]:
    """Play through every sequence of choices; yield the probability and the result of each."""
    path: list[int] = []
    while True:
        chooser = Chooser(path)
        result = play(chooser)
        yield chooser.probability, result
        path = [choice for choice, _ in chooser.taken]
        while path and path[-1] == chooser.taken[len(path) - 1][1] - 1:
            path.pop()
        if not path:
            return
        path[-1] += 1


def enumerate_twin(name: str, n: int, probabilities: naive.Probabilities, **options: object) -> Distribution:
    """Return who wins how likely, over all answers that can be asked for and all draws that can be made."""

    def play(chooser: Chooser) -> int:
        answers: dict[tuple[int, int], bool] = {}

        def low_wins(low: int, high: int) -> bool:
            if (low, high) not in answers:
                probability = Fraction(probabilities[low][high])
                answers[low, high] = chooser.choose([probability, 1 - probability]) == 0
            return answers[low, high]

        def draw(_a: int, _b: int, bound: int, _fork: int | None = None) -> int:
            return chooser.choose([Fraction(1, bound)] * bound)

        return naive.DECODERS[name](naive.Judge(low_wins), n, draw, **options)

    return add_up(every_outcome(play))


def add_up(outcomes: Iterator[tuple[Fraction, int]]) -> Distribution:
    found: Distribution = {}
    for probability, winner in outcomes:
        found[winner] = found.get(winner, Fraction(0)) + probability
    return found


def tournaments(n: int, probabilities: naive.Probabilities) -> Iterator[tuple[Fraction, list[list[bool]]]]:
    """Yield every tournament as a table (does i beat j?) with its probability."""
    pairs = list(itertools.combinations(range(n), 2))
    for answers in itertools.product([True, False], repeat=len(pairs)):
        probability = Fraction(1)
        beats = [[False] * n for _ in range(n)]
        for (i, j), i_wins in zip(pairs, answers, strict=True):
            probability *= Fraction(probabilities[i][j]) if i_wins else 1 - Fraction(probabilities[i][j])
            beats[i][j], beats[j][i] = i_wins, not i_wins
        yield probability, beats


def share(tops: list[int], ties: str) -> Iterator[tuple[Fraction, int]]:
    """Yield who is named, and how likely, among classes with the same highest score."""
    if len(tops) == 1 or ties == "first":
        yield Fraction(1), tops[0]
    elif ties == "lose":
        yield Fraction(1), -1
    else:
        yield from ((Fraction(1, len(tops)), c) for c in tops)


def best(scores: Sequence[int]) -> list[int]:
    return [c for c, score in enumerate(scores) if score == max(scores)]


def enumerate_max_win(n: int, probabilities: naive.Probabilities, ties: str) -> Distribution:
    return add_up(
        (probability * part, winner)
        for probability, beats in tournaments(n, probabilities)
        for part, winner in share(best([sum(row) for row in beats]), ties)
    )


def enumerate_poll(n: int, probabilities: naive.Probabilities, l: int, ties: str) -> Distribution:
    """Go through all tournaments and all polls, the latter class by class: classes sample independently."""

    def outcomes() -> Iterator[tuple[Fraction, int]]:
        for probability, beats in tournaments(n, probabilities):
            polls = []
            for i in range(n):
                opponents = [j for j in range(n) if j != i]
                scores = Counter(sum(beats[i][j] for j in poll) for poll in itertools.product(opponents, repeat=l))
                polls.append([(score, Fraction(count, (n - 1) ** l)) for score, count in scores.items()])
            for together in itertools.product(*polls):
                total = probability
                for _, part in together:
                    total *= part
                for part, winner in share(best([score for score, _ in together]), ties):
                    yield total * part, winner

    return add_up(outcomes())


def winners_agree(distribution: Distribution, oracle: Oracle, decoder: Decoder) -> bool:
    """Compare how often each class, and nobody, is named with the exact probabilities."""
    assert sum(distribution.values()) == 1
    winners, _ = decide(oracle, decoder, TRIALS, seed=31)
    named = Counter(winners)
    return all(agrees(named[c], TRIALS, distribution.get(c, Fraction(0))) for c in range(-1, oracle.n))


def problems(n: int) -> list[tuple[Oracle, naive.Probabilities]]:
    """Return one problem in which class 0 is better than equals, and one in which all probabilities are different."""
    uneven = [row[:n] for row in UNEVEN[:n]] if n <= 4 else naive.similarity_probabilities([0.4, 0.25, 0.2, 0.1, 0.05])
    table = [[uneven[i][j] if i < j else 1 - uneven[j][i] if i > j else 0.5 for j in range(n)] for i in range(n)]
    return [(Uniform(n, 0.7), naive.uniform_probabilities(n, 0.7)), (Matrix(table), table)]


@pytest.mark.parametrize("n", [2, 3, 4, 5])
@pytest.mark.parametrize("ties", ["random", "lose"])
def test_max_win_meets_all_tournaments(n: int, ties: str) -> None:
    for oracle, probabilities in problems(n):
        assert winners_agree(enumerate_max_win(n, probabilities, ties), oracle, MaxWin(ties))


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("l", [1, 2, 3])
@pytest.mark.parametrize("ties", ["random", "lose"])
def test_poll_meets_all_polls_of_all_tournaments(n: int, l: int, ties: str) -> None:
    for oracle, probabilities in problems(n):
        assert winners_agree(enumerate_poll(n, probabilities, l, ties), oracle, Poll(l, ties))


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("final", ["rescore", "maxwin"])
@pytest.mark.parametrize("ties", ["random", "lose"])
def test_top_k_meets_all_polls_of_all_tournaments(k: int, final: str, ties: str) -> None:
    for oracle, probabilities in problems(3):
        exact = enumerate_twin("top-k", 3, probabilities, k=k, l=2, final=final, ties=ties)
        assert winners_agree(exact, oracle, TopK(k, 2, final, ties))


@pytest.mark.parametrize("ties", ["random", "lose"])
def test_halving_meets_all_polls_of_all_tournaments(ties: str) -> None:
    for oracle, probabilities in problems(3):
        exact = enumerate_twin("halving", 3, probabilities, l=1, ties=ties)
        assert winners_agree(exact, oracle, Halving(1, ties))


def test_wrong_enumerations_are_rejected() -> None:
    """Negative control: another tie rule, sample size, final or problem must not pass."""
    (_, probabilities), (oracle, table) = problems(3)
    assert not winners_agree(enumerate_max_win(3, table, "lose"), oracle, MaxWin("random"))
    assert not winners_agree(enumerate_max_win(3, probabilities, "random"), oracle, MaxWin("random"))
    assert not winners_agree(enumerate_poll(3, table, 1, "random"), oracle, Poll(3, "random"))
    assert not winners_agree(enumerate_twin("halving", 3, table, l=1, ties="random"), oracle, Halving(2))
    exact = enumerate_twin("top-k", 3, table, k=2, l=2, final="rescore", ties="lose")
    assert not winners_agree(exact, oracle, TopK(2, 2, "maxwin", "lose"))


# --- the enumerations check each other -------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 4])
def test_probabilities_of_all_tournaments_sum_to_1(n: int) -> None:
    for _, probabilities in problems(n):
        found = list(tournaments(n, probabilities))
        assert len(found) == 2 ** (n * (n - 1) // 2)
        assert sum(probability for probability, _ in found) == 1


@pytest.mark.parametrize("ties", ["random", "lose", "first"])
def test_two_ways_to_enumerate_agree_exactly(ties: str) -> None:
    for _, probabilities in problems(3):
        assert enumerate_twin("max-win", 3, probabilities, ties=ties) == enumerate_max_win(3, probabilities, ties)
        assert enumerate_twin("quick", 3, probabilities, ties=ties, order="random") == enumerate_max_win(
            3, probabilities, ties
        )
        found = enumerate_twin("champion", 3, probabilities, ties=ties, order="random")
        assert found == enumerate_max_win(3, probabilities, ties)
        for l in (1, 2):
            one_candidate = enumerate_twin("top-k", 3, probabilities, k=1, l=l, final="maxwin", ties=ties)
            assert enumerate_twin("poll", 3, probabilities, l=l, ties=ties) == enumerate_poll(3, probabilities, l, ties)
            assert enumerate_poll(3, probabilities, l, ties) == one_candidate


@pytest.mark.parametrize("name", sorted(FORMS))
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_closed_forms_are_exact(name: str, n: int) -> None:
    exact = enumerate_twin(name, n, naive.uniform_probabilities(n, 0.7), order="random")
    assert sum(exact.values()) == 1
    assert exact[0] == FORMS[name](n, 1 - Fraction(0.7))
    assert len({exact[c] for c in range(1, n)}) == 1, "the wrong classes are all alike"


# --- where class numbers mean nothing --------------------------------------------------------------------------------


def uniform_probabilities_with_truth_at(place: int, n: int, p: float) -> naive.Probabilities:
    return [[p if low == place else 1 - p if high == place else 0.5 for high in range(n)] for low in range(n)]


def mean_over_places(n: int, p: float, decoder: Decoder) -> Fraction:
    """Return the probability that the decoder's twin names the true class, whose number is any of 0 .. n-1."""
    options = {field.name: getattr(decoder, field.name) for field in dataclasses.fields(decoder)}
    found = (
        enumerate_twin(decoder.name, n, uniform_probabilities_with_truth_at(place, n, p), **options).get(
            place, Fraction(0)
        )
        for place in range(n)
    )
    return sum(found, start=Fraction(0)) / n


ONCE = [MaxWin("first"), Poll(1, "first"), TopK(1, 1, ties="first"), Adag("given"), Ddag("given")]
TWICE = [(4, TopK(3, 1, "maxwin", "first")), (3, Halving(1, "first"))]


@pytest.mark.parametrize(
    ("n", "decoder"),
    [*((n, decoder) for n in (3, 4) for decoder in ONCE), *((3, TopK(2, 1, final, "first")) for final in FINALS)],
    ids=str,
)
def test_exact_values_are_means_over_the_place_of_the_truth(n: int, decoder: Decoder) -> None:
    found = exact(Uniform(n, 0.75), decoder).success
    assert found == pytest.approx(float(mean_over_places(n, 0.75, decoder)), rel=1e-13)


@pytest.mark.parametrize(("n", "decoder"), TWICE, ids=str)
def test_the_place_of_the_truth_is_drawn_where_a_low_number_helps_twice(n: int, decoder: Decoder) -> None:
    estimate = simulate(Uniform(n, 0.75), decoder, TRIALS, seed=n, threads=1)
    assert agrees(round(estimate.success * TRIALS), TRIALS, mean_over_places(n, 0.75, decoder))


def test_reading_numbers_and_drawing_lots_differ() -> None:
    """Negative control: class 0 does better than the mean, and a number that helps twice is not two fair draws."""
    at_zero = enumerate_twin("max-win", 3, uniform_probabilities_with_truth_at(0, 3, 0.75), ties="first")[0]
    assert at_zero > mean_over_places(3, 0.75, MaxWin("first")) == mean_over_places(3, 0.75, MaxWin("random"))
    twice, drawn = TopK(3, 1, "maxwin", "first"), TopK(3, 1, "maxwin", "random")
    assert float(mean_over_places(4, 0.75, twice)) < exact(Uniform(4, 0.75), drawn).success - 1e-3
