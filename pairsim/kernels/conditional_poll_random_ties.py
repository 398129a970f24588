"""Polls whose ties are settled by a fair draw, given the scores of a tournament.

A fair draw is a comparison of real numbers: add to each sampled score a uniform number of its own. Class c is named
with probability sum over v of the integral over x in [0, 1] of P(c = v) prod over the others of P(below v) + x P(equal
v), a polynomial in x, integrated by a Gauss-Legendre rule. Sampled scores are taken eight at a time, from the highest
down: the products at all nodes are sums of logarithms from a table, a matrix product of four trials' counts with it.
Rules have an odd number of nodes, and x = 1 is one more: they are taken two at a time.
"""

from __future__ import annotations

import numpy as np

from pairsim.kernels.jit import bare_inner, inline_always, inner, jit
from pairsim.kernels.rival_counts import TOGETHER, U_TOGETHER
from pairsim.kernels.stream import ONE, ZERO
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
TWO, THREE, FOUR, FIVE, SIX, SEVEN = (np.uint64(k) for k in range(2, 8))
NOBODY = np.uint64(2**63)  # in the place of a class to agree with
TWO_NODES = np.uint64(2 * WIDTH)

LEAST_LOG = -1000.0  # 2 to the power of it is next to nothing, and a normal number
LN2 = 0.6931471805599453
ROUND = 1.5 * 2.0**52  # added to a small number it leaves the nearest integer in the low bits
EXPONENT_BIAS = np.uint64(1023)
EXPONENT_PLACE = np.uint64(52)


@inner
def _choose_rule(tables, rule, share, allowed):
    """Return the shortest rule after `rule` whose error is at most `allowed`, relative to the probability at x = 1."""
    log_share = np.log(share)
    log_allowed = np.log(allowed) if allowed > 0.0 else -np.inf
    rule += 1
    while rule + 1 < tables.sizes.size and tables.log_error[rule] + 2 * tables.sizes[rule] * log_share > log_allowed:
        rule += 1
    return min(rule, tables.sizes.size - 1)


@inner
def _integrate_longer(tables, many, trial, lowest, rows, own, other, d, rule, probabilities, base):
    """Return the parts of sampled score l - d by a longer rule, with products by repeated squaring.

    A rule errs by more than TOLERANCE only where the shares add up to 0.03 and more (as it errs by at most c A**(2m),
    and the failure is at least about A / 4): then failing is not rare, and 1 - a product loses nothing that matters.
    """
    size = tables.sizes[rule]
    for g in range(size):
        probabilities[g] = 1.0
    for row in range(rows):
        share, upto = tables.top_share[lowest + row, d], tables.top_upto[lowest + row, d]
        left = np.int64(many[row * U_TOGETHER + trial])
        if left > 0:
            for g in range(size):
                base[g] = upto * (1.0 + (tables.nodes[rule, g] - 1.0) * share)
        while left > 0:
            if left & 1:
                for g in range(size):
                    probabilities[g] *= base[g]
            for g in range(size):
                base[g] *= base[g]
            left >>= 1
    own_share, other_share = tables.top_share[own, d], tables.top_share[other, d]
    won = 0.0
    agreed = 0.0
    for g in range(size):
        gap = 1.0 - tables.nodes[rule, g]
        won += tables.weights[rule, g] * probabilities[g]
        agreed += tables.weights[rule, g] * probabilities[g] * (1.0 - gap * own_share) / (1.0 - gap * other_share)
    return tables.top_pmf[own, d] * (1.0 - won), tables.top_upto[own, d] * other_share * agreed


@inline_always
def _add_logarithms(mixed, at, many, rows, logs, here, stride):
    """Write the sums of logarithms of four trials, which lie `stride` apart in `logs`, at two nodes side by side."""
    a0, b0, c0, d0 = repeat(0.0), repeat(0.0), repeat(0.0), repeat(0.0)
    a1, b1, c1, d1 = repeat(0.0), repeat(0.0), repeat(0.0), repeat(0.0)
    for k in range(ZERO, rows * U_TOGETHER, U_TOGETHER):
        log0, log1 = load(mixed, at), load(mixed, at + U_WIDTH)
        at += TWO_NODES
        a, b, c, d = many[k], many[k + ONE], many[k + TWO], many[k + THREE]
        a0, a1 = a0 + a * log0, a1 + a * log1
        b0, b1 = b0 + b * log0, b1 + b * log1
        c0, c1 = c0 + c * log0, c1 + c * log1
        d0, d1 = d0 + d * log0, d1 + d * log1
    store(logs, here, a0)
    store(logs, here + U_WIDTH, a1)
    store(logs, here + stride, b0)
    store(logs, here + stride + U_WIDTH, b1)
    store(logs, here + TWO * stride, c0)
    store(logs, here + TWO * stride + U_WIDTH, c1)
    store(logs, here + THREE * stride, d0)
    store(logs, here + THREE * stride + U_WIDTH, d1)


