"""Classes that have a strength of their own in each trial: normal numbers, and tiles of answers that depend on them.

A strength is a pure function of (seed, n, trial, class), as an answer is of its pair: its key is that of a digit that
no answer ever looks at. The probability of a pair then differs from trial to trial, so a word of 64 answers is made
lane by lane: the first digits of the uniform number behind an answer say between which two quantiles of the noise it
lies, and a gap between the strengths outside of them decides without any probability being computed.
"""

from __future__ import annotations

import numpy as np

from pairsim.kernels.bits import LANES, U_LANES
from pairsim.kernels.jit import bare_inner
from pairsim.kernels.normal import normal_probability, normal_quantile
from pairsim.kernels.stream import ONE, TRIALS_PER_WORD, ZERO, digit_key, is_below, mix, mix_spread, place, spread

FIRST_KEY = np.uint64(1 << 32)  # digits of answers are numbered from 0, and a double has 1074 of them at most
WORD = np.uint64(TRIALS_PER_WORD)
SHIFT_12 = np.uint64(12)
UNIT_52 = 2.0**-52

BIN_DIGITS = 8
BINS = 1 << BIN_DIGITS
SLACK = 1e-9  # far above what rounding can do to a gap or a probability: nearer than this, all digits are looked at
_QUANTILES = [-np.inf, *(normal_quantile(k / BINS) for k in range(1, BINS)), np.inf]
LOST_AT = np.array(_QUANTILES[:-1]) - SLACK  # at this gap or below it, bin k is lost
WON_AT = np.array(_QUANTILES[1:]) + SLACK  # at this gap or above it, bin k is won

S1, S2, S3, S4, S5, S6, S7 = (np.uint64(k) for k in range(1, BIN_DIGITS))
D1, D2, D3, D4, D5, D6, D7 = (np.uint64(k * LANES) for k in range(1, BIN_DIGITS))


@bare_inner
def strength_key(word, lane):
    """Return the key of all strengths in one trial; `word` is the `word_key` of its 64 trials."""
    return digit_key(word, FIRST_KEY + np.uint64(lane))


@bare_inner
def strength(key, c):
    """Return class c's strength, a standard normal number."""
    return normal_quantile((np.float64(mix(place(c, 0) ^ key) >> SHIFT_12) + 0.5) * UNIT_52)


@bare_inner
def write_strengths(words, first, count, strengths, at):
    """Write the strengths of classes first .. first + count - 1 in a slab of trials, class after class."""
    for w in range(LANES):
        for lane in range(TRIALS_PER_WORD):
            key = strength_key(words[w], lane)
            for c in range(count):
                strengths[at + (c * LANES + w) * TRIALS_PER_WORD + lane] = strength(key, first + c)


@bare_inner
def gap_between(side, own, other):
    """Return the lower class's margin before noise, in units of the noise; `side` is (level, own, other, scale)."""
    return (side[0] + side[1] * own - side[2] * other) * side[3]


@bare_inner
def _write_bins(pair, digits, w, bins, lanes):
    """Write the first digits of the uniform number behind the pair's answer in each trial of word w, as a number."""
    known = spread(pair)
    w0, w1 = mix_spread(known ^ digits[w]), mix_spread(known ^ digits[D1 + w])
    w2, w3 = mix_spread(known ^ digits[D2 + w]), mix_spread(known ^ digits[D3 + w])
    w4, w5 = mix_spread(known ^ digits[D4 + w]), mix_spread(known ^ digits[D5 + w])
    w6, w7 = mix_spread(known ^ digits[D6 + w]), mix_spread(known ^ digits[D7 + w])
    for t in range(lanes):
        high = ((w0 >> t) & ONE) << S7 | ((w1 >> t) & ONE) << S6 | ((w2 >> t) & ONE) << S5 | ((w3 >> t) & ONE) << S4
        low = ((w4 >> t) & ONE) << S3 | ((w5 >> t) & ONE) << S2 | ((w6 >> t) & ONE) << S1 | ((w7 >> t) & ONE)
        bins[t] = high | low


@bare_inner
def varying_words(side, pair, own, other, at, words, digits, strengths, bins, marks, tile, lanes):
    """Write a pair's answers in a slab; `own` and `other` are where the strengths of its classes begin.

    Three short loops per word, each of which becomes vector code; together they would not.
    """
    for w in range(U_LANES):
        _write_bins(pair, digits, w, bins, lanes)
        mine, theirs = own + w * WORD, other + w * WORD
        for t in range(lanes):
            gap = gap_between(side, strengths[mine + t], strengths[theirs + t])
            k = bins[t]
            marks[t] = gap >= WON_AT[k]
            marks[WORD + t] = gap > LOST_AT[k]
        won, not_lost = ZERO, ZERO
        for t in range(lanes):
            won |= marks[t] << t
            not_lost |= marks[WORD + t] << t
        undecided = not_lost & ~won
        while undecided != ZERO:  # one answer in 256
            last = undecided & (undecided - ONE)
            lane = ZERO
            while (undecided ^ last) >> lane != ONE:
                lane += ONE
            probability = normal_probability(gap_between(side, strengths[mine + lane], strengths[theirs + lane]))
            if is_below(probability, pair, lane, words[w], digits, 0):  # no digit key is at hand
                won |= ONE << lane
            undecided = last
        tile[at + w] = ~won
