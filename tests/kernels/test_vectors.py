"""Eight numbers in one value: compiled operations against NumPy's, which is also what they are without the compiler."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairsim.kernels import vectors
from pairsim.kernels.vectors import (
    WIDTH,
    add_up,
    as_reals,
    as_words,
    lanes_above,
    larger,
    load,
    majority,
    majority_two_not,
    parity,
    repeat,
    smaller,
    store,
)

words = st.lists(st.integers(0, 2**64 - 1), min_size=WIDTH, max_size=WIDTH).map(lambda x: np.array(x, np.uint64))
finite = st.floats(-1e6, 1e6)
reals = st.lists(finite, min_size=WIDTH, max_size=WIDTH).map(np.array)
AT = np.uint64(0)


def _words(a, b, c, out):
    x, y, z = load(a, AT), load(b, AT), load(c, AT)
    store(out, np.uint64(0), parity(x, y, z))
    store(out, np.uint64(8), majority(x, y, z))
    store(out, np.uint64(16), majority_two_not(x, y, z))
    store(out, np.uint64(24), ((x >> np.uint64(3)) ^ (y << np.uint64(5))) * np.uint64(2654435761) + z)
    store(out, np.uint64(32), (x & y) | (z & np.uint64(255)))
    store(out, np.uint64(40), repeat(np.uint64(7)) ^ x)


def _reals(a, b, out):
    x, y = load(a, AT), load(b, AT)
    store(out, np.uint64(0), larger(x, y) - smaller(x, y))
    store(out, np.uint64(8), (1.0 - x * 0.3) / (y * y + 2.0))
    store(out, np.uint64(16), as_reals(as_words(x)))
    store(out, np.uint64(24), repeat(0.1) * x + y)
    return add_up(0.5, x), lanes_above(x, 0.25)


compiled_words, compiled_reals = numba.njit(_words), numba.njit(_reals)


@settings(max_examples=60, deadline=None)
@given(words, words, words)
def test_words_are_those_of_numpy(a, b, c):
    found, expected = np.zeros(48, np.uint64), np.zeros(48, np.uint64)
    compiled_words(a, b, c, found)
    _words(a, b, c, expected)
    assert found.tolist() == expected.tolist()


@settings(max_examples=60, deadline=None)
@given(reals, reals)
def test_reals_are_those_of_numpy_to_the_last_digit(a, b):
    found, expected = np.zeros(32), np.zeros(32)
    assert compiled_reals(a, b, found) == _reals(a, b, expected)
    assert found.tolist() == expected.tolist()


@settings(max_examples=40, deadline=None)
@given(words, words, words)
def test_three_words_add_up(a, b, c):
    out = np.zeros(48, np.uint64)
    compiled_words(a, b, c, out)
    for k in range(WIDTH):
        for bit in range(64):
            given_bits = [int(x[k]) >> bit & 1 for x in (a, b, c)]
            assert sum(given_bits) == (int(out[k]) >> bit & 1) + 2 * (int(out[8 + k]) >> bit & 1)
            turned = (1 - given_bits[0]) + (1 - given_bits[1]) + given_bits[2]
            assert turned == (int(out[k]) >> bit & 1) + 2 * (int(out[16 + k]) >> bit & 1)


def test_nan_is_above_every_limit():
    values = np.full(WIDTH, 0.0)
    values[[1, 6]] = np.nan, 1.0
    assert lanes_above(values, 0.25) == 0b1000010
    assert compiled_reals(values, values, np.zeros(32))[1] == 0b1000010


def test_a_machine_without_the_ternary_instruction_finds_the_same(monkeypatch):
    monkeypatch.setattr(vectors, "HAS_TERNARY", "+no such feature")
    a, b, c = np.random.default_rng(0).integers(0, 2**63, (3, WIDTH)).astype(np.uint64)
    found, expected = np.zeros(48, np.uint64), np.zeros(48, np.uint64)
    plain = numba.njit(_words)
    plain(a, b, c, found)
    assert vectors.TERNARY not in next(iter(plain.inspect_llvm().values()))
    _words(a, b, c, expected)
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize(
    "program", [lambda a: load(a, AT) % np.uint64(3), lambda a: load(a, AT) - repeat(np.uint64(1))]
)
def test_operations_that_are_not_there_are_refused_by_the_compiler(program):
    with pytest.raises(numba.TypingError):
        numba.njit(program)(np.zeros(8, np.uint64))
