"""Exact values of recorded rows: every poll and every order of small problems, in fractions."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from exact_values_enumeration import TIES, polls, survive_adag, survive_ddag
from hypothesis import given, settings
from hypothesis import strategies as st

from pairsim import Adag, Ddag, Decoder, Halving, MaxWin, ParameterError, Poll, Quick, Recorded, TopK, Uniform, exact
from pairsim import simulate as run
from pairsim.exact_values import ExactUnavailable
from pairsim.stats import binomial_interval

DECODERS: list[Decoder] = [
    *(MaxWin(ties) for ties in TIES),
    *(Poll(l, ties) for l in (1, 2) for ties in TIES),
    *(kind(order) for kind in (Adag, Ddag) for order in ("random", "given")),
]


@st.composite
def recordings(draw: st.DrawFn) -> Recorded:
    n = draw(st.integers(2, 4))
    rows, pairs = draw(st.integers(1, 3)), n * (n - 1) // 2
    row = st.lists(st.booleans(), min_size=pairs, max_size=pairs)
    answers = draw(st.lists(row, min_size=rows, max_size=rows))
    return Recorded(answers, draw(st.lists(st.integers(0, n - 1), min_size=rows, max_size=rows)))


def beats_of(answers: Sequence[bool], n: int) -> list[list[bool]]:
    beats = [[False] * n for _ in range(n)]
    for (i, j), low_wins in zip(itertools.combinations(range(n), 2), answers, strict=True):
        beats[i][j], beats[j][i] = bool(low_wins), not low_wins
    return beats


def named_true(scores: Sequence[int], truth: int, ties: str) -> Fraction:
    """Return the probability that the class `truth` is named when the classes have these scores."""
    tied = [c for c, score in enumerate(scores) if score == max(scores)]
    if truth not in tied or (ties == "lose" and len(tied) > 1):
        return Fraction(0)
    return Fraction(1, len(tied)) if ties == "random" else Fraction(truth == tied[0])


def success_on_row(beats: list[list[bool]], truth: int, decoder: Decoder) -> Fraction:
    n = len(beats)
    scores = [sum(row) for row in beats]
    if isinstance(decoder, MaxWin):
        return named_true(scores, truth, decoder.ties)
    if isinstance(decoder, Poll):
        assert isinstance(decoder.l, int)
        return sum(
            (
                probability * named_true(sampled, truth, decoder.ties)
                for probability, sampled in polls(scores, decoder.l)
            ),
            start=Fraction(0),
        )
    assert isinstance(decoder, Adag | Ddag)
    numbers = [truth, *(c for c in range(n) if c != truth)]  # the true class is number 0 of the enumeration
    probabilities = [[Fraction(beats[i][j]) for j in numbers] for i in numbers]
    given_order = tuple(numbers.index(c) for c in range(n))
    orders = [given_order] if decoder.order == "given" else list(itertools.permutations(range(n)))
    survive = survive_adag if isinstance(decoder, Adag) else survive_ddag
    return sum((survive(probabilities, order) for order in orders), start=Fraction(0)) / len(orders)


@settings(deadline=None, max_examples=12)
@given(recordings())
@pytest.mark.parametrize("decoder", DECODERS, ids=lambda each: each.spec)
def test_the_mean_over_the_rows_is_that_of_every_draw(decoder, recorded):
    rows = [beats_of(answers, recorded.n) for answers in recorded.answers().tolist()]
    truth = recorded.truth(0, recorded.rows).tolist()
    expected = sum((success_on_row(*each, decoder) for each in zip(rows, truth, strict=True)), start=Fraction(0))
    found = exact(recorded, decoder)
    assert found.success == pytest.approx(float(expected / recorded.rows), abs=1e-12)
    assert found.failure == pytest.approx(1 - float(expected / recorded.rows), abs=1e-12)
    assert found.how == f"the mean over {recorded.rows} recorded rows"


@pytest.mark.parametrize("decoder", [MaxWin(), Poll(4), Poll(3, "first"), Adag(), Ddag()], ids=lambda each: each.spec)
def test_replayed_rows_come_close(decoder):
    """More rows than a piece of work holds: the replay of 3,000 rows is within 5 standard errors, at most 3 in 10^6."""
    recorded = Recorded.of(Uniform(7, 0.75), 3000, seed=3)
    found = exact(recorded, decoder).success
    assert abs(run(recorded, decoder).success - found) < 5 * np.sqrt(0.25 / 3000)
    assert 0.2 < found < 0.9


def test_the_interval_is_for_other_rows_of_the_kind(tmp_path, pairsim_command):
    """Where a row is right or wrong it is Clopper and Pearson's; a poll's own draws, averaged out, widen it no more."""
    recorded = Recorded.of(Uniform(9, 0.75), 500, seed=2)
    for decoder in (MaxWin("first"), Adag("given"), Ddag("given")):
        found = exact(recorded, decoder)
        assert (found.low, found.high) == pytest.approx(binomial_interval(round(500 * found.success), 500), abs=2e-3)
    poll, counted = exact(recorded, Poll(4)), run(recorded, Poll(4))
    assert poll.low < poll.success < poll.high
    assert poll.high - poll.low < 0.9 * (counted.high - counted.low)
    wide = exact(recorded, Poll(4), confidence=0.999)
    assert wide.low < poll.low < poll.high < wide.high
    assert (exact(Uniform(9, 0.75), Adag()).low, exact(Uniform(9, 0.75), Adag()).high) == (None, None)
    recorded.save(tmp_path / "a.npz")
    arguments = ("exact", "--decoder", "poll:l=4", "--format", "json")
    (row,) = json.loads(pairsim_command(*arguments, "--oracle", f"recorded:{tmp_path / 'a.npz'}").out)
    assert (row["low"], row["high"]) == (poll.low, poll.high)
    (row,) = json.loads(pairsim_command(*arguments, "--n", 9, "--p", 0.75).out)
    assert "low" not in row
    with pytest.raises(ParameterError, match="confidence"):
        exact(recorded, MaxWin(), confidence=1.0)


def test_other_samples_of_rows_fall_into_the_interval_as_often_as_it_says():
    """200 samples of 60 rows at 80%: fewer than 138 would come once in 10^4, more than 189 even less often."""
    value = exact(Recorded.of(Uniform(6, 0.7), 60_000, seed=9), Poll(3)).success
    samples = [exact(Recorded.of(Uniform(6, 0.7), 60, seed=seed), Poll(3), confidence=0.8) for seed in range(200)]
    inside = sum(each.low <= value <= each.high for each in samples)
    assert 138 <= inside <= 189
    assert not 138 <= sum(each.low <= value + 0.1 <= each.high for each in samples) <= 189  # the test can fail


def test_what_has_no_exact_value_is_told_in_one_line(tmp_path, pairsim_command):
    recorded = Recorded.of(Uniform(24, 0.8), 60)
    recorded.save(tmp_path / "a.npz")
    for decoder in (TopK(3, 2), Halving(), Quick(), Adag(), Ddag()):
        with pytest.raises(ExactUnavailable, match="simulate"):
            exact(recorded, decoder)
    outcome = pairsim_command("exact", "--oracle", f"recorded:{tmp_path / 'a.npz'}", "--format", "json")
    rows = {row["decoder"]: row["success"] for row in json.loads(outcome.out)}
    assert set(rows) == {"max-win", "poll:l=log", "poll:l=3log", "poll:l=5log"}
    assert rows["max-win"] == exact(recorded, MaxWin()).success
    assert len([line for line in outcome.err.splitlines() if "compiling" not in line]) == 1  # adag and ddag together
    with pytest.raises(ParameterError, match="pairsim exact"):
        run(recorded, MaxWin(), method="exact")
