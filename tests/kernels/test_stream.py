"""The random stream is its definition to the last bit, and probabilities are exact to the last digit of the double."""

from __future__ import annotations

import functools
import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING

import naive
import numba
import numpy as np
import pytest
from decisions import decide
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import AWKWARD_PROBABILITIES, SEEDS

from pairsim import Adag, Ddag, Decoder, Matrix, MaxWin, Poll, Recorded, TopK, Uniform
from pairsim.kernels import stream

if TYPE_CHECKING:
    from collections.abc import Callable

WORDS = st.integers(0, 2**64 - 1)
CLASSES = st.integers(0, 2**31 - 2)
TRIALS = st.one_of(st.integers(0, 200), st.integers(0, 2**40))
compiled = functools.cache(numba.njit)  # to Python, what only kernels call is the plain function
fixed = settings(derandomize=True, deadline=None, max_examples=200)


# --- the definition --------------------------------------------------------------------------------------------------


@fixed
@given(WORDS, WORDS, st.integers(0, 2**63 - 1), st.integers(2, 2**31 - 1))
def test_keys_equal_their_twin(key: int, seed: int, value: int, n: int) -> None:
    assert int(compiled(stream.mix)(np.uint64(key))) == naive.mix(key)
    assert int(compiled(stream.fold)(np.uint64(key), np.uint64(value))) == naive.fold(key, value)
    assert int(stream.stream_key(seed, n)) == naive.stream(seed, n)


@fixed
@given(SEEDS, CLASSES, st.integers(0, 2**31), st.integers(1, 2**31), TRIALS)
def test_draws_equal_their_twin(seed: int, a: int, b: int, bound: int, trial: int) -> None:
    key = np.uint64(compiled(stream.draw_key)(stream.stream_key(seed, 5), trial))
    expected = naive.draw_below(naive.stream(seed, 5), trial, a, b, bound)
    assert int(compiled(stream.draw_below)(key, a, b, bound)) == expected
    assert 0 <= expected < bound


@fixed
@given(SEEDS, CLASSES, CLASSES, TRIALS, st.one_of(st.floats(0, 1), st.sampled_from(AWKWARD_PROBABILITIES)))
def test_answers_equal_their_twin(seed: int, i: int, j: int, trial: int, probability: float) -> None:
    """Class numbers up to the largest allowed, without a table of that size."""
    low, high = (i, j) if i < j else (j, i + 1)
    digits = digits_of(naive.stream(seed, 2**31 - 1), trial, low, high)
    here = stream.new_trial()
    compiled(stream.move_trial)(here, stream.stream_key(seed, 2**31 - 1), trial)
    assert bool(compiled(stream.low_wins_with)(probability, here, low, high)) == naive.is_below(
        Fraction(probability), digits
    )


def digits_of(root: int, trial: int, low: int, high: int) -> Callable[[int], int]:
    return lambda digit: naive.answer_digit(root, trial, low, high, digit)


def test_mix_is_the_published_splitmix64() -> None:
    """The first outputs of SplitMix64 from seed 0, as its reference implementation gives them."""
    published = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F, 0xF88BB8A8724C81EC, 0x1B39896A51A8749B]
    states = [k * naive.GOLDEN % 2**64 for k in range(1, 6)]
    assert [naive.mix(state) for state in states] == published
    assert [int(compiled(stream.mix)(np.uint64(state))) for state in states] == published


# --- golden values: a change here changes every published result, and needs a new stream version ---------------------

GOLDEN_WINNERS: list[tuple[Decoder, list[int]]] = [
    (MaxWin(), [0, 8, 0, 0, 4, 1, 7, 0, 0, 3, 1, 8, 2, 3, 0, 0]),
    (Poll(2), [1, 5, 0, 2, 5, 3, 2, 4, 0, 2, 1, 0, 2, 3, 0, 6]),
    (TopK(3, 1, "maxwin"), [0, 5, 7, 2, 5, 8, 6, 7, 0, 3, 1, 0, 2, 3, 0, 0]),
    (Adag(), [1, 0, 0, 0, 0, 1, 3, 7, 3, 1, 3, 0, 1, 3, 6, 0]),
    (Ddag(), [1, 8, 4, 0, 5, 1, 0, 7, 3, 5, 7, 5, 4, 8, 5, 8]),
]


@pytest.mark.parametrize(("decoder", "winners"), GOLDEN_WINNERS, ids=repr)
def test_golden_winners(decoder: Decoder, winners: list[int]) -> None:
    assert decide(Uniform(9, 0.7), decoder, 16, seed=12345)[0] == winners


def test_golden_keys_answers_and_draws() -> None:
    assert stream.STREAM_VERSION == naive.STREAM_VERSION == 1
    assert int(stream.stream_key(0, 2)) == 0xAED727BD6CED2CAC
    root = stream.stream_key(12345, 16)
    assert int(root) == 0xABB5A202DB2853C4
    keys = [np.uint64(compiled(stream.draw_key)(root, trial)) for trial in range(6)]
    draws = [int(compiled(stream.draw_below)(key, 3, 1, 1000)) for key in keys]
    assert draws == [202, 714, 314, 752, 347, 760]
    answers = Recorded.of(Uniform(5, 0.7), 65, seed=12345).answers()
    rows = ["".join("01"[bit] for bit in answers[trial].tolist()) for trial in (0, 1, 63, 64)]
    assert rows == ["0110100001", "1111000011", "0111000111", "0000001000"]


