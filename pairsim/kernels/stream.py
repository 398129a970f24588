"""The random stream: every random bit is a pure function of (seed, n, purpose, trial, place).

SplitMix64's finaliser (G. Steele, D. Lea and C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014)
is used as a counter-based generator, so any bit can be computed alone, in any order, by any decoder.
One 64-bit word holds the same digit for 64 consecutive trials of one pair: bit `t % 64` of the word belongs to trial
`t`. A scalar decoder reads one lane of the word, a bit-parallel one uses all 64.

Digit d of the uniform number behind pair (i, j), i < j, in trials 64w .. 64w + 63 is the word

    mix((i << 32 | j) * GOLDEN ^ digit_key(stream, w, d)).

`STREAM_VERSION` is part of every key: raise it whenever any value here changes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pairsim.kernels.jit import bare_inner, inner

STREAM_VERSION = 1
TRIALS_PER_WORD = 64
KEPT_DIGITS = 64  # digit keys held ready for a word; a deeper digit is needed with probability 2**-64 a pair

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MULTIPLIER_1 = np.uint64(0xBF58476D1CE4E5B9)
MULTIPLIER_2 = np.uint64(0x94D049BB133111EB)
VERSION_KEY = np.uint64(STREAM_VERSION)
ANSWERS = np.uint64(1)
DRAWS = np.uint64(2)
ZERO = np.uint64(0)
ONE = np.uint64(1)
SHIFT_30 = np.uint64(30)
SHIFT_27 = np.uint64(27)
SHIFT_31 = np.uint64(31)
SHIFT_32 = np.uint64(32)
SHIFT_11 = np.uint64(11)
UNIT = 2.0**-53


@bare_inner
def spread(z):
    """Do the first step of `mix`: it is linear, so that of a ^ b is that of a ^ that of b, which may be known."""
    return z ^ (z >> SHIFT_30)


@bare_inner
def mix_spread(z):
    """Do the other steps of `mix`."""
    z = z * MULTIPLIER_1
    z = (z ^ (z >> SHIFT_27)) * MULTIPLIER_2
    return z ^ (z >> SHIFT_31)


@bare_inner
def mix(z):
    """Scramble 64 bits (a bijection: SplitMix64's finaliser, Stafford's variant 13)."""
    return mix_spread(spread(z))


@bare_inner
def fold(key, value):
    """Derive a new key from `key` and a small number; chains of folds give unrelated keys."""
    return mix(key ^ mix(value * GOLDEN + GOLDEN))


@bare_inner
def place(i, j):
    """Give two small coordinates (a pair; a class and a draw) as one Weyl position."""
    return ((np.uint64(i) << SHIFT_32) | np.uint64(j)) * GOLDEN


def _stream_key(seed, n):
    return fold(fold(fold(ZERO, VERSION_KEY), seed), n)


def stream_key(seed: int, n: int) -> np.uint64:
    """Return the root key of all tournaments with n classes under `seed`.

    Numba hands a uint64 back as a Python int, which it would take for an int64 the next time: hence the cast.
    """
    with np.errstate(over="ignore"):
        return np.uint64(_stream_key(np.uint64(seed), np.uint64(n)))


@bare_inner
def word_key(stream, word):
    """Return the key of 64 consecutive trials' answers."""
    return fold(fold(stream, ANSWERS), np.uint64(word))


@bare_inner
def digit_key(word, digit):
    """Return the key of one binary digit of the uniforms behind a word's answers (`word` is a `word_key`)."""
    return fold(word, np.uint64(digit))


@bare_inner
def draw_key(stream, trial):
    """Return the key of a decoder's own draws (orders, opponents, tie-breaks) in one trial."""
    return fold(fold(stream, DRAWS), np.uint64(trial))


@bare_inner
def draw_below(key, i, j, bound):
    """Return draw (i, j) of `key`, uniform on 0 .. bound - 1 (bias under bound * 2**-53)."""
    return np.int64(np.float64(mix(place(i, j) ^ key) >> SHIFT_11) * UNIT * np.float64(bound))


class Trial(NamedTuple):
    """Where in the stream one trial's answers lie: mutable, so one is made a thread and moved along."""

    word: np.ndarray  # uint64[1], key of the trial's word
    digits: np.ndarray  # uint64[KEPT_DIGITS], its digit keys
    position: np.ndarray  # int64[2], trial number and lane


@inner
def new_trial():
    """Return a Trial that points nowhere yet."""
    position = np.empty(2, np.int64)
    position[0] = -1
    return Trial(np.zeros(1, np.uint64), np.zeros(KEPT_DIGITS, np.uint64), position)


@bare_inner
def move_trial(trial, stream, number):
    """Point `trial` at trial `number`; digit keys are recomputed only when the word changes."""
    word = number // TRIALS_PER_WORD
    if trial.position[0] < 0 or trial.position[0] // TRIALS_PER_WORD != word:
        trial.word[0] = word_key(stream, word)
        for digit in range(KEPT_DIGITS):
            trial.digits[digit] = digit_key(trial.word[0], digit)
    trial.position[0] = number
    trial.position[1] = number % TRIALS_PER_WORD


@bare_inner
def low_wins_with(probability, trial, i, j):
    """Answer pair i < j: does i win, which it does with exactly `probability` (every digit of the double counts).

    The binary digits of the uniform number are compared with those of the probability, most significant first,
    until they differ: two words on average, one for a fair coin.
    """
    pair = place(i, j)
    lane = np.uint64(trial.position[1])
    if probability == 0.5:  # most pairs of most tournaments: decided by the first digit, with no branch on it
        return (mix(pair ^ trial.digits[0]) >> lane) & ONE == ZERO
    return is_below(probability, pair, lane, trial.word[0], trial.digits, KEPT_DIGITS)


@bare_inner
def is_below(probability, pair, lane, word, digits, kept):
    """Say whether the uniform number behind a pair's answer is below `probability`, in one lane of a word.

    `word` is the word's key; its first `kept` digit keys are in `digits`, the others are computed.
    """
    if probability >= 1.0:
        return True
    rest = probability
    digit = 0
    while rest > 0.0:
        key = digits[digit] if digit < kept else digit_key(word, digit)
        bit = (mix(pair ^ key) >> lane) & ONE
        rest = rest * 2.0
        wanted = rest >= 1.0
        if wanted:
            rest = rest - 1.0
        if wanted != (bit == ONE):
            return wanted
        digit += 1
    return False
