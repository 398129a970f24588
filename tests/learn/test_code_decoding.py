"""Decodings of output codes: the notes' worked example, plain loops, ties, and losses that no number can hold."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest

pytest.importorskip("sklearn")

from hypothesis import given, settings
from hypothesis import strategies as st

from pairsim import ParameterError
from pairsim.learn.codes.code_tables import CODES, make_code
from pairsim.learn.codes.decoding import DECODINGS, code_distances, code_probabilities, decode_scores

# the worked example of the notes: margins, code, and the distances of the four classes
SAID = [[0.5, -7, -1, -2, -10, -12, 9]]
WORDS = [[-1, 0, -1, -1, 1, -1, -1], [1, -1, 0, 1, 1, 1, -1], [1, 0, -1, -1, -1, 1, 1], [-1, -1, 1, 0, -1, -1, 1]]
PRINTED = {
    "hamming": ([3.5, 4.5, 1.5, 2.5], 3, 0.0),
    "exponential": ([30132.70, 192893.34, 162756.90, 5.368], 4, 0.005),  # half a unit of the last digit
    "hinge": ([23.5, 38.5, 14.5, 4.5], 4, 0.0),
    "logistic": ([21.11, 34.30, 13.61, 2.98], 4, 0.005),
}


@pytest.mark.parametrize("decoding", PRINTED)
def test_the_worked_example(decoding):
    distances, named, half = PRINTED[decoding]
    assert np.abs(code_distances(SAID, WORDS, decoding)[0] - distances).max() <= half
    assert decode_scores(SAID, WORDS, decoding).argmax() + 1 == named


def naive_distance(row, word, decoding):
    """Return how far a word is, place by place, as the papers define it."""
    products = [a * b for a, b in zip(row, word, strict=True)]
    if decoding == "hamming":
        return sum((1 - np.sign(z)) / 2 for z in products)
    if decoding == "euclid":
        return np.sqrt(sum((a - b) ** 2 for a, b in zip(row, word, strict=True)))
    losses = {
        "hinge": lambda z: max(0.0, 1 - z),
        "exponential": lambda z: np.exp(-z),
        "logistic": lambda z: np.log(1 + np.exp(-z)),
    }
    return sum(losses[decoding](z) for z in products)


def naive_winner(row, code, decoding):
    """Return the nearest word; of equals the one with the highest sum of margins, then the first."""
    distances = [naive_distance(row, word, decoding) for word in code]
    near = [c for c, each in enumerate(distances) if each <= min(distances) * (1 + 1e-12) + 1e-12]
    sums = [sum(a * b for a, b in zip(row, word, strict=True)) for word in code]
    return max(near, key=lambda c: (round(sums[c], 9), -c))


@st.composite
def margins_and_code(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    code = make_code(
        draw(st.sampled_from([name for name in CODES if name != "exhaustive"])), draw(st.integers(2, 7)), 0
    )
    margins = rng.normal(scale=draw(st.sampled_from([0.3, 2.0, 20.0])), size=(12, code.shape[1]))
    if draw(st.booleans()):
        margins = np.round(margins)  # many ties, and margins of 0
    return margins, code


@settings(max_examples=40, deadline=None)
@given(margins_and_code(), st.sampled_from(["hamming", "euclid", "hinge", "exponential", "logistic"]))
def test_decodings_are_the_plain_loops(given_, decoding):
    margins, code = given_
    distances = [[naive_distance(row, word, decoding) for word in code] for row in margins]
    assert code_distances(margins, code, decoding) == pytest.approx(np.array(distances), rel=1e-9, abs=1e-9)
    scores = decode_scores(margins, code, decoding)
    assert scores.argmax(axis=1).tolist() == [naive_winner(row, code, decoding) for row in margins]
    alone = np.vstack([decode_scores(row[None], code, decoding) for row in margins])
    assert scores == pytest.approx(alone, rel=1e-12, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(margins_and_code())
def test_inverse_hamming_writes_distances_as_sums_of_the_words_own(given_):
    margins, code = given_
    between = np.array([[naive_distance(np.sign(one), two, "hamming") for two in code] for one in code])
    weights = -code_distances(margins, code, "inverse-hamming")
    if np.linalg.matrix_rank(between) == len(code):
        wanted = np.array([[naive_distance(row, word, "hamming") for word in code] for row in margins])
        assert weights @ between == pytest.approx(wanted, abs=1e-9)
        assert -code_distances(code, code, "inverse-hamming") == pytest.approx(np.eye(len(code)), abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 12), st.sampled_from(["one-vs-all", "dense", "bch"]), st.sampled_from(sorted(DECODINGS)))
def test_a_word_is_nearest_to_itself(n, name, decoding):
    code = make_code(name, n)
    if decoding != "inverse-hamming" or np.linalg.matrix_rank(code.shape[1] - code @ code.T) == n:
        assert decode_scores(3.0 * code, code, decoding).argmax(axis=1).tolist() == list(range(n))


def test_ties_are_settled_by_summed_margins_then_by_order():
    code = np.array([[1, 1, 1], [-1, -1, 1], [1, -1, -1]])
    one_wrong_each = np.array([[0.1, -5.0, 3.0], [2.0, -2.0, 2.0], [100.0, 100.0, -0.1]])
    assert decode_scores(one_wrong_each, code, "hamming").argmax(axis=1).tolist() == [1, 0, 0]
    pairs, circle = make_code("all-pairs", 3), np.array([[0.3, -0.3, 0.3], [0.3, -(0.1 + 0.2), 0.3]])
    for decoding in DECODINGS:  # a difference that is only rounding is none
        assert decode_scores(circle, pairs, decoding).argmax(axis=1).tolist() == [0, 0], decoding
    assert decode_scores([[0.3, -0.4, 0.3]], pairs, "hamming").argmax() == 2


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([20.0, 400.0, 1e3, 1e4]))
def test_exponential_losses_beyond_what_a_number_can_hold(seed, size):
    rng = np.random.default_rng(seed)
    margins, code = rng.normal(scale=size, size=(4, 9)), make_code("sparse", 5, 0)[:, :9]
    with localcontext() as context:
        context.prec = 60
        losses = [
            [sum(Decimal(-float(a) * int(b)).exp() for a, b in zip(row, word, strict=True)) for word in code]
            for row in margins
        ]
        named = [min(range(5), key=lambda c: each[c]) for each in losses]
        logs = [[float(each.ln()) for each in row] for row in losses]
    assert -decode_scores(margins, code, "exponential") == pytest.approx(np.array(logs), rel=1e-10)
    for row, found, near in zip(logs, decode_scores(margins, code, "exponential").argmax(axis=1), named, strict=True):
        assert found == near or row[found] == pytest.approx(row[near], rel=1e-11)
    assert np.isfinite(code_distances(margins, code, "exponential")).all()
    assert np.isfinite(decode_scores([[np.inf, -np.inf, 1.0]], code[:, :3], "exponential")).all()


@settings(max_examples=40, deadline=None)
@given(margins_and_code())
def test_probabilities_are_normalised_products(given_):
    margins, code = given_
    products = np.ones((len(margins), len(code)))
    for r, row in enumerate(margins):
        for c, word in enumerate(code):
            for margin, entry in zip(row, word, strict=True):
                if entry:
                    products[r, c] *= 2.0 / (1.0 + np.exp(-entry * margin))  # against an even probability
    probabilities = code_probabilities(margins, code)
    assert probabilities == pytest.approx(products / products.sum(axis=1, keepdims=True), abs=1e-12)
    assert -np.log(probabilities) == pytest.approx(code_distances(margins, code, "probability"), rel=1e-6, abs=1e-9)
    silent = np.hstack([margins, np.zeros((len(margins), 1))])
    more = np.hstack([code, np.r_[1, -1, np.zeros(len(code) - 2)][:, None]])
    assert code_probabilities(silent, more) == pytest.approx(probabilities, abs=1e-12)


def test_decodings_that_cannot_be():
    with pytest.raises(ParameterError, match="The 'decoding' parameter of decode_scores must be one of 'hamming', "):
        decode_scores(SAID, WORDS, "manhattan")
