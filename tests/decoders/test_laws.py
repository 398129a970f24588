"""Laws of deciding: each holds for every registered decoder on every registered oracle."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING, NamedTuple

import naive
import numpy as np
import pytest
from decisions import decide
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import (
    ORACLE_CASES,
    ROWS,
    SEEDS,
    OracleCase,
    decoders,
    every_decoder,
    oracle_cases,
    recorded_case,
)

from pairsim import Decoder, Halving, Matrix, MaxWin, Poll, Recorded, Session, Similarity, TopK, Uniform, pick, simulate
from pairsim.decoders import REGISTRY as DECODERS
from pairsim.decoders.relabelled import Relabelled
from pairsim.oracles import REGISTRY as ORACLES
from pairsim.oracles.labels import without_labels
from pairsim.simulation.simulator import BlockSimulator

if TYPE_CHECKING:
    from collections.abc import Callable

on_every_oracle = pytest.mark.parametrize("oracle_name", sorted(ORACLES))
on_every_decoder = pytest.mark.parametrize("decoder_name", sorted(DECODERS))
TRIALS = (0, 1, 63, 64, ROWS - 1)  # both sides of the border between two machine words


class Case(NamedTuple):
    """A decoder on an oracle, under a seed."""

    case: OracleCase
    decoder: Decoder
    seed: int


@st.composite
def cases(draw: st.DrawFn, oracle_name: str, decoder_name: str, most: int = 9) -> Case:
    n = draw(st.integers(2, most))
    return Case(draw(oracle_cases(oracle_name, n)), draw(decoders(decoder_name, n)), draw(SEEDS))


def check(oracle_name: str, decoder_name: str, law: Callable[[Case], None], examples: int = 10) -> None:
    """Try a law on examples that are the same in every run."""
    law = given(cases(oracle_name, decoder_name))(law)
    settings(derandomize=True, deadline=None, max_examples=examples)(law)()


def test_registries_are_covered() -> None:
    assert set(ORACLE_CASES) == set(ORACLES), "tests/strategies.py must know every registered oracle"
    assert set(naive.DECODERS) == set(DECODERS), "tests/naive.py must have a twin of every registered decoder"
    assert {type(decoder).name for decoder in every_decoder(5)} == set(DECODERS)
    with pytest.raises(LookupError):
        oracle_cases("no such oracle", 3)


# --- the compiled decoders are the definitions -----------------------------------------------------------------------


@on_every_oracle
@on_every_decoder
def test_equals_its_naive_twin(oracle_name: str, decoder_name: str) -> None:
    def law(drawn: Case) -> None:
        case, decoder, seed = drawn
        for trial, expected in zip(TRIALS, case.decide_naively(decoder, seed, TRIALS), strict=True):
            winners, spent = decide(case.oracle, decoder, 1, seed, trial)
            assert (*winners, *spent) == expected

    check(oracle_name, decoder_name, law, examples=25)


@pytest.mark.parametrize("decoder", every_decoder(40), ids=lambda decoder: decoder.spec)
def test_equals_its_naive_twin_on_many_classes_and_far_trials(decoder: Decoder) -> None:
    n, seed, trials = 40, 2**64 - 3, range(10**12, 10**12 + 3)
    rest = [1.0 / (n + c) for c in range(n)]
    r = [share / sum(rest) for share in rest]
    case = OracleCase(
        Similarity(r), lambda s, trial: naive.random_tournament(naive.similarity_probabilities(r), s, trial)
    )
    expected = case.decide_naively(decoder, seed, trials)
    winners, spent = decide(case.oracle, decoder, len(trials), seed, trials[0])
    assert winners == [decision.winner for decision in expected]
    assert spent == naive.bill(expected)


@pytest.mark.parametrize("n", [2, 7])
def test_drawn_class_numbers_equal_their_naive_twin(n: int) -> None:
    oracle, probabilities, seed, trials = Uniform(n, 0.7), naive.uniform_probabilities(n, 0.7), 9, range(40)
    rules = [without_labels(oracle, decoder) for decoder in every_decoder(n)]
    drawn = [each.rules for each in rules if isinstance(each, Relabelled)]
    assert {each.name for each in drawn} >= {"quick", "champion", "halving"}
    for decoder in drawn:
        case = OracleCase(oracle, lambda seed, trial: naive.random_tournament(probabilities, seed, trial))
        expected = case.decide_naively(decoder, seed, trials, drawn_numbers=True)
        winners, spent = decide(oracle, Relabelled(decoder), len(trials), seed)
        assert winners == [decision.winner for decision in expected]
        assert spent == naive.bill(expected)
        assert n == 2 or winners != decide(oracle, decoder, len(trials), seed)[0], "the numbers matter"


@on_every_decoder
def test_a_wrong_twin_is_noticed(decoder_name: str) -> None:
    """Negative control: a twin that sees the next trial's tournament must not pass for the right one."""
    decoder = DECODERS[decoder_name]() if decoder_name != "top-k" else TopK(2, 2)
    probabilities = naive.uniform_probabilities(9, 0.6)
    right = OracleCase(Uniform(9, 0.6), lambda seed, trial: naive.random_tournament(probabilities, seed, trial))
    wrong = OracleCase(Uniform(9, 0.6), lambda seed, trial: naive.random_tournament(probabilities, seed, trial + 1))
    winners, _ = decide(right.oracle, decoder, 40, seed=11)
    assert winners == [decision.winner for decision in right.decide_naively(decoder, 11, range(40))]
    assert winners != [decision.winner for decision in wrong.decide_naively(decoder, 11, range(40))]


