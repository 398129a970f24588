"""Conditional methods as a registry: what a user's method is given, and that all of them estimate the same success."""

from __future__ import annotations

import dataclasses
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pairsim import (
    Adag,
    Ddag,
    Halving,
    Matrix,
    MaxWin,
    Poll,
    Posterior,
    Recorded,
    Session,
    Similarity,
    TopK,
    Uniform,
    exact,
    simulate,
)
from pairsim.kernels.driver import decoder_confidence, list_round, record_round, start_decoder
from pairsim.kernels.stream import stream_key
from pairsim.simulation.conditional import CONDITIONAL, ConditionalMethod
from pairsim.simulation.conditional.base import QUERIES
from pairsim.simulation.simulator import BlockSimulator

sys.path.append(str(Path(__file__).parents[1] / "plugins"))

from my_plugins.lottery import Lottery

TRIALS = 20_000


def test_the_built_in_methods_are_registered_for_exact_types() -> None:
    assert {kind for kind in CONDITIONAL if kind.__module__.startswith("pairsim.")} == {
        *(MaxWin, Poll, TopK, Adag, Ddag, Halving, Posterior)
    }

    @dataclasses.dataclass(frozen=True)
    class Other(MaxWin):
        pass

    assert CONDITIONAL.of(Other()) is None
    assert simulate(Uniform(6, 0.8), Other(), 100, threads=1).method == "simulated"


@pytest.mark.parametrize("oracle", [Uniform(7, 0.8), Matrix(Uniform(7, 0.6).matrix())], ids=lambda each: each.name)
def test_a_users_method_and_exact_value_agree_with_simulation(oracle: Any) -> None:
    """The interval at 1 - 1e-6 holds the exact value, by both methods; and the conditional one is shorter."""
    value = exact(oracle, Lottery())
    assert value.success == pytest.approx(2 * oracle.matrix()[0, 1] / 7)
    found = [
        simulate(oracle, Lottery(), TRIALS, 3, 1 - 1e-6, method=method, threads=1)
        for method in ("simulated", "conditional")
    ]
    for each in found:
        assert each.low < value.success < each.high
        assert (each.queries, each.distinct, each.rounds) == (1.0, 1.0, 1.0)
    assert found[1].standard_error < found[0].standard_error / 2
    wrong = simulate(Uniform(7, 0.9), Lottery(), TRIALS, 3, 1 - 1e-6, method="conditional", threads=1)
    assert not wrong.low < value.success < wrong.high  # negative control


@pytest.mark.parametrize("ties", ["random", "lose", "first"])
@pytest.mark.parametrize(
    ("oracle", "l"),
    [
        (Similarity.profile("zipf:0.5", 20), 2),
        (Matrix(Uniform(33, 0.9).matrix()), 1),
        (Matrix([[0.5, 0.7], [0.3, 0.5]]), 3),
    ],
    ids=["similarity", "odd", "two classes"],
)
def test_halving_given_the_scores_is_halving(oracle: Any, l: int, ties: str) -> None:
    """Winners and costs are as often the same as when every query is asked: intervals that must overlap."""
    asked, drawn = (
        simulate(oracle, Halving(l, ties), TRIALS, seed, 1 - 1e-6, method=method, threads=1)
        for method, seed in (("simulated", 3), ("conditional", 4))
    )
    assert max(asked.low, drawn.low) <= min(asked.high, drawn.high)
    assert drawn.queries == pytest.approx(asked.queries, rel=0.01)
    assert drawn.rounds == pytest.approx(asked.rounds, rel=0.01)
    assert drawn.distinct == pytest.approx(asked.distinct, rel=0.1)


def test_halving_given_the_scores_reads_every_round() -> None:
    """Negative control: with another number of opponents in the first round, intervals are far apart."""
    oracle = Uniform(33, 0.9)
    few = simulate(oracle, Halving(1), TRIALS, 3, 1 - 1e-6, method="simulated", threads=1)
    more = simulate(oracle, Halving(2), TRIALS, 4, 1 - 1e-6, method="conditional", threads=1)
    assert few.high < more.low


def test_agreements_of_a_users_method_are_those_of_simulation() -> None:
    oracle, panel = Uniform(9, 0.9), [MaxWin(), Lottery(), Poll("log")]
    counted, computed = (
        simulate(oracle, panel, TRIALS, 5, method=method, threads=1)[1] for method in ("simulated", "conditional")
    )
    assert computed.method == "conditional"
    assert abs(counted.agreement - computed.agreement) < 5 * math.sqrt(0.25 / TRIALS)
    alone = simulate(oracle, Lottery(), TRIALS, 5, method="conditional", threads=1)
    assert alone.success == computed.success


def test_auto_takes_it_where_scores_are_there_anyway() -> None:
    both = simulate(Uniform(9, 0.9), [MaxWin(), Lottery()], 2000, threads=1)
    assert [each.method for each in both] == ["conditional", "conditional"]
    assert simulate(Recorded.of(Uniform(9, 0.9), 50), Lottery(), threads=1).method == "simulated"


class GivenQueries(ConditionalMethod):
    """Adds nothing to what was asked: 0 or 1."""

    given = QUERIES
    agrees = True

    def write(self, trials: Any, decoder: Any, out: Any) -> None:
        out.failed[:] = out.named != trials.truth
        if trials.reference.size:
            out.agreed[:] = out.named == trials.reference


@pytest.mark.parametrize("oracle", [Uniform(7, 0.8), Recorded.of(Uniform(7, 0.8), 1500)], ids=lambda each: each.name)
def test_a_method_that_needs_what_was_asked(oracle: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CONDITIONAL._entries, Lottery, GivenQueries())
    decoders = (MaxWin(), Lottery())
    counted, computed = (
        BlockSimulator((oracle,), decoders, ("simulated", method), 0, 4).run(0, 1000)[0].tallies[1]
        for method in ("simulated", "conditional")
    )
    assert computed.smooth is not None
    assert computed.smooth.mean * 1000 == pytest.approx(counted.failed)
    assert (computed.agreements, computed.queries, computed.distinct) == (
        counted.agreements,
        counted.queries,
        counted.distinct,
    )


def test_confidence_is_the_decoders_own_and_unknown_without_one() -> None:
    for decoder, wanted in ((Lottery(), 2.0 / 5), (Adag(), math.nan)):
        kernel = decoder.kernel(5)
        state = start_decoder(kernel, 5, stream_key(1, 5))
        while (queries := list_round(kernel, state)).size:
            record_round(kernel, state, queries, np.ones(len(queries), np.bool_))
        found = decoder_confidence(kernel, state)
        assert found == wanted or (math.isnan(found) and math.isnan(wanted))
    session = Session(5, Lottery())
    session.tell_all([True])
    assert session.winner is not None