# --- probabilities are exact
# -----------------------------------------------------------------------------------------------

SEED = 99
ROOT_2 = naive.stream(SEED, 2)  # of two classes


def leading_digits(n: int, trial: int, low: int, high: int, count: int) -> Fraction:
    """Return the uniform number behind an answer, cut after `count` binary digits."""
    digit = digits_of(naive.stream(SEED, n), trial, low, high)
    return sum((Fraction(digit(d), 2 ** (d + 1)) for d in range(count)), Fraction(0))


def as_double(value: Fraction) -> float:
    assert Fraction(float(value)) == value, "the case needs a probability that is a double"
    return float(value)


def answer(n: int, trial: int, low: int, high: int, probability: float) -> bool:
    """Return the answer of a live oracle that gives this pair this probability."""
    table = np.full((n, n), 0.5)
    table[low, high], table[high, low] = probability, 1 - probability
    pairs = list(itertools.combinations(range(n), 2))
    return bool(Recorded.of(Matrix(table), trial + 1, SEED).answers()[trial, pairs.index((low, high))])


@pytest.mark.parametrize("digits", [1, 2, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 52, 53])
@pytest.mark.parametrize("trial", [0, 63, 64, 101])
def test_the_answer_turns_exactly_at_the_uniform_number(digits: int, trial: int) -> None:
    """The number cut after some digits is not above it; one unit more in the last digit is."""
    for low, high in [(0, 1), (0, 2), (1, 2)]:
        cut = leading_digits(3, trial, low, high, digits)
        assert not answer(3, trial, low, high, as_double(cut))
        assert answer(3, trial, low, high, as_double(cut + Fraction(1, 2**digits)))
        if low == 0:
            below, above = float(cut), float(cut + Fraction(1, 2**digits))
            column = high - 1
            assert not Recorded.of(Uniform(3, below), trial + 1, SEED).answers()[trial, column]
            assert Recorded.of(Uniform(3, above), trial + 1, SEED).answers()[trial, column]


@pytest.mark.parametrize("width", [8, 16, 32])
def test_a_short_threshold_would_give_another_answer(width: int) -> None:
    """Two probabilities that a threshold of `width` bits cannot tell apart, and between them the uniform number.

    Whatever such a threshold answers, it is wrong for one of the two; rounding up or to nearest makes no difference,
    because the two probabilities are neighbouring doubles with the same leading digits and the same rounding.
    """
    found = 0
    for trial in range(40):
        cut = leading_digits(2, trial, 0, 1, 53)
        low, high = as_double(cut), as_double(cut + Fraction(1, 2**53))
        roundings: list[Callable[[float], int]] = [math.floor, math.ceil, round]
        if all(rounding(low * 2**width) == rounding(high * 2**width) for rounding in roundings):
            assert (answer(2, trial, 0, 1, low), answer(2, trial, 0, 1, high)) == (False, True)
            found += 1
    assert found > 30


def test_small_probabilities_keep_all_their_digits() -> None:
    """Below 2**-12 a double holds digits beyond the 64th; they count too."""
    small = np.flatnonzero(Recorded.of(Uniform(2, 2.0**-12), 20_000, SEED).answers()[:, 0]).tolist()
    assert small == [t for t in range(20_000) if not any(naive.answer_digit(ROOT_2, t, 0, 1, d) for d in range(12))]
    assert small, "the seed must give at least one such trial"
    for trial in small:
        cut = leading_digits(2, trial, 0, 1, 65)
        assert 0 < cut < Fraction(1, 2**12)
        assert not answer(2, trial, 0, 1, as_double(cut))
        assert answer(2, trial, 0, 1, as_double(cut + Fraction(1, 2**65)))


@pytest.mark.parametrize(
    ("p", "wins"),
    [(0.0, 0), (5e-324, 0), (2.0**-40, 0), (1 - 2.0**-40, 5000), (1 - 2.0**-53, 5000), (1.0, 5000)],
)
def test_extreme_probabilities(p: float, wins: int) -> None:
    """False-alarm rate 5000 * 2**-40 for each of the two 2**-40 cases; the others are certain for this seed."""
    assert Recorded.of(Uniform(2, p), 5000, SEED).answers().sum() == wins


def test_neighbours_of_a_coin_differ_where_they_must() -> None:
    """The double before 1/2 gives the coin's answers but where 53 digits agree with it: nowhere in 5,000 trials."""
    below, coin, above = (
        Recorded.of(Uniform(2, p), 5000, SEED).answers() for p in (math.nextafter(0.5, 0), 0.5, math.nextafter(0.5, 1))
    )
    assert np.array_equal(below, coin)
    assert np.array_equal(above, coin)
    first_digits = [naive.answer_digit(ROOT_2, trial, 0, 1, 0) for trial in range(200)]
    assert coin[:200, 0].tolist() == [digit == 0 for digit in first_digits]
