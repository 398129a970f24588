"""The story of one trial as people and programs get it: lines of text, and a record."""

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
    story = replay_trial(Recorded([[False, True, True, True, True, False]], [0]), Adag(order="given"), 0, 0)
    assert story.to_text().splitlines() == [
        "recorded:1-rows, n = 4, adag:order=given, seed 0, trial 0: the true class is 0",
        "round 1: 2 queries",
        "  0 beats 3   right",
        "  1 beats 2",
        "round 2: 1 query",
        "  1 beats 0   WRONG",
        "cost: 3 queries, 3 different pairs, 2 rounds",
        "WRONG: the true class 0 lost to class 1 in round 2 of 2 and was out; class 1 was named.",
    ]


def lines_of(story: TrialReport, limit: int | None) -> list[tuple[int, int, str]]:
    """Return (winner, loser, rest) of the questions shown."""
    found = re.findall(r"^ +(\d+) beats (\d+) *(.*)$", story.to_text(limit), re.MULTILINE)
    return [(int(winner), int(loser), rest) for winner, loser, rest in found]


@pytest.mark.parametrize("decoder", every_decoder(16), ids=lambda decoder: decoder.spec)
def test_without_a_limit_every_question_has_its_line(decoder: Decoder) -> None:
    story = replay_trial(Uniform(16, 0.6), decoder, 2, 5)
    lines = lines_of(story, None)
    assert "more" not in story.to_text(None)
    assert [line[:2] for line in lines] == [(question.winner, question.loser) for question in story.asked]
    verdicts = {True: "right", False: "WRONG", None: ""}
    for (_, _, rest), question in zip(lines, story.asked, strict=True):
        assert (rest.split() or [""])[0] == verdicts[question.right] or question.right is None
        assert ("(asked before)" in rest) == question.repeated
        assert f"asked by {question.first}" in rest or "asked by" not in rest
        assert question.right is not None or not re.search("right|WRONG", rest)


def test_a_long_round_shows_what_matters_first() -> None:
    story = next(
        s for s in (replay_trial(Uniform(40, 0.6), MaxWin(), 3, t) for t in range(50)) if not s.right and s.winner
    )
    lines = lines_of(story, 25)
    lost = [question for question in story.asked if question.right is False]
    assert len(lines) == 25
    assert [line[0] for line in lines[: len(lost)]] == [question.winner for question in lost][:25]
    assert all(0 in line[:2] or story.winner in line[:2] for line in lines)
    assert f"... and {story.queries - 25:,} more" in story.to_text(25)
    both = lines_of(story, 100)  # 39 questions with the true class, 38 more with the winner
    assert len(both) == 39 + 38
    assert f"... and {story.queries - 77:,} more" in story.to_text(100)


def test_a_poll_shows_first_what_counts() -> None:
    story = replay_trial(Uniform(40, 0.6), Poll(5), 3, 1)
    assert story.winner
    askers = [int(rest.split("asked by ")[1].split()[0]) for _, _, rest in lines_of(story, 40)]
    assert askers[:5] == [0] * 5
    shown = lines_of(story, 40)
    others = [asker for asker, line in zip(askers, shown, strict=True) if 0 not in line[:2]]
    assert others[: others.count(story.winner)] == [story.winner] * others.count(story.winner)
    assert "a point to the one who asks" in story.to_text()
    assert "asks" not in replay_trial(Uniform(40, 0.6), MaxWin(), 3, 1).to_text()


def test_many_rounds_are_told_together() -> None:
    story = replay_trial(Uniform(300, 0.9), Ddag(), 0, 1)
    text = story.to_text(10)
    hidden = [int(count.replace(",", "")) for count in re.findall(r"(\d[\d,]*) (?:query|queries), not shown", text)]
    assert sum(hidden) + len(lines_of(story, 10)) == 299
    assert all(0 in line[:2] or story.winner in line[:2] for line in lines_of(story, 10))
    assert len(lines_of(story, 10)) <= 10
    assert len(lines_of(story, 299)) == 299


@pytest.mark.parametrize("decoder", [Adag(), Ddag(), Poll(3)], ids=repr)
def test_a_hundred_thousand_classes(decoder: Decoder) -> None:
    """Only what is asked is computed, and the text stays short."""
    story = replay_trial(Uniform(100_000, 0.9), decoder, 0, 7)
    assert story.queries == decoder.cost(100_000).queries
    assert len(story.to_text()) < 10_000
    assert decide(Uniform(100_000, 0.9), decoder, 1, 0, 7)[0] == [story.winner]


@pytest.mark.parametrize("decoder_name", sorted(DECODERS))
def test_records_survive_json(decoder_name: str) -> None:
    oracles = [Uniform(7, 0.6), Matrix(Uniform(7, 0.6).matrix()), Recorded.of(Similarity.profile("zipf:1.0", 7), 9)]
    for oracle in oracles:
        story = replay_trial(oracle, DECODERS[decoder_name](), 2**64 - 1, 8)
        record = story.to_record()
        assert json.loads(json.dumps(record, allow_nan=False)) == record
        assert set(record) == {f.name for f in dataclasses.fields(TrialReport)} - {"asked"} | {"right"}
        assert [len(questions) for questions in record["rounds"]] == [len(questions) for questions in story.rounds]
        assert record["rounds"][0][0] == story.rounds[0][0]._asdict()
        assert record["scores"] == {str(label): wins for label, wins in story.scores.items()}


def test_questions_are_a_sequence() -> None:
    questions = replay_trial(Uniform(6, 0.6), MaxWin(), 0, 0).rounds[0]
    assert questions[-1] == list(questions)[-1]
    assert list(questions[2:9:3]) == list(questions)[2:9:3]
    assert questions[0] in questions
    with pytest.raises(IndexError):
        questions[15]
