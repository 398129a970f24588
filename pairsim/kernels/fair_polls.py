"""Polls whose ties are settled by a fair draw, given the scores of a tournament.

A fair draw is a comparison of real numbers: add to each sampled score a uniform number of its own. Class c is named
with chance sum over v of the integral over x in [0, 1] of P(c = v) prod over the others of P(below v) + x P(equal v), a
polynomial in x, integrated by a Gauss-Legendre rule. Sampled scores are taken eight at a time, from the highest down:
the products at all nodes are sums of logarithms from a table. Rules have an odd number of nodes, and x = 1 is one more:
they are taken two at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pairsim.kernels.jit import bare_inner, inner, jit
from pairsim.kernels.stream import ONE, TRIALS_PER_WORD, ZERO
from pairsim.kernels.vectors import (
    U_WIDTH,
    WIDTH,
    add_up,
    as_reals,
    as_words,
    lanes_above,
    larger,
    load,
    repeat,
    smaller,
    store,
)

TOLERANCE = 1e-13  # of the failure probability: what may be left out, term by term
VALUES = WIDTH  # sampled scores in a chunk
TWO, THREE = np.uint64(2), np.uint64(3)
TOGETHER = 4  # rivals added at a time: a list of them is filled up to a multiple of this
U_TOGETHER = np.uint64(TOGETHER)
USUAL_SCORES = np.uint64(96)  # room for so many distinct scores a trial is enough for hundreds of classes
U_WORD = np.uint64(TRIALS_PER_WORD)

LEAST_LOG = -700.0  # exp of it is next to nothing, and a normal number
LOG2_E = 1.4426950408889634
LN2_HIGH = float.fromhex("0x1.62e42fee00000p-1")  # times a small whole number: no rounding
LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
ROUND = 1.5 * 2.0**52  # added to a small number it leaves the nearest whole number in the low bits
EXPONENT_BIAS = np.uint64(1023)
EXPONENT_PLACE = np.uint64(52)


class Crowd(NamedTuple):
    """The rivals of each trial: distinct scores and how many classes have them, one trial after the other."""

    starts: np.ndarray  # int64[trials + 1]
    scores: np.ndarray  # uint16[...]
    counts: np.ndarray  # float64[...]


@inner
def _more_room(numbers, size):
    """Return a longer array that begins with `numbers`."""
    longer = np.empty(size, numbers.dtype)
    for k in range(numbers.size):  # an assignment of slices would compile the words of its error too
        longer[k] = numbers[k]
    return longer


@jit
def list_rivals(scores, truth):
    """Return the `Crowd` of the trials (columns of `scores`): all classes but the true one.

    Some trials are counted side by side, class after class: then no count waits for the one before it.
    """
    n, columns, trials = np.uint64(scores.shape[0]), np.uint64(scores.shape[1]), np.uint64(truth.size)
    flat = scores.reshape(-1)
    having = np.zeros(U_WORD * n, np.uint16)
    starts = np.zeros(trials + ONE, np.int64)
    room = trials * min(n + U_TOGETHER, USUAL_SCORES)
    found, counts = np.empty(room, np.uint16), np.empty(room, np.float64)
    size = np.uint64(0)
    for first in range(ZERO, trials, U_WORD):
        some = min(U_WORD, trials - first)
        low, high = flat[first], flat[first]
        for c in range(n):
            here = c * columns + first
            for k in range(some):
                score = flat[here + k]
                low, high = min(low, score), max(high, score)
                having[k * n + np.uint64(score)] += np.uint16(1)
        needed = size + some * (np.uint64(high - low) + ONE + U_TOGETHER)
        if needed > np.uint64(found.size):
            found, counts = _more_room(found, 2 * needed), _more_room(counts, 2 * needed)
        for k in range(some):
            having[k * n + np.uint64(scores[truth[first + k], first + k])] -= np.uint16(1)
            row = k * n
            for s in range(np.uint64(low), np.uint64(high) + ONE):
                many = having[row + s]
                found[size] = s
                counts[size] = many
                size += np.uint64(many > 0)  # no branch: which scores there are is not to be guessed
                having[row + s] = 0
            while size % U_TOGETHER:
                found[size] = 0  # no logarithm of score 0 is infinite
                counts[size] = 0.0
                size += ONE
            starts[first + k + ONE] = size
    return Crowd(starts, found, counts)


@inner
def _choose_rule(tables, rule, share, allowed):
    """Return the shortest rule after `rule` whose error is at most `allowed`, relative to the chance at x = 1."""
    log_share = np.log(share)
    log_allowed = np.log(allowed) if allowed > 0.0 else -np.inf
    rule += 1
    while rule + 1 < tables.sizes.size and tables.log_error[rule] + 2 * tables.sizes[rule] * log_share > log_allowed:
        rule += 1
    return min(rule, tables.sizes.size - 1)


@inner
def _integrate_longer(tables, crowd, t, own, other, d, rule, chances, base):
    """Return the parts of sampled score l - d by a longer rule, with products by repeated squaring.

    A rule errs by more than TOLERANCE only where the shares add up to 0.03 and more (as it errs by at most c A**(2m),
    and the failure is at least about A / 4): then failing is not rare, and 1 - a product loses nothing that matters.
    """
    size = tables.sizes[rule]
    for g in range(size):
        chances[g] = 1.0
    for k in range(crowd.starts[t], crowd.starts[t + 1]):
        share, upto = tables.top_share[crowd.scores[k], d], tables.top_upto[crowd.scores[k], d]
        for g in range(size):
            base[g] = upto * (1.0 + (tables.nodes[rule, g] - 1.0) * share)
        left = np.int64(crowd.counts[k])
        while left > 0:
            if left & 1:
                for g in range(size):
                    chances[g] *= base[g]
            for g in range(size):
                base[g] *= base[g]
            left >>= 1
    own_share, other_share = tables.top_share[own, d], tables.top_share[other, d]
    won = 0.0
    agreed = 0.0
    for g in range(size):
        gap = 1.0 - tables.nodes[rule, g]
        won += tables.weights[rule, g] * chances[g]
        agreed += tables.weights[rule, g] * chances[g] * (1.0 - gap * own_share) / (1.0 - gap * other_share)
    return tables.top_pmf[own, d] * (1.0 - won), tables.top_upto[own, d] * other_share * agreed


@bare_inner
def _failing(log):
    """Return 1 - exp(log), eight at a time, all digits kept where it is small.

    With log = k ln 2 + r it is (1 - 2**k) - 2**k (exp(r) - 1); as |r| < 0.35, 14 terms of the series leave an error of
    2e-17 of it; where k is not 0, the difference is at least 0.29. Adding ROUND puts k into the lowest bits, which are
    then shifted to a double's exponent.
    """
    x = larger(log, repeat(LEAST_LOG))
    shifted = x * LOG2_E + ROUND
    k = shifted - ROUND
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    r2 = r * r
    r4 = r2 * r2
    low = (1 / 6 + r * (1 / 24)) + r2 * (1 / 120 + r * (1 / 720))
    high = (1 / 5040 + r * (1 / 40320)) + r2 * (1 / 362880 + r * (1 / 3628800))
    top = (1 / 39916800 + r * (1 / 479001600)) + r2 * (1 / 6227020800 + r * (1 / 87178291200))
    series = r + r2 * (0.5 + r * (low + r4 * (high + r4 * top)))
    power = as_reals((as_words(shifted) + EXPONENT_BIAS) << EXPONENT_PLACE)
    return (1.0 - power) - power * series


@bare_inner
def _raise_to(base, exponent, start):
    """Return start * base**exponent."""
    while exponent > ZERO:
        if exponent & ONE:
            start = start * base
        base = base * base
        exponent >>= ONE
    return start


@bare_inner
def _agreeing(rule, size, tables, fails, own, other):
    """Return the integral over x of the chance that nobody beats a class other than the true one.

    The product over all but it is that over the true class's rivals, times the true class's factor, divided by its own.
    """
    total = repeat(0.0)
    for g in range(size):
        gap = 1.0 - tables.nodes[rule, g]
        wins = (1.0 - load(fails, g * U_WIDTH)) * (1.0 - gap * own)
        total = total + tables.weights[rule, g] * wins / (1.0 - gap * other)
    return total


@jit
def fair_poll_trials(tables, crowd, scores, truth, reference, failures, agreements):
    """Write, for each trial, the chance that a poll misses the true class or names `reference` (which may be empty)."""
    width, stride = np.uint64(tables.top_pmf.shape[1]), np.uint64(tables.top_mixed.shape[1])
    pmf, upto, shares = tables.top_pmf.reshape(-1), tables.top_upto.reshape(-1), tables.top_share.reshape(-1)
    mixed, nodes, weights, sizes = tables.top_mixed.reshape(-1), tables.nodes, tables.weights, tables.sizes
    rules, errors = tables.chunk_rules, np.exp(tables.log_error)
    starts, found, counts = crowd.starts, crowd.scores, crowd.counts
    most = max(np.uint64(nodes.shape[1]), stride)
    fails, spare = np.empty(most), np.empty(most)
    missed, agreed, error = np.empty(width), np.empty(width), np.empty(width)
    unbeaten, crowded, joined, other_error = np.empty(width), np.empty(width), np.empty(width), np.empty(width)
    for t in range(np.uint64(failures.size)):
        own = np.uint64(scores[truth[t], t]) * width
        compared = reference.size > 0 and reference[t] >= 0 and reference[t] != truth[t]
        other = np.uint64(scores[reference[t], t]) * width if compared else own
        first, last = np.uint64(starts[t]), np.uint64(starts[t + ONE])
        surely = 0.0  # a lower bound of the failure
        rest = 0.0
        at = np.uint64(0)  # the chunk's place among the sampled scores, and
        column = np.uint64(0)  # among the logarithms
        while at < width:
            rule = rules[at // U_WIDTH]
            size = np.uint64(sizes[rule])
            even, odd = repeat(0.0), repeat(0.0)
            before, highest = repeat(0.0), repeat(0.0)  # logarithms at the last node, and at x = 1
            never = repeat(0.0)
            for g in range(ZERO, size + ONE, TWO):  # two nodes side by side
                before, highest = repeat(0.0), repeat(0.0)
                here = column + g * U_WIDTH
                for k in range(first, last, U_TOGETHER):
                    row_a = np.uint64(found[k]) * stride + here
                    row_b = np.uint64(found[k + ONE]) * stride + here
                    row_c = np.uint64(found[k + TWO]) * stride + here
                    row_d = np.uint64(found[k + THREE]) * stride + here
                    many_a, many_b, many_c, many_d = counts[k], counts[k + ONE], counts[k + TWO], counts[k + THREE]
                    near = many_a * load(mixed, row_a) + many_b * load(mixed, row_b)
                    before = before + (near + (many_c * load(mixed, row_c) + many_d * load(mixed, row_d)))
                    near = many_a * load(mixed, row_a + U_WIDTH) + many_b * load(mixed, row_b + U_WIDTH)
                    far = many_c * load(mixed, row_c + U_WIDTH) + many_d * load(mixed, row_d + U_WIDTH)
                    highest = highest + (near + far)
                here = g * U_WIDTH
                fail, never = _failing(before), _failing(highest)
                store(fails, here, fail)
                store(fails, here + U_WIDTH, never)
                even = even + weights[rule, g] * fail
                odd = odd + weights[rule, g + ONE] * never

            # The chunk's parts of the failure, and the least that they can be: the chance to fail falls with x, so that
            # it is at least that of x = 1/2 below it, and that of 1 beyond.
            likely, certain = load(pmf, own + at), 1.0 - never
            store(missed, at, likely * (even + odd))
            store(unbeaten, at, certain)
            surely = add_up(surely, likely * 0.5 * (load(fails, size // TWO * U_WIDTH) + never))

            # What the rule may err by. The logarithm of the product is concave in x: its slope at 1, the sum of the
            # rivals' shares, is at most that between the last node and 1. The true class is a rival of the other. It
            # is at most 1: a chance and its estimate are both below that.
            slope = (highest - before) * (1.0 / (1.0 - nodes[rule, size - ONE]))
            share = load(shares, own + at)
            part = _raise_to(slope * slope, size, repeat(errors[rule]))
            store(crowded, at, slope)
            store(error, at, smaller(part, repeat(1.0)) * certain * likely)
            if compared:
                total = _agreeing(rule, size, tables, fails, share, load(shares, other + at))
                store(agreed, at, total * (load(upto, own + at) * load(shares, other + at)))
                slope = slope + share
                part = _raise_to(slope * slope, size, repeat(errors[rule]))
                store(joined, at, slope)
                store(other_error, at, smaller(part, repeat(1.0)) * certain * load(upto, own + at))

            # Below some sampled score nothing more needs to be known: all classes are there with a chance of at most
            # TOLERANCE of the failure that is sure by now. Then the true class fails, and no other is named.
            at += U_WIDTH
            column += (size + ONE) * U_WIDTH
            rest = upto[own + at] if at < width else 0.0
            if rest * unbeaten[at - ONE] <= TOLERANCE * surely:
                break
        for chunk in range(ZERO, at, U_WIDTH):
            if lanes_above(load(error, chunk), TOLERANCE * surely):
                for d in range(chunk, chunk + U_WIDTH):
                    if not error[d] <= TOLERANCE * surely:
                        allowed = TOLERANCE * surely / (pmf[own + d] * unbeaten[d])
                        rule = _choose_rule(tables, rules[d // U_WIDTH], crowded[d], allowed)
                        same = own // width
                        missed[d] = _integrate_longer(tables, crowd, t, same, same, d, rule, fails, spare)[0]
            if compared and lanes_above(load(other_error, chunk), TOLERANCE):
                for d in range(chunk, chunk + U_WIDTH):
                    if not other_error[d] <= TOLERANCE:
                        allowed = TOLERANCE / (upto[own + d] * unbeaten[d])
                        rule = _choose_rule(tables, rules[d // U_WIDTH], joined[d], allowed)
                        found_other = _integrate_longer(
                            tables, crowd, t, own // width, other // width, d, rule, fails, spare
                        )
                        agreed[d] = found_other[1]
        failure = 0.0
        for chunk in range(ZERO, at, U_WIDTH):
            failure = add_up(failure, load(missed, chunk))
        failures[t] = failure + rest
        agreement = 0.0
        if compared:
            for chunk in range(ZERO, at, U_WIDTH):
                agreement = add_up(agreement, load(agreed, chunk))
        if reference.size > 0:
            agreements[t] = 1.0 - failures[t] if reference[t] == truth[t] else agreement