# --- one tournament, many ways to see it -----------------------------------------------------------------------------


@on_every_oracle
@on_every_decoder
def test_a_recording_gives_the_same_decisions(oracle_name: str, decoder_name: str) -> None:
    def law(drawn: Case) -> None:
        case, decoder, seed = drawn
        recording = Recorded.of(case.oracle, ROWS, seed)
        assert decide(case.oracle, decoder, ROWS, seed) == decide(recording, decoder, ROWS, seed)
        assert np.array_equal(recording.truth(0, ROWS), case.oracle.truth(0, ROWS))

    check(oracle_name, decoder_name, law)


@pytest.mark.parametrize("oracle", [Uniform(7, 0.8), Similarity.profile("zipf:1.0", 7)], ids=repr)
@pytest.mark.parametrize("decoder", every_decoder(7), ids=lambda decoder: decoder.spec)
def test_special_models_equal_their_matrix(oracle: Uniform | Similarity, decoder: Decoder) -> None:
    assert decide(oracle, decoder, 500, seed=5) == decide(Matrix(oracle.matrix()), decoder, 500, seed=5)


def test_seeds_and_trials_are_different_tournaments() -> None:
    """Negative control of the equalities above: they would also hold if every tournament were the same."""
    rows = [tuple(row) for seed in range(4) for row in Recorded.of(Uniform(12, 0.5), 200, seed).answers().tolist()]
    assert len(set(rows)) == len(rows)


@on_every_oracle
@on_every_decoder
def test_decisions_do_not_depend_on_the_batch(oracle_name: str, decoder_name: str) -> None:
    def law(drawn: Case) -> None:
        case, decoder, seed = drawn
        whole, spent = decide(case.oracle, decoder, ROWS, seed)
        edges = [0, *sorted(random.Random(seed).sample(range(1, ROWS), 3)), ROWS]
        parts = [decide(case.oracle, decoder, b - a, seed, a) for a, b in itertools.pairwise(edges)]
        assert whole == [winner for winners, _ in parts for winner in winners]
        assert spent == tuple(map(sum, zip(*(part for _, part in parts), strict=True)))

    check(oracle_name, decoder_name, law)


