"""The report of one trial: the decision of the simulation, the answers that were given, reasons that are true."""

from __future__ import annotations

import dataclasses
import itertools
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from decisions import decide
from hypothesis import given, settings
from hypothesis import strategies as st
from labels import told_apart
from reason_claims import claims_hold
from strategies import ROWS, SEEDS, OracleCase, decoders, every_decoder, oracle_cases

from pairsim import Adag, Ddag, Decoder, MaxWin, ParameterError, Poll, Recorded, TopK, Uniform
from pairsim.decoders import REGISTRY as DECODERS
from pairsim.oracles import REGISTRY as ORACLES
from pairsim.oracles.labels import without_labels
from pairsim.replay import Queries, replay_trial
from pairsim.replay.explanations import Verdict, reason_for
from pairsim.replay.transcript import Transcript

if TYPE_CHECKING:
    from collections.abc import Callable

on_every_oracle = pytest.mark.parametrize("oracle_name", sorted(ORACLES))
on_every_decoder = pytest.mark.parametrize("decoder_name", sorted(DECODERS))
TRIALS = (0, 1, 63, 64, ROWS - 1)


def check(oracle_name: str, decoder_name: str, law: Callable[[OracleCase, Decoder, int], None], examples: int) -> None:
    """Try a law on a registered decoder and oracle; the examples are the same in every run."""

    @st.composite
    def cases(draw: st.DrawFn) -> tuple[OracleCase, Decoder, int]:
        n = draw(st.integers(2, 9))
        return draw(oracle_cases(oracle_name, n)), draw(decoders(decoder_name, n)), draw(SEEDS)

    @settings(derandomize=True, deadline=None, max_examples=examples)
    @given(cases())
    def tried(drawn: tuple[OracleCase, Decoder, int]) -> None:
        law(*drawn)

    tried()


# --- the same trial as in the simulation -----------------------------------------------------------------------------


@on_every_oracle
@on_every_decoder
def test_the_report_is_of_the_simulated_trial(oracle_name: str, decoder_name: str) -> None:
    def law(case: OracleCase, decoder: Decoder, seed: int) -> None:
        for trial in TRIALS:
            report = replay_trial(case.oracle, decoder, seed, trial)
            (winner,), spent = decide(case.oracle, without_labels(case.oracle, decoder), 1, seed, trial)
            assert report.winner == (None if winner < 0 else winner)
            assert (report.queries, report.distinct, len(report.rounds)) == spent
            assert report.truth == case.oracle.truth(trial, 1)[0]
            assert report.right == (winner == report.truth)
            assert (report.oracle, report.decoder, report.n) == (case.oracle.label, decoder.spec, case.oracle.n)

    check(oracle_name, decoder_name, law, examples=15)


@on_every_oracle
@on_every_decoder
def test_the_answers_are_those_of_the_tournament(oracle_name: str, decoder_name: str) -> None:
    def law(case: OracleCase, decoder: Decoder, seed: int) -> None:
        for trial in (1, 64):
            report, low_wins = replay_trial(case.oracle, decoder, seed, trial), case.twin(seed, trial)
            known: set[frozenset[int]] = set()
            scores = dict.fromkeys(range(report.n), 0)
            for query in (query for queries in report.rounds for query in queries):
                low, high = sorted(query[:2])
                assert query.winner == (low if low_wins(low, high) else high)
                assert {query.winner, query.loser} == {low, high}
                assert query.repeated == (frozenset((low, high)) in known)
                assert query.right == (query.winner == report.truth if report.truth in (low, high) else None)
                known.add(frozenset((low, high)))
                scores[query.winner] += 1
            assert report.scores == scores
            assert list(report.asked) == [query for queries in report.rounds for query in queries]

    check(oracle_name, decoder_name, law, examples=8)


def test_another_trial_has_another_report() -> None:
    """Negative control of the equalities above: trials must differ in their answers and in the decoders' draws."""
    rows = Recorded([[True] * 36] * 60)
    for decoder in (Adag(), Ddag(), Poll(3)):  # equal answers in each row: only the draws can differ
        assert len({str(list(replay_trial(rows, decoder, 0, trial).asked)) for trial in range(60)}) > 50
    answers = [replay_trial(Uniform(9, 0.6), MaxWin(), 0, trial).asked.first_wins.tolist() for trial in range(60)]
    assert len({str(row) for row in answers}) == 60