@inline_always
def _failing(log):
    """Return 1 - 2**log, eight at a time, all digits kept where it is small.

    With log = k + r it is (1 - 2**k) - 2**k (2**r - 1); as |r| <= 1/2, a polynomial of degree 11 (interpolated at
    Chebyshev's points) errs by 5e-17 of 2**r - 1; where k is not 0, the difference is at least 0.29. Adding ROUND puts
    k into the lowest bits, which are then shifted to a double's exponent.
    """
    x = larger(log, repeat(LEAST_LOG))
    shifted = x + ROUND
    r = x - (shifted - ROUND)
    r2 = r * r
    r4 = r2 * r2
    low = (LN2 + r * 0.24022650695910097) + r2 * (0.0555041086648216 + r * 0.009618129107606888)
    high = (0.0013333558146416936 + r * 0.0001540353044173605) + r2 * (
        1.525273382983612e-05 + r * 1.321544258792169e-06
    )
    top = (1.0178062445845774e-07 + r * 7.072585949269288e-09) + r2 * 4.4549605981865527e-10
    series = r * (low + r4 * (high + r4 * top))
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
    """Return the integral over x of the probability that nobody beats a class other than the true one.

    The product over all but it is that over the true class's rivals, times the true class's factor, divided by its own.
    """
    total = repeat(0.0)
    for g in range(size):
        gap = 1.0 - tables.nodes[rule, g]
        wins = (1.0 - load(fails, g * U_WIDTH)) * (1.0 - gap * own)
        total = total + tables.weights[rule, g] * wins / (1.0 - gap * other)
    return total