def test_estimates_do_not_depend_on_threads_or_blocks() -> None:
    oracle, trials, seed = Uniform(24, 0.7), 5_000, 3
    panel = [MaxWin(), *(decoder for decoder in every_decoder(24) if decoder != MaxWin())]
    panel = panel[:: len(panel) // 8]
    for method in ("auto", "simulated"):
        one = simulate(oracle, panel, trials, seed, threads=1, method=method)
        assert one == simulate(oracle, panel, trials, seed, threads=3, method=method)
        assert one != simulate(oracle, panel, trials, seed + 1, threads=1, method=method)
    asked = tuple(decoder for decoder in panel if not isinstance(decoder, MaxWin))
    simulator = BlockSimulator((oracle,), asked, ("simulated",) * len(asked), -1, seed)
    total = simulator.run(0, 1)[0]
    for block in [(1, 62), (63, 2), (65, 935), (1000, 4000)]:
        total = simulator.run(*block)[0].plus(total)
    alone = [estimate for estimate in one if not estimate.decoder.startswith("max-win")]
    assert [e.failure for e in alone] == pytest.approx([tally.failures.mean for tally in total.tallies], rel=1e-12)
    assert [e.queries for e in alone] == [tally.queries / trials for tally in total.tallies]
    assert [e.distinct for e in alone] == [tally.distinct / trials for tally in total.tallies]
    assert [e.rounds for e in alone] == [tally.rounds / trials for tally in total.tallies]


@on_every_oracle
def test_decoders_side_by_side_see_the_same_tournaments(oracle_name: str) -> None:
    n = 6
    panel = list(every_decoder(n))

    @settings(derandomize=True, deadline=None, max_examples=5)
    @given(oracle_cases(oracle_name, n), SEEDS)
    def law(case: OracleCase, seed: int) -> None:
        truth = case.oracle.truth(0, ROWS)
        reference, _ = decide(case.oracle, MaxWin(), ROWS, seed)
        for decoder, estimate in zip(panel, simulate(case.oracle, panel, ROWS, seed, method="simulated"), strict=True):
            winners, spent = decide(case.oracle, without_labels(case.oracle, decoder), ROWS, seed)
            assert estimate.success == np.mean(winners == truth)
            assert (estimate.queries, estimate.distinct, estimate.rounds) == tuple(total / ROWS for total in spent)
            assert estimate.agreement == np.mean(np.equal(winners, reference))
            assert simulate(case.oracle, decoder, ROWS, seed, method="simulated").success == estimate.success

    law()


# --- costs -----------------------------------------------------------------------------------------------------------


@on_every_oracle
@on_every_decoder
def test_costs_are_as_promised(oracle_name: str, decoder_name: str) -> None:
    def law(drawn: Case) -> None:
        case, decoder, seed = drawn
        n, cost = case.oracle.n, decoder.cost(case.oracle.n)
        for trial in TRIALS:
            _, (queries, distinct, rounds) = decide(case.oracle, decoder, 1, seed, trial)
            # a tie at a cut can leave places empty
            if decoder.adaptive or (isinstance(decoder, TopK | Halving) and decoder.ties == "lose"):
                assert queries <= cost.queries
                assert rounds <= cost.rounds
            else:
                assert (queries, rounds) == cost
            assert distinct <= min(queries, n * (n - 1) // 2)
            assert decoder.repeats or distinct == queries

    check(oracle_name, decoder_name, law)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 9, 16, 17, 100])
