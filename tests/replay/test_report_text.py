"""The report of one trial as people and programs get it: lines of text, and a record."""

from __future__ import annotations

import dataclasses
import json
import re

import pytest
from decisions import decide
from strategies import every_decoder

from pairsim import Adag, Ddag, Decoder, Matrix, MaxWin, Poll, Recorded, Similarity, Uniform
from pairsim.decoders import REGISTRY as DECODERS
from pairsim.replay import TrialReport, replay_trial


def test_the_whole_text() -> None:
    report = replay_trial(Recorded([[False, True, True, True, True, False]], [0]), Adag(order="given"), 0, 0)
    assert report.to_text().splitlines() == [
        "recorded:1-rows, n = 4, adag:order=given, seed 0, trial 0: the true class is 0",
        "round 1: 2 queries",
        "  0 beats 3   right",
        "  1 beats 2",
        "round 2: 1 query",
        "  1 beats 0   WRONG",
        "cost: 3 queries, 3 different pairs, 2 rounds",
        "WRONG: the true class 0 lost to class 1 in round 2 of 2 and was out; class 1 was named.",
    ]


def lines_of(report: TrialReport, limit: int | None) -> list[tuple[int, int, str]]:
    """Return (winner, loser, rest) of the queries shown."""
    found = re.findall(r"^ +(\d+) beats (\d+) *(.*)$", report.to_text(limit), re.MULTILINE)
    return [(int(winner), int(loser), rest) for winner, loser, rest in found]


@pytest.mark.parametrize("decoder", every_decoder(16), ids=lambda decoder: decoder.spec)
def test_without_a_limit_every_question_has_its_line(decoder: Decoder) -> None:
    report = replay_trial(Uniform(16, 0.6), decoder, 2, 5)
    lines = lines_of(report, None)
    assert "more" not in report.to_text(None)
    assert [line[:2] for line in lines] == [(query.winner, query.loser) for query in report.asked]
    verdicts = {True: "right", False: "WRONG", None: ""}
    for (_, _, rest), query in zip(lines, report.asked, strict=True):
        assert (rest.split() or [""])[0] == verdicts[query.right] or query.right is None
        assert ("(asked before)" in rest) == query.repeated
        assert f"asked by {query.first}" in rest or "asked by" not in rest
        assert query.right is not None or not re.search("right|WRONG", rest)


def test_a_long_round_shows_what_matters_first() -> None:
    report = next(
        s for s in (replay_trial(Uniform(40, 0.6), MaxWin(), 3, t) for t in range(50)) if not s.right and s.winner
    )
    lines = lines_of(report, 25)
    lost = [query for query in report.asked if query.right is False]
    assert len(lines) == 25
    assert [line[0] for line in lines[: len(lost)]] == [query.winner for query in lost][:25]
    assert all(0 in line[:2] or report.winner in line[:2] for line in lines)
    assert f"... and {report.queries - 25:,} more" in report.to_text(25)
    both = lines_of(report, 100)  # 39 queries with the true class, 38 more with the winner
    assert len(both) == 39 + 38
    assert f"... and {report.queries - 77:,} more" in report.to_text(100)


def test_a_poll_shows_first_what_counts() -> None:
    report = replay_trial(Uniform(40, 0.6), Poll(5), 3, 1)
    assert report.winner
    askers = [int(rest.split("asked by ")[1].split()[0]) for _, _, rest in lines_of(report, 40)]
    assert askers[:5] == [0] * 5
    shown = lines_of(report, 40)
    others = [asker for asker, line in zip(askers, shown, strict=True) if 0 not in line[:2]]
    assert others[: others.count(report.winner)] == [report.winner] * others.count(report.winner)
    assert "a point to the one who asks" in report.to_text()
    assert "asks" not in replay_trial(Uniform(40, 0.6), MaxWin(), 3, 1).to_text()


def test_many_rounds_are_told_together() -> None:
    report = replay_trial(Uniform(300, 0.9), Ddag(), 0, 1)
    text = report.to_text(10)
    hidden = [int(count.replace(",", "")) for count in re.findall(r"(\d[\d,]*) (?:query|queries), not shown", text)]
    assert sum(hidden) + len(lines_of(report, 10)) == 299
    assert all(0 in line[:2] or report.winner in line[:2] for line in lines_of(report, 10))
    assert len(lines_of(report, 10)) <= 10
    assert len(lines_of(report, 299)) == 299


@pytest.mark.parametrize("decoder", [Adag(), Ddag(), Poll(3)], ids=repr)
def test_a_hundred_thousand_classes(decoder: Decoder) -> None:
    """Only what is asked is computed, and the text stays short."""
    report = replay_trial(Uniform(100_000, 0.9), decoder, 0, 7)
    assert report.queries == decoder.cost(100_000).queries
    assert len(report.to_text()) < 10_000
    assert decide(Uniform(100_000, 0.9), decoder, 1, 0, 7)[0] == [report.winner]


@pytest.mark.parametrize("decoder_name", sorted(DECODERS))
def test_records_survive_json(decoder_name: str) -> None:
    oracles = [Uniform(7, 0.6), Matrix(Uniform(7, 0.6).matrix()), Recorded.of(Similarity.profile("zipf:1.0", 7), 9)]
    for oracle in oracles:
        report = replay_trial(oracle, DECODERS[decoder_name](), 2**64 - 1, 8)
        record = report.to_record()
        assert json.loads(json.dumps(record, allow_nan=False)) == record
        assert set(record) == {f.name for f in dataclasses.fields(TrialReport)} - {"asked"} | {"right"}
        assert [len(queries) for queries in record["rounds"]] == [len(queries) for queries in report.rounds]
        assert record["rounds"][0][0] == report.rounds[0][0]._asdict()
        assert record["scores"] == {str(label): wins for label, wins in report.scores.items()}


def test_questions_are_a_sequence() -> None:
    queries = replay_trial(Uniform(6, 0.6), MaxWin(), 0, 0).rounds[0]
    assert queries[-1] == list(queries)[-1]
    assert list(queries[2:9:3]) == list(queries)[2:9:3]
    assert queries[0] in queries
    with pytest.raises(IndexError):
        queries[15]