def test_equal_stories_are_equal() -> None:
    report = replay_trial(Uniform(9, 0.6), Poll(3), 0, 3)
    again = replay_trial(Uniform(9, 0.6), Poll(3), 0, 3)
    assert report == again
    assert hash(report) == hash(again)
    assert report.asked == again.asked
    assert report.asked != replay_trial(Uniform(9, 0.6), Poll(3), 0, 4).asked
    assert report != replay_trial(Uniform(9, 0.6), Poll(3), 0, 4)
    assert report.asked != list(report.asked)
    assert len(repr(report)) < 500


# --- reasons ---------------------------------------------------------------------------------------------------------


@on_every_oracle
@on_every_decoder
def test_reasons_are_true(oracle_name: str, decoder_name: str) -> None:
    def law(case: OracleCase, decoder: Decoder, seed: int) -> None:
        for trial in range(12):
            report = replay_trial(case.oracle, decoder, seed, trial)
            rules = without_labels(case.oracle, decoder)
            assert claims_hold(report.reason, report, rules), (report.reason, report.to_text(None))

    check(oracle_name, decoder_name, law, examples=25)


@pytest.mark.parametrize("decoder", every_decoder(11), ids=lambda decoder: decoder.spec)
def test_every_number_of_a_reason_is_checked(decoder: Decoder) -> None:
    """Negative control: with any one number changed, a reason must be found out."""
    rng = np.random.default_rng(5)
    rows = Recorded(rng.random((25, 55)) < 0.5, rng.integers(0, 11, 25))
    for trial in range(25):
        report = replay_trial(rows, decoder, 0, trial)
        assert claims_hold(report.reason, report, decoder)
        for number in re.finditer(r"\d+", report.reason):
            forged = f"{report.reason[: number.start()]}{int(number[0]) + 1}{report.reason[number.end() :]}"
            assert not claims_hold(forged, report, decoder), forged


@dataclasses.dataclass(frozen=True)
class OtherAdag(Adag):
    """A decoder that the reasons do not know."""


@dataclasses.dataclass(frozen=True)
class OtherMaxWin(MaxWin):
    """A decoder that the reasons do not know."""


@dataclasses.dataclass(frozen=True)
class OtherTopK(TopK):
    """A decoder that the reasons do not know."""


@pytest.mark.parametrize("decoder", [OtherAdag(), OtherMaxWin("lose"), OtherTopK(3, 2)], ids=lambda each: each.spec)
def test_unknown_decoders_get_a_true_sentence_too(decoder: Decoder) -> None:
    shapes = set()
    for trial in range(60):
        report = replay_trial(Uniform(9, 0.7), decoder, 1, trial)
        assert claims_hold(report.reason, report, decoder), report.reason
        shapes.add(re.sub(r"\d+", "#", report.reason))
        assert "share" not in report.reason
        assert ("and was out" in report.reason) == (isinstance(decoder, Adag) and not report.right)
    assert len(shapes) > 1


def ending_of(rounds: list[list[tuple[int, int]]], n: int, truth: int, winner: int | None) -> Verdict:
    """Make an ending by hand from (winner, loser) of each query."""
    pairs = np.array([pair for queries in rounds for pair in queries], np.int32).reshape(-1, 2)
    book = Transcript(pairs[:, 0], pairs[:, 1], np.ones(len(pairs), np.bool_), np.zeros(len(pairs), np.bool_))
    edges = np.cumsum([0, *map(len, rounds)]).tolist()
    told = tuple(Queries(book, a, b, truth) for a, b in itertools.pairwise(edges))
    return Verdict(OtherAdag(), n, truth, winner, Queries(book, 0, len(pairs), truth), told)