def test_costs_are_the_formulas(n: int) -> None:
    log = (n - 1).bit_length()  # log2 n, rounded up
    assert MaxWin().cost(n) == (n * (n - 1) // 2, 1)
    assert Poll(7).cost(n) == (7 * n, 1)
    assert Poll("log").cost(n) == (log * n, 1)
    assert TopK(2, 3, "rescore").cost(n) == (3 * n + 2 * (n - 1), 2)
    assert TopK(2, 3, "maxwin").cost(n) == (3 * n + 1, 2)
    assert TopK(1, 3, "maxwin").cost(n) == (3 * n, 1)
    assert DECODERS["quick"]().cost(n) == (n * (n - 1) // 2, n * (n - 1) // 2)
    assert DECODERS["champion"]().cost(n) == (n * (n - 1) // 2, log + (n - 1) * (n - 2) // 2)
    assert Halving(n).cost(n) == (n * (n - 1), 1)
    assert DECODERS["adag"]().cost(n) == (n - 1, log)
    assert DECODERS["radag"]().cost(n) == (n - 1, log)
    assert DECODERS["ddag"]().cost(n) == (n - 1, n - 1)


@pytest.mark.parametrize("factor", ["", "1", "2", "3", "5", "0.5", "1.5", "1.1", "0.7", "3.3"])
def test_multiples_of_log_are_rounded_up_exactly(factor: str) -> None:
    sizes = [*range(2, 300), *(2**e + d for e in range(9, 31) for d in (-1, 0, 1))]
    for n in sizes:
        assert Poll(f"{factor}log").cost(n).queries == n * naive.sample_size(f"{factor}log", n)


# --- answers from outside --------------------------------------------------------------------------------------------


@on_every_oracle
@on_every_decoder
def test_picking_and_sessions_are_trial_0(oracle_name: str, decoder_name: str) -> None:
    def law(drawn: Case) -> None:
        case, decoder, seed = drawn
        n = case.oracle.n
        low_wins = naive.recorded_tournament(n, Recorded.of(case.oracle, 1, seed).answers()[0].tolist())
        (winner,), spent = decide(case.oracle, decoder, 1, seed)
        asked: list[frozenset[int]] = []

        def ask(i: int, j: int) -> bool:
            asked.append(frozenset((i, j)))
            return low_wins(i, j) if i < j else not low_wins(j, i)

        choice = pick(ask, n, decoder, seed)
        assert len(set(asked)) == len(asked) == spent[1], "each different pair is asked once"
        if choice is None:
            assert winner == -1
        else:
            assert (choice.winner, choice.queries, choice.distinct, choice.rounds) == (winner, *spent)
        session = answer_in_any_order(Session(n, decoder, seed), low_wins, random.Random(seed))
        assert session.winner == (None if winner < 0 else winner)
        assert (session.queries, session.distinct, session.rounds) == spent

    check(oracle_name, decoder_name, law)


def answer_in_any_order(session: Session, low_wins: naive.LowWins, order: random.Random) -> Session:
    """Answer a random open query, either way round, until the session is done."""
    while not session.done:
        i, j = order.choice(session.ask())
        if order.random() < 0.5:
            i, j = j, i
        session.tell(i, j, low_wins(i, j) if i < j else not low_wins(j, i))
    return session


# --- poll is the k = 1 case of top-k ---------------------------------------------------------------------------------


@pytest.mark.parametrize("l", [1, 3, "2log"])
@pytest.mark.parametrize("ties", ["lose", "first"])
def test_poll_is_top_k_with_one_candidate(l: int | str, ties: str) -> None:
    oracle = Uniform(9, 0.7)
    assert decide(oracle, Poll(l, ties), 2000, 8) == decide(oracle, TopK(1, l, "maxwin", ties), 2000, 8)
    assert decide(oracle, Poll(l, ties), 2000, 8)[0] == decide(oracle, TopK(1, l, "rescore", ties), 2000, 8)[0]


def test_poll_is_top_k_with_one_candidate_up_to_the_draw_among_the_tied() -> None:
    """The draw at the cut is another one than the final's, so only a tie may be settled differently."""
    oracle, trials = Uniform(9, 0.7), 2000
    poll, top = (decide(oracle, decoder, trials, 8)[0] for decoder in (Poll(3), TopK(1, 3, "maxwin")))
    untied, _ = decide(oracle, Poll(3, "lose"), trials, 8)
    assert all(a == b == c for a, b, c in zip(poll, top, untied, strict=True) if c >= 0)
    assert poll != top
    case = recorded_case(9, Recorded.of(oracle, 100, 8).answers().tolist(), [0] * 100)
    for trial in range(100):
        judge = naive.Judge(case.twin(8, trial))
        scores = naive.sampled_scores(judge, 9, naive.draws_of(8, 9, trial), 3)
        assert scores[poll[trial]] == scores[top[trial]] == max(scores.values())
