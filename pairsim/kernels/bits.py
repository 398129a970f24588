"""Answers 64 trials at a time: one machine word holds one pair's answer in 64 trials, LANES words lie side by side.

Everything here is written as short loops over the LANES words with a straight-line body and unsigned indices (numba
adds a test for negative ones), because that is the form in which LLVM turns them into vector instructions.
A word has bit 1 where the *higher* class of the pair wins.
"""

from __future__ import annotations

import numpy as np

from pairsim.kernels.jit import bare_inner, inline_always
from pairsim.kernels.stream import ONE, TRIALS_PER_WORD, ZERO, digit_key, mix_spread, spread, word_key

LANES = 16
SLAB_TRIALS = LANES * TRIALS_PER_WORD
VECTOR_DIGITS = 10  # compared for all lanes; 1 word in 16 has a trial that needs more, and gets them alone
SLAB_DIGITS = 32  # of which keys are held ready

U_LANES = np.uint64(LANES)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
DIGITS_SCALE = 2.0**VECTOR_DIGITS
TOP_DIGITS = np.uint64(2**VECTOR_DIGITS - 1)
D1 = np.uint64(1 * LANES)
D2 = np.uint64(2 * LANES)
D3 = np.uint64(3 * LANES)
D4 = np.uint64(4 * LANES)
D5 = np.uint64(5 * LANES)
D6 = np.uint64(6 * LANES)
D7 = np.uint64(7 * LANES)
D8 = np.uint64(8 * LANES)
D9 = np.uint64(9 * LANES)


def aligned_words(size):
    """Return `size` zeros that start at a cache line: a vector that straddles two lines costs half the speed."""
    room = np.zeros(size + 8, np.uint64)
    skip = (8 - (room.ctypes.data // 8) % 8) % 8
    return room[skip : skip + size]


@bare_inner
def write_slab_keys(stream, first_word, words, digits):
    """Write the word keys of LANES consecutive words, and their first digit keys, spread, digit after digit."""
    for w in range(LANES):
        words[w] = word_key(stream, first_word + w)
        for d in range(SLAB_DIGITS):
            digits[d * LANES + w] = spread(digit_key(words[w], d))


@inline_always
def fair_words(pair, digits, out, at, lanes):
    """Write a fair pair's answers: its first digit decides."""
    known = spread(pair)
    for w in range(lanes):
        out[at + w] = mix_spread(known ^ digits[w])


@bare_inner
def _digit_mask(top, place_value):
    """Return all ones where binary digit `place_value` of `top` is 1, else all zeros."""
    return ZERO - ((top >> np.uint64(place_value)) & ONE)


@bare_inner
def split_digits(probability):
    """Return the first VECTOR_DIGITS binary digits of a probability as a number, and the rest, scaled to [0, 1].

    A probability of 1 is taken as 0.111...: its leading digits leave a rest of 1, which the last step knows.
    """
    scaled = probability * DIGITS_SCALE
    top = min(np.uint64(scaled), TOP_DIGITS)
    return top, scaled - np.float64(top)


@inline_always
def biased_words(top, rest, pair, words, digits, out, at, undecided, lanes):
    """Write a pair's answers when the lower class wins with exactly the probability that was split into (top, rest).

    Digit after digit, a lane is won where its digit is 0 and the probability's is 1, and stays open where they agree.
    `undecided` is scratch space.
    """
    known = spread(pair)
    m0 = _digit_mask(top, 9)
    m1 = _digit_mask(top, 8)
    m2 = _digit_mask(top, 7)
    m3 = _digit_mask(top, 6)
    m4 = _digit_mask(top, 5)
    m5 = _digit_mask(top, 4)
    m6 = _digit_mask(top, 3)
    m7 = _digit_mask(top, 2)
    m8 = _digit_mask(top, 1)
    m9 = _digit_mask(top, 0)
    for w in range(lanes):
        word = mix_spread(known ^ digits[w])
        won = m0 & ~word
        still = ~(word ^ m0)
        word = mix_spread(known ^ digits[D1 + w])
        won = won | (still & m1 & ~word)
        still = still & ~(word ^ m1)
        word = mix_spread(known ^ digits[D2 + w])
        won = won | (still & m2 & ~word)
        still = still & ~(word ^ m2)
        word = mix_spread(known ^ digits[D3 + w])
        won = won | (still & m3 & ~word)
        still = still & ~(word ^ m3)
        word = mix_spread(known ^ digits[D4 + w])
        won = won | (still & m4 & ~word)
        still = still & ~(word ^ m4)
        word = mix_spread(known ^ digits[D5 + w])
        won = won | (still & m5 & ~word)
        still = still & ~(word ^ m5)
        word = mix_spread(known ^ digits[D6 + w])
        won = won | (still & m6 & ~word)
        still = still & ~(word ^ m6)
        word = mix_spread(known ^ digits[D7 + w])
        won = won | (still & m7 & ~word)
        still = still & ~(word ^ m7)
        word = mix_spread(known ^ digits[D8 + w])
        won = won | (still & m8 & ~word)
        still = still & ~(word ^ m8)
        word = mix_spread(known ^ digits[D9 + w])
        won = won | (still & m9 & ~word)
        still = still & ~(word ^ m9)
        out[at + w] = ~won
        undecided[w] = still
    any_open = ZERO
    for w in range(U_LANES):
        any_open = any_open | undecided[w]
    if any_open != ZERO and rest > 0.0:
        finish_words(rest, known, words, digits, out, at, undecided)


@bare_inner
def finish_words(rest_of_all, known, words, digits, out, at, undecided):
    """Compare further digits in the few words that have an undecided trial; `known` is the pair, spread."""
    for w in range(U_LANES):
        still = undecided[w]
        if still == ZERO:
            continue
        won = ZERO
        rest = rest_of_all
        digit = VECTOR_DIGITS
        while still != ZERO and rest > 0.0:
            rest = rest * 2.0
            mask = ZERO
            if rest >= 1.0:
                rest = rest - 1.0
                mask = ALL
            key = digits[np.uint64(digit) * U_LANES + w] if digit < SLAB_DIGITS else spread(digit_key(words[w], digit))
            word = mix_spread(known ^ key)
            won = won | (still & mask & ~word)
            still = still & ~(word ^ mask)
            digit += 1
        out[at + w] &= ~won
