"""Exact values against simulation.

Each comparison uses an interval at confidence 1 - PER_COMPARISON; fewer than 1,000 are made here, so the probability
that any of them rings falsely is below 1e-6. The seeds are fixed: what passes once passes always.
"""

from __future__ import annotations

import math

import pytest
from decisions import decide
from labels import told_apart

from pairsim import Adag, Ddag, Decoder, Matrix, MaxWin, Oracle, Poll, Similarity, TopK, Uniform, simulate
from pairsim.exact_values import ExactUnavailable, exact

PER_COMPARISON = 1e-9
TRIALS = 50_000
ORDERS = ("random", "given")
TIES = ("random", "lose", "first")

UNEVEN = Matrix(
    [
        [0.5, 0.9, 0.6, 0.8, 0.7, 0.95],
        [0.1, 0.5, 0.7, 0.2, 0.9, 0.4],
        [0.4, 0.3, 0.5, 0.6, 0.1, 0.75],
        [0.2, 0.8, 0.4, 0.5, 0.35, 0.5],
        [0.3, 0.1, 0.9, 0.65, 0.5, 0.15],
        [0.05, 0.6, 0.25, 0.5, 0.85, 0.5],
    ]
)
SMALL: list[Oracle] = [Uniform(7, 0.8), UNEVEN, Similarity.profile("zipf:1.0", 7)]
LARGER: list[tuple[Oracle, Decoder]] = [
    (Uniform(15, 0.9), MaxWin()),
    (Uniform(15, 0.7), MaxWin("lose")),
    (Uniform(14, 0.9), Poll("5log")),
    (Uniform(14, 0.9), Poll("log", ties="lose")),
    (Similarity.profile("zipf:1.0", 10), MaxWin()),
    (Similarity.profile("geometric:0.7", 9), Poll("3log")),
    (Similarity.profile("zipf:1.0", 13), Ddag()),
    (Similarity.profile("zipf:1.0", 13), Adag()),
    (Similarity.profile("zipf:0.5", 100), Adag("given")),
    (Similarity.profile("geometric:0.8", 40), Ddag("given")),
    (Uniform(100, 0.95), Ddag()),
    (Uniform(100, 0.95), Adag()),
]
DECODERS: list[Decoder] = [
    *(MaxWin(ties) for ties in TIES),
    *(Poll(l, ties) for ties in TIES for l in (2, 9)),
    *(TopK(k, 4, final, ties) for ties in TIES for final in ("rescore", "maxwin") for k in (2, 3)),
    *(kind(order) for kind in (Ddag, Adag) for order in ORDERS),
]


def is_inside(oracle: Oracle, decoder: Decoder, success: float) -> bool:
    estimate = simulate(oracle, decoder, TRIALS, seed=77, confidence=1 - PER_COMPARISON, threads=1)
    return estimate.low <= success <= estimate.high


def names(value: object) -> str:
    return value.spec if isinstance(value, Decoder) else f"{value.label}-{value.n}" if isinstance(value, Oracle) else ""


@pytest.mark.parametrize("decoder", DECODERS, ids=names)
@pytest.mark.parametrize("oracle", SMALL, ids=names)
def test_simulation_meets_the_exact_value(oracle: Oracle, decoder: Decoder) -> None:
    told = told_apart(oracle, decoder)
    assert is_inside(told, decoder, exact(told, decoder).success)


@pytest.mark.parametrize("decoder", [each for each in DECODERS if each.reads_labels], ids=names)
def test_simulation_meets_the_exact_value_where_numbers_mean_nothing(decoder: Decoder) -> None:
    """There is none where a low number helps twice, at the cut and in a final of three."""
    oracle = SMALL[0]
    if isinstance(decoder, TopK) and (decoder.k, decoder.final) == (3, "maxwin"):
        with pytest.raises(ExactUnavailable, match="does not read class numbers"):
            exact(oracle, decoder)
    else:
        assert is_inside(oracle, decoder, exact(oracle, decoder).success)


@pytest.mark.parametrize(("oracle", "decoder"), LARGER, ids=names)
def test_simulation_meets_the_exact_value_of_larger_problems(oracle: Oracle, decoder: Decoder) -> None:
    assert is_inside(oracle, decoder, exact(oracle, decoder).success)


def test_wrong_values_are_outside() -> None:
    """Negative control: neighbouring rules, sizes and probabilities, and a shift of four points in a hundred."""
    seven = Uniform(7, 0.8)
    assert not is_inside(seven, MaxWin("lose"), exact(seven, MaxWin("random")).success)
    told = told_apart(seven, MaxWin("first"))
    assert not is_inside(told, MaxWin("first"), exact(seven, MaxWin("first")).success)
    assert not is_inside(seven, MaxWin("first"), exact(told, MaxWin("first")).success)
    assert not is_inside(seven, Poll(9), exact(seven, Poll(7)).success)
    assert not is_inside(seven, TopK(2, 4, "rescore"), exact(seven, TopK(2, 4, "maxwin")).success)
    assert not is_inside(seven, MaxWin(), exact(Uniform(7, 0.83), MaxWin()).success)
    assert not is_inside(UNEVEN, Ddag("given"), exact(UNEVEN, Ddag("random")).success)
    assert not is_inside(UNEVEN, Adag(), exact(UNEVEN, Adag()).success + 0.04)


def cost_agrees(oracle: Oracle, decoder: Decoder, expected: tuple[float, float | None, float]) -> bool:
    """Compare the mean queries, distinct and rounds of the trial loop, each within Hoeffding's bound."""
    _, sums = decide(oracle, decoder, TRIALS, seed=5)
    cost = decoder.cost(oracle.n)
    spread = math.sqrt(math.log(2 / PER_COMPARISON) / (2 * TRIALS))
    return all(
        wanted is None or abs(found / TRIALS - wanted) <= widest * spread
        for found, wanted, widest in zip(sums, expected, (cost.queries, cost.queries, cost.rounds), strict=True)
    )


@pytest.mark.parametrize("decoder", DECODERS, ids=names)
def test_cost_meets_the_trial_loop(decoder: Decoder) -> None:
    answer = exact(UNEVEN, decoder)
    assert cost_agrees(UNEVEN, decoder, (answer.queries, answer.distinct, answer.rounds))
    assert (answer.distinct is None) == isinstance(decoder, TopK)


def test_wrong_costs_are_rejected() -> None:
    """Negative control: the most that a top-k may cost is not what it costs when ties lose."""
    decoder = TopK(2, 4, ties="lose")
    cost = decoder.cost(6)
    assert not cost_agrees(UNEVEN, decoder, (float(cost.queries), None, float(cost.rounds)))
    distinct = exact(UNEVEN, Poll(3)).distinct
    assert not cost_agrees(UNEVEN, Poll(2), (12.0, distinct, 1.0))
