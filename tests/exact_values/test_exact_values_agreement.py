"""Exact values against each other: different programmes, and decoders that are the same in special cases."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labels import told_apart

from pairsim import Matrix, MaxWin, Oracle, Poll, Similarity, TopK, Uniform
from pairsim.exact_values import exact, labelled, scores, top_k
from pairsim.exact_values.lanes import poll_lanes

TIES = ("random", "lose", "first")
Pair = tuple[float, float]


def same(found: Pair, wanted: Pair) -> bool:
    return all(math.isclose(a, b, rel_tol=1e-13, abs_tol=1e-300) for a, b in zip(found, wanted, strict=True))


def both(oracle: Oracle, decoder: MaxWin | Poll | TopK) -> Pair:
    """Return success and failure; a rule that reads class numbers reads those of the matrix, where 0 is the truth."""
    answer = exact(told_apart(oracle, decoder), decoder)
    return answer.success, answer.failure


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.integers(2, 9), st.floats(0, 1), st.sampled_from(TIES))
def test_max_win_by_two_programmes(n: int, p: float, ties: str) -> None:
    alike = scores.max_win_exchangeable(n, p, ties)
    assert same(alike, scores.max_win_labelled(Uniform(n, p).matrix(), ties))
    assert math.isclose(sum(alike), 1.0, rel_tol=1e-13)


@settings(derandomize=True, deadline=None, max_examples=30)
@given(st.integers(2, 7), st.floats(0, 1), st.integers(1, 12), st.sampled_from(TIES))
def test_poll_by_two_programmes(n: int, p: float, l: int, ties: str) -> None:
    alike = scores.poll_exchangeable(n, p, l, ties)
    assert same(alike, labelled.expect_products(Uniform(n, p).matrix(), poll_lanes(n, l, ties)))
    assert math.isclose(sum(alike), 1.0, rel_tol=1e-13)


def test_the_programmes_tell_rules_and_probabilities_apart() -> None:
    """Negative control."""
    probabilities = Uniform(6, 0.75).matrix()
    assert not same(scores.max_win_exchangeable(6, 0.75, "random"), scores.max_win_labelled(probabilities, "first"))
    assert not same(
        scores.max_win_exchangeable(6, 0.75 + 1e-9, "random"), scores.max_win_labelled(probabilities, "random")
    )
    assert not same(
        scores.poll_exchangeable(6, 0.75, 3, "lose"), labelled.expect_products(probabilities, poll_lanes(6, 4, "lose"))
    )


@settings(derandomize=True, deadline=None, max_examples=25)
@given(
    st.integers(2, 6),
    st.floats(0, 1),
    st.integers(1, 4),
    st.sampled_from(("rescore", "maxwin")),
    st.sampled_from(TIES),
    st.data(),
)
def test_top_k_with_and_without_symmetry(n: int, p: float, l: int, final: str, ties: str, data: st.DataObject) -> None:
    decoder = TopK(data.draw(st.integers(1, n)), l, final, ties)
    probabilities = Uniform(n, p).matrix()
    alike, apart = (top_k.top_k_over_sets(probabilities, decoder, alike) for alike in (True, False))
    assert math.isclose(alike[0], apart[0], rel_tol=1e-12, abs_tol=1e-14)
    if ties == "lose":
        counts = [top_k.count_candidates(probabilities, decoder, alike) for alike in (True, False)]
        np.testing.assert_allclose(counts[0], counts[1], rtol=1e-12, atol=1e-14)
        assert counts[0].min() >= -1e-14


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("oracle", [Uniform(7, 0.8), Similarity.profile("zipf:1.0", 6)], ids=["uniform", "zipf"])
def test_top_k_at_its_ends(oracle: Oracle, ties: str) -> None:
    """One candidate: the poll itself. As many as there are classes: max-win, by either final."""
    for final in ("rescore", "maxwin"):
        one = both(oracle, TopK(1, 3, final, ties))
        everyone = both(oracle, TopK(oracle.n, 2, final, ties))
        assert one == pytest.approx(both(oracle, Poll(3, ties)), rel=1e-12)
        assert everyone == pytest.approx(both(oracle, MaxWin(ties)), rel=1e-12)
    assert one != pytest.approx(everyone, rel=1e-3)


@pytest.mark.parametrize("decoder", [MaxWin(), Poll(4), Poll(3, "lose"), TopK(2, 3)], ids=lambda decoder: decoder.spec)
def test_uniform_by_any_name(decoder: MaxWin | Poll | TopK) -> None:
    uniform = Uniform(8, 0.875)
    shares = Similarity.profile("uniform-rest:0.5", 8)  # 1/2 against 1/14 each
    assert both(Matrix(uniform.matrix()), decoder) == both(uniform, decoder)
    assert both(shares, decoder) == pytest.approx(both(uniform, decoder), rel=1e-12)


@pytest.mark.parametrize("ties", TIES)
def test_poll_becomes_max_win_when_everybody_is_asked_often(ties: str) -> None:
    """A tie of full scores is never a tie of many samples: a fair draw among the tied is what remains."""
    oracle = Uniform(5, 0.75)
    drawn = both(oracle, MaxWin("random"))[0]
    assert both(oracle, Poll(1000, ties))[0] == pytest.approx(drawn, abs=1e-2)
    assert abs(both(oracle, Poll(4, ties))[0] - drawn) > 2e-2
    assert ties == "random" or abs(both(oracle, MaxWin(ties))[0] - drawn) > 2e-2


@pytest.mark.parametrize("n", [3, 8, 13])
def test_tie_rules_are_in_order(n: int) -> None:
    """A tie that loses is worse than one that is drawn, which is worse than one that is won."""
    for decoders in ([MaxWin(ties) for ties in TIES], [Poll("2log", ties) for ties in TIES]):
        drawn, lost, won = (both(Uniform(n, 0.75), decoder)[0] for decoder in decoders)
        assert lost < drawn < won
        assert exact(Uniform(n, 0.75), decoders[2]).success == drawn, "the first of the tied is any of them"


def test_known_values() -> None:
    """Three classes by hand: class 0 wins both games, or all three are tied."""
    p = 0.75
    cycle = 2 * p * (1 - p) * 0.5
    assert both(Uniform(3, p), MaxWin("lose")) == pytest.approx((p * p, 1 - p * p), rel=1e-15)
    assert both(Uniform(3, p), MaxWin("random"))[0] == pytest.approx(p * p + cycle / 3, rel=1e-15)
    assert both(Uniform(3, p), MaxWin("first"))[0] == pytest.approx(p * p + cycle, rel=1e-15)
    assert exact(Uniform(3, p), MaxWin("first")).success == pytest.approx(p * p + cycle / 3, rel=1e-15)