@jit
def fair_poll_trials(tables, rivals, scores, truth, reference, failures, agreements):
    """Write per trial the probability that a poll misses the true class or names `reference` (which may be empty)."""
    n, width = np.uint64(tables.top_pmf.shape[0]), np.uint64(tables.top_pmf.shape[1])
    pmf, upto, shares = tables.top_pmf.reshape(-1), tables.top_upto.reshape(-1), tables.top_share.reshape(-1)
    mixed, nodes, weights, sizes = tables.top_mixed.reshape(-1), tables.nodes, tables.weights, tables.sizes
    rules, errors = tables.chunk_rules, np.exp(tables.log_error)
    stride = np.uint64(nodes.shape[1]) * U_WIDTH
    logs, fails, spare = np.empty(U_TOGETHER * stride), np.empty(stride), np.empty(stride)
    many = np.empty(n * U_TOGETHER)
    apart = U_TOGETHER * width
    notes = np.empty(SEVEN * apart)  # seven numbers for each sampled score of each trial: first its part of the failure
    agreed, error, other_error = apart, TWO * apart, THREE * apart
    unbeaten, tied, joined = FOUR * apart, FIVE * apart, SIX * apart
    owns, others, ends = np.empty(TOGETHER, np.uint64), np.empty(TOGETHER, np.uint64), np.empty(TOGETHER, np.uint64)
    surely, rest = np.empty(TOGETHER), np.empty(TOGETHER)  # a lower bound of the failure, and what was not looked at
    for group in range(np.uint64(rivals.lows.size)):
        lowest, begin = rivals.lows[group], rivals.starts[group]
        rows = rivals.starts[group + ONE] - begin
        for k in range(rows * U_TOGETHER):
            many[k] = rivals.counts[begin * U_TOGETHER + k]
        first = group * U_TOGETHER
        some = min(U_TOGETHER, np.uint64(failures.size) - first)
        for g in range(some):
            t = first + g
            owns[g] = np.uint64(scores[truth[t], t]) * width
            compared = reference.size > 0 and reference[t] >= 0 and reference[t] != truth[t]
            others[g] = np.uint64(scores[reference[t], t]) * width if compared else NOBODY
            surely[g] = 0.0
            ends[g] = ZERO
        left = some
        at = ZERO  # the chunk's place among the sampled scores, and
        column = lowest * TWO_NODES  # among the logarithms
        while left > ZERO:
            rule = rules[at // U_WIDTH]
            size = np.uint64(sizes[rule])
            for node in range(ZERO, size + ONE, TWO):
                _add_logarithms(mixed, column, many, rows, logs, node * U_WIDTH, stride)
                column += n * TWO_NODES
            for g in range(some):
                if ends[g] > ZERO:
                    continue
                own, other = owns[g] + at, others[g] + at
                here, log = g * width + at, g * stride
                total = repeat(0.0)
                for node in range(size + ONE):  # x = 1, the last, has no weight
                    fail = _failing(load(logs, log + node * U_WIDTH))
                    store(fails, node * U_WIDTH, fail)
                    total = total + weights[rule, node] * fail

                # The chunk's parts of the failure, and the least that they can be: the probability to fail falls with
                # x, so that it is at least that of x = 1/2 below it, and that of 1 beyond.
                never = load(fails, size * U_WIDTH)
                likely, certain = load(pmf, own), 1.0 - never
                store(notes, here, likely * total)
                store(notes, unbeaten + here, certain)
                surely[g] = add_up(surely[g], likely * 0.5 * (load(fails, size // TWO * U_WIDTH) + never))

                # What the rule may err by. The logarithm of the product is concave in x: its slope at 1, the sum of the
                # rivals' shares, is at most that between the last node and 1. The true class is a rival of the other.
                # It is at most 1: a probability and its estimate are both below that.
                slope = load(logs, log + size * U_WIDTH) - load(logs, log + (size - ONE) * U_WIDTH)
                slope = slope * (LN2 / (1.0 - nodes[rule, size - ONE]))
                share = load(shares, own)
                part = _raise_to(slope * slope, size, repeat(errors[rule]))
                store(notes, tied + here, slope)
                store(notes, error + here, smaller(part, repeat(1.0)) * certain * likely)
                if others[g] != NOBODY:
                    total = _agreeing(rule, size, tables, fails, share, load(shares, other))
                    store(notes, agreed + here, total * (load(upto, own) * load(shares, other)))
                    slope = slope + share
                    part = _raise_to(slope * slope, size, repeat(errors[rule]))
                    store(notes, joined + here, slope)
                    store(notes, other_error + here, smaller(part, repeat(1.0)) * certain * load(upto, own))

                # Below some sampled score nothing more needs to be known: all classes are there with a probability of
                # at most TOLERANCE of the failure that is sure by now. Then the true class fails, and no other is
                # named.
                after = at + U_WIDTH
                rest[g] = upto[own + U_WIDTH] if after < width else 0.0
                if after == width or rest[g] * notes[unbeaten + here + U_WIDTH - ONE] <= TOLERANCE * surely[g]:
                    ends[g] = after
                    left -= ONE
            at += U_WIDTH
        for g in range(some):
            allowed = TOLERANCE * surely[g]
            score, other_score = owns[g] // width, others[g] // width
            failure, agreement = 0.0, 0.0
            for chunk in range(g * width, g * width + ends[g], U_WIDTH):
                if lanes_above(load(notes, error + chunk), allowed):
                    for place in range(chunk, chunk + U_WIDTH):
                        if not notes[error + place] <= allowed:
                            d = place - g * width
                            ratio = allowed / (pmf[owns[g] + d] * notes[unbeaten + place])
                            rule = _choose_rule(tables, rules[d // U_WIDTH], notes[tied + place], ratio)
                            notes[place] = _integrate_longer(
                                tables, many, g, lowest, rows, score, score, d, rule, fails, spare
                            )[0]
                failure = add_up(failure, load(notes, chunk))
                if others[g] == NOBODY:
                    continue
                if lanes_above(load(notes, other_error + chunk), TOLERANCE):
                    for place in range(chunk, chunk + U_WIDTH):
                        if not notes[other_error + place] <= TOLERANCE:
                            d = place - g * width
                            ratio = TOLERANCE / (upto[owns[g] + d] * notes[unbeaten + place])
                            rule = _choose_rule(tables, rules[d // U_WIDTH], notes[joined + place], ratio)
                            notes[agreed + place] = _integrate_longer(
                                tables, many, g, lowest, rows, score, other_score, d, rule, fails, spare
                            )[1]
                agreement = add_up(agreement, load(notes, agreed + chunk))
            t = first + g
            failures[t] = failure + rest[g]
            if reference.size > 0:
                agreements[t] = 1.0 - failures[t] if reference[t] == truth[t] else agreement