def test_reasons_that_the_questions_alone_give() -> None:
    second_chance = [[(0, 1)], [(2, 0)], [(1, 2)]]
    assert reason_for(ending_of(second_chance, 3, truth=0, winner=1)) == (
        "the true class 0 lost its last query, to class 2 in round 2 of 3, and was not asked again: "
        "it won 1 of its 2 queries; class 1 was named."
    )
    assert reason_for(ending_of(second_chance, 3, truth=2, winner=None)) == (
        "nobody was named; the true class 2 won 1 of its 2 queries."
    )
    assert reason_for(ending_of(second_chance, 3, truth=1, winner=1)) == (
        "class 1 is the true class and was named: it won 1 of its 2 queries."
    )
    twice_beaten = [[(0, 1)], [(2, 0)], [(2, 1)]]  # class 1 played on after a loss: no knock-out
    assert reason_for(ending_of(twice_beaten, 3, truth=0, winner=2)).startswith("the true class 0 lost its last query")
    knock_out = [[(0, 3), (2, 1)], [(2, 0)]]
    assert reason_for(ending_of(knock_out, 4, truth=3, winner=2)) == (
        "the true class 3 lost to class 0 in round 1 of 2 and was out; class 2 was named."
    )
    assert reason_for(ending_of([[(0, 1)]], 4, truth=3, winner=0)) == (
        "class 0 was named; the true class 3 was in no query."
    )


@pytest.mark.parametrize(
    ("decoder", "seen"),
    [
        (MaxWin(), ["runner-up (class", "runners-up (classes", "the draw fell on 0, the true class", "only"]),
        (MaxWin("lose"), ["nobody was named, not even the true class", "nobody was named. The true class"]),
        (Poll(4, "first"), ["the lowest number wins a tie, so class 0, the true class, was named", "won only"]),
        (TopK(3, 2), ["lost in the final", "the cut was at", "for 1 place, and the draw left it out", "won the final"]),
        (TopK(3, 2, "maxwin", "lose"), ["none of them got in", "Nobody reached the final", "ended in a tie"]),
        (TopK(1, 2, "maxwin"), ["nobody else reached the final", "reached it and was named"]),
        (Ddag(), ["and was out", "won its only query", "won both of its queries"]),
        (Adag(), ["and was out; class", "won all 4 of its queries"]),
    ],
    ids=lambda value: value.spec if isinstance(value, Decoder) else "",
)
def test_every_kind_of_reason_is_told(decoder: Decoder, seen: list[str]) -> None:
    oracle = told_apart(Uniform(9, 0.7), decoder)
    reasons = [replay_trial(oracle, decoder, 5, trial).reason for trial in range(200)]
    assert [part for part in seen if not any(part in reason for reason in reasons)] == []
    assert not any(re.search(r"\b1 (queries|places|others|different pairs)\b|\.\.|None", reason) for reason in reasons)


def test_no_reason_speaks_of_numbers_that_mean_nothing() -> None:
    reasons = " ".join(replay_trial(Uniform(9, 0.7), Poll(4, "first"), 5, trial).reason for trial in range(200))
    assert "the draw fell on 0, the true class" in reasons
    assert "lowest number" not in reasons


# --- rejections
# --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((Recorded.of(Uniform(4, 0.7), 5), MaxWin(), 0, 5), "'trial' .* a recorded row, from 0 to 4. Got 5 instead"),
        ((Uniform(4, 0.7), MaxWin(), 0, -1), "'trial' parameter of replay_trial must be an integer"),
        ((Uniform(4, 0.7), MaxWin(), 0, 2**63), "'trial'"),
        ((Uniform(4, 0.7), MaxWin(), 0, 1.0), "'trial'"),
        ((Uniform(4, 0.7), MaxWin(), 2**64, 0), "'seed'"),
        (("uniform", MaxWin(), 0, 0), "'oracle'"),
        ((Uniform(4, 0.7), "max-win", 0, 0), "'decoder'"),
        ((Uniform(100_000, 0.7), MaxWin(), 0, 0), "asks at most .* Got max-win: 4,999,950,000 queries instead"),
    ],
)
def test_bad_parameters_are_refused(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        replay_trial(*arguments)  # type: ignore[arg-type]


def test_the_last_row_and_the_last_trial_have_a_report() -> None:
    assert replay_trial(Recorded.of(Uniform(4, 0.7), 5), MaxWin(), 0, 4).trial == 4
    assert replay_trial(Uniform(4, 0.7), MaxWin(), 0, 2**63 - 1).trial == 2**63 - 1
    for limit in (0, -1, 2.5, True):
        with pytest.raises(ParameterError, match="'limit'"):
            replay_trial(Uniform(4, 0.7), MaxWin(), 0, 0).to_text(limit)  # type: ignore[arg-type]
