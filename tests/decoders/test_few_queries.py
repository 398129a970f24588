"""Decoders that save queries: quick and champion name whom max-win names, halving beats a poll at its cost."""

from __future__ import annotations

import itertools

import naive
import pytest
from decisions import decide
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import ROWS, SEEDS, OracleCase, oracle_cases

from pairsim import (
    Champion,
    Decoder,
    Halving,
    Matrix,
    MaxWin,
    ParameterError,
    Poll,
    Quick,
    Recorded,
    Similarity,
    TopK,
    Uniform,
    exact,
    simulate,
)
from pairsim.decoders import as_max_win
from pairsim.exact_values.result import ExactUnavailable
from pairsim.oracles import REGISTRY as ORACLES
from pairsim.replay import replay_trial

TIES = ("random", "lose", "first")


def savers(ties: str) -> list[Decoder]:
    return [decoder(ties, order) for decoder in (Quick, Champion) for order in ("random", "given")]


def every_tournament(n: int) -> Recorded:
    return Recorded(list(itertools.product([True, False], repeat=n * (n - 1) // 2)))


def tops(n: int, row: list[bool]) -> list[int]:
    """Return max-win's winners by hand."""
    scores = [0] * n
    for (low, high), low_wins in zip(itertools.combinations(range(n), 2), row, strict=True):
        scores[low if low_wins else high] += 1
    return [c for c in range(n) if scores[c] == max(scores)]


# --- the same winner -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_the_same_winner_in_every_tournament_there_is(n: int, ties: str) -> None:
    rows = every_tournament(n)
    for seed in (0, 2**64 - 1):
        expected, _ = decide(rows, MaxWin(ties), rows.rows or 0, seed)
        for decoder in savers(ties):
            assert decide(rows, decoder, rows.rows or 0, seed)[0] == expected


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("oracle_name", sorted(ORACLES))
def test_the_same_winner_on_every_oracle(oracle_name: str, ties: str) -> None:
    @settings(derandomize=True, deadline=None, max_examples=15)
    @given(st.integers(2, 14).flatmap(lambda n: oracle_cases(oracle_name, n)), SEEDS)
    def law(case: OracleCase, seed: int) -> None:
        expected, _ = decide(case.oracle, MaxWin(ties), ROWS, seed)
        for decoder in savers(ties):
            assert as_max_win(decoder) == MaxWin(ties)
            assert decide(case.oracle, decoder, ROWS, seed)[0] == expected

    law()


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("n", [63, 64, 65, 128, 130])
def test_the_same_winner_where_rows_of_bits_end(n: int, ties: str) -> None:
    for oracle in (Uniform(n, 0.6), Similarity.profile("geometric:0.9", n)):
        expected, _ = decide(oracle, MaxWin(ties), 40, n)
        for decoder in savers(ties):
            assert decide(oracle, decoder, 40, n)[0] == expected


def test_another_winner_would_show() -> None:
    """Negative control: other tie rules, and decoders that are only nearly as good, are told from max-win."""
    rows = every_tournament(5)
    found = {
        d: decide(rows, d, 1024, 3)[0] for d in (MaxWin(), *savers("lose"), Quick("any"), Champion("any"), Poll(9))
    }
    assert all(winners != found[MaxWin()] for decoder, winners in found.items() if decoder != MaxWin())
    assert [as_max_win(decoder) for decoder in (Quick("any"), Champion("any"), Poll(9))] == [None] * 3


@pytest.mark.parametrize("decoder", [Quick("any"), Champion("any"), Champion("any", "given")], ids=repr)
def test_any_names_one_of_the_winners(decoder: Decoder) -> None:
    for n in (2, 3, 4, 5):
        rows = every_tournament(n)
        winners, _ = decide(rows, decoder, rows.rows or 0, 7)
        assert all(c in tops(n, row) for c, row in zip(winners, rows.answers().tolist(), strict=True))


# --- few queries ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("decoder", [*savers("random"), Quick("any"), Champion("lose")], ids=lambda each: each.spec)
def test_no_pair_is_asked_twice(decoder: Decoder) -> None:
    for n, trial in itertools.product((2, 3, 9, 70), range(6)):
        asked = [tuple(sorted(query[:2])) for query in replay_trial(Uniform(n, 0.6), decoder, 4, trial).asked]
        assert len(set(asked)) == len(asked)
        assert all(0 <= low < high < n for low, high in asked)


def test_a_rule_that_needs_to_know_less_asks_less() -> None:
    """Quick asks the same queries under every rule, and stops sooner or later."""
    for trial in range(60):
        oracle = Matrix(Uniform(20, 0.65).matrix())
        asked = {ties: list(replay_trial(oracle, Quick(ties, "given"), 1, trial).asked) for ties in (*TIES, "any")}
        for fewer, more in (("any", "first"), ("first", "random"), ("lose", "random")):
            assert asked[fewer] == asked["random"][: len(asked[fewer])]
            assert len(asked[fewer]) <= len(asked[more])


def test_rules_differ_in_what_they_ask() -> None:
    """Negative control of the one above: each rule must stop earlier than another at least once."""
    oracle, costs = Uniform(20, 0.65), {}
    for ties in (*TIES, "any"):
        _, (costs[ties], _, _) = decide(oracle, Quick(ties, "given"), 400, 1)
    assert costs["any"] < costs["first"] < costs["random"]
    assert costs["lose"] < costs["random"]


@pytest.mark.parametrize("n", [2, 3, 4, 5, 31, 64, 100])
def test_a_class_that_beats_everybody_costs_little(n: int) -> None:
    """Two queries a class at most, and no round but those of the knock-out and one more."""
    winners, (queries, distinct, rounds) = decide(Uniform(n, 1.0), Champion(), 50, 2)
    assert winners == [0] * 50
    assert queries == distinct <= 50 * 2 * (n - 1)
    assert rounds <= 50 * ((n - 1).bit_length() + 1)
    winners, (queries, _, _) = decide(Uniform(n, 1.0), Quick(order="given"), 50, 2)
    assert (winners, queries) == ([0] * 50, 50 * (n - 1))  # class 0 plays first, and never stops


def test_champion_takes_fewer_rounds_for_few_more_questions() -> None:
    for p in (0.7, 0.9):
        _, (quick, _, one_by_one) = decide(Uniform(64, p), Quick(), 200, 6)
        _, (champion, _, rounds) = decide(Uniform(64, p), Champion(), 200, 6)
        assert one_by_one == quick < 200 * 64 * 63 / 2 * 0.65
        assert champion < 1.1 * quick
        assert rounds < one_by_one / 5


@pytest.mark.parametrize("make", [Quick, Champion])
def test_a_budget_is_kept_and_changes_nothing_where_it_is_enough(make: type[Quick | Champion]) -> None:
    oracle, n, trials = Uniform(20, 0.8), 20, 2000
    free, costs = decide(oracle, make(), trials, 3)
    assert decide(oracle, make(budget=190), trials, 3) == (free, costs)
    right = []
    for budget in (10, 30, 60, 120):
        winners, (queries, distinct, _) = decide(oracle, make(budget=budget), trials, 3)
        assert queries == distinct <= min(budget * trials, costs[0])
        right.append(winners.count(0))
        each = [decide(oracle, make(budget=budget), 1, 3, trial)[1] for trial in range(40)]
        assert max(cost[0] for cost in each) <= budget
        assert all(cost[2] <= make(budget=budget).cost(n).rounds for cost in each)
    assert right == sorted(right)
    assert trials / 20 < right[0] < right[-1] <= 1.05 * free.count(0)
    assert make(budget=30).equivalent is None
    for refused in (0, -1, 1.5, "x"):
        with pytest.raises(ParameterError, match="budget"):
            make(budget=refused)


# --- halving ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("l", [1, 2, 5, 40, "log", "2log", "0.5log"])
@pytest.mark.parametrize("n", [2, 3, 4, 7, 16, 33, 100])
def test_the_cost_of_halving_is_its_formula(n: int, l: int | str) -> None:
    size, classes, queries, rounds = naive.sample_size(l, n), n, 0, 0
    while classes > 1:
        asks = next(m for m in itertools.count() if (m + 1) ** 2 * classes > size**2 * n)
        queries += classes * min(asks, n - 1)
        rounds += 1
        classes = 1 if asks >= n - 1 else (classes + 1) // 2
    assert Halving(l).cost(n) == (queries, rounds)
    assert decide(Uniform(n, 0.7), Halving(l), 3, 1)[1][::2] == (3 * queries, 3 * rounds)


def test_halving_with_all_opponents_is_max_win() -> None:
    oracle = Uniform(9, 0.6)
    for ties in ("lose", "first"):
        assert decide(oracle, Halving(9, ties), 500, 3)[0] == decide(oracle, MaxWin(ties), 500, 3)[0]
    assert decide(oracle, Halving(9), 500, 3)[0] != decide(oracle, MaxWin(), 500, 3)[0]  # a draw of its own


def test_halving_beats_a_poll_and_a_top_k_at_their_cost() -> None:
    """Intervals at 1 - 1e-9 that do not meet: no false alarm to speak of; p = 0.5 is the control where nobody can."""
    oracle, halving = Uniform(128, 0.75), Halving("log")
    spent = halving.cost(128).queries
    rivals = [Poll(spent // 128 + 1), TopK(5, (spent - 5 * 127) // 128 + 1)]
    assert all(rival.cost(128).queries >= spent for rival in rivals)
    for p, better in ((0.75, True), (0.5, False)):
        oracle = Uniform(128, p)
        mine, *theirs = simulate(oracle, [halving, *rivals], 2500, 5, 1 - 1e-9, method="simulated")
        assert all((mine.low > other.high) == better for other in theirs)


# --- the edge --------------------------------------------------------------------------------------------------------


def test_too_many_classes_are_refused() -> None:
    for decoder in (Quick(), Champion()):
        assert decoder.kernel(65_535)
        assert decoder.cost(100_000).queries == 4_999_950_000
        with pytest.raises(ParameterError, match=r"The 'n' parameter of \w+ must be at most 65,535 classes: .* n \* n"):
            decoder.kernel(65_536)


@pytest.mark.parametrize("make", [Quick, Champion, lambda ties: Halving(2, ties), MaxWin, Poll])
def test_tie_rules_are_checked(make: type[Decoder]) -> None:
    with pytest.raises(ParameterError, match=r"'ties'|'l'"):
        make("none")  # type: ignore[call-arg]


def test_only_those_that_can_stop_early_know_any() -> None:
    for refused in (lambda: MaxWin("any"), lambda: Poll(3, "any"), lambda: Halving(3, "any")):
        with pytest.raises(ParameterError, match="'ties'"):
            refused()


@pytest.mark.parametrize("decoder", [Quick(), Champion("lose"), Quick("any"), Halving(2)], ids=repr)
def test_exact_refuses_and_says_who_is_as_good(decoder: Decoder) -> None:
    with pytest.raises(ExactUnavailable) as refused:
        exact(Uniform(8, 0.8), decoder)
    twin = as_max_win(decoder)
    assert (repr(twin) in str(refused.value)) == (twin is not None)
    assert simulate(Uniform(8, 0.8), decoder, 200).method == ("conditional" if decoder == Halving(2) else "simulated")
