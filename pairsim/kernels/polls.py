"""Polls without polling: given the scores of a tournament, what a poll does is known exactly.

Class i's sampled score is Binomial(l, s_i / (n - 1)), independently of the others, so the chance that a class is named
is a finite sum over its sampled score v; classes with equal scores are taken together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pairsim.kernels.jit import jit
from pairsim.kernels.ties import FIRST, LOSE, RANDOM

NOT_TINY = -0.01  # log of a chance to win below which 1 - exp loses at most two digits of the failure
TOLERANCE = 1e-13  # of the failure probability: what may be left out, term by term


class PollTables(NamedTuple):
    """Binomial tables of one (n, l), made once: row s is for a class with score s.

    The fair draw among the tied is the integral over x in [0, 1] of the product over the others of
    P(below v) + x P(equal v), a polynomial in x. Gauss-Legendre rules of 8, 16, 32, ... nodes integrate it; the last
    of them exactly.
    """

    pmf: np.ndarray  # float64[n, l + 1]: P(sampled score = v)
    log_below: np.ndarray  # float64[n, l + 1]: log P(sampled score < v)
    log_upto: np.ndarray  # float64[n, l + 1]: log P(sampled score <= v)
    share: np.ndarray  # float64[n, l + 1]: P(= v) / P(<= v)
    log_mixed_8: np.ndarray  # float64[n, l + 1, 8]: log(P(< v) + x P(= v)) at the nodes of the first rule
    log_mixed_16: np.ndarray  # float64[n, l + 1, 16]: and of the second
    nodes: np.ndarray  # float64[rules, most nodes]
    weights: np.ndarray
    log_error: np.ndarray  # float64[rules]: log of c where m nodes err by at most c * (sum of shares)**(2m)


class Rivals(NamedTuple):
    """The other classes of a tournament: their distinct scores and how many have each, and scratch space over v."""

    scores: np.ndarray  # int64[n]
    counts: np.ndarray  # float64[n]
    size: np.ndarray  # int64[1]
    below: np.ndarray  # float64[l + 1]: log P(all sampled scores < v)
    upto: np.ndarray  # float64[l + 1]
    shares: np.ndarray  # float64[l + 1]: sum of shares
    log_chances: np.ndarray  # float64[16]: over the nodes of a rule


@jit
def new_rivals(n, values):
    """Return room for n rivals and sampled scores 0 .. values - 1."""
    return Rivals(
        np.empty(n, np.int64),
        np.empty(n, np.float64),
        np.zeros(1, np.int64),
        np.empty(values, np.float64),
        np.empty(values, np.float64),
        np.empty(values, np.float64),
        np.empty(16, np.float64),
    )


@jit
def _gather(tables, rivals):
    """Add up the logarithms and shares of all rivals, for every sampled score at once."""
    values = rivals.below.size
    rivals.below[:] = 0.0
    rivals.upto[:] = 0.0
    rivals.shares[:] = 0.0
    for k in range(rivals.size[0]):
        count = rivals.counts[k]
        below = tables.log_below[rivals.scores[k]]
        upto = tables.log_upto[rivals.scores[k]]
        share = tables.share[rivals.scores[k]]
        for v in range(values):
            rivals.below[v] += count * below[v]
            rivals.upto[v] += count * upto[v]
            rivals.shares[v] += count * share[v]


@jit
def _wins_in_crowd(tables, rivals, v, rule):
    """Return the chance to win with sampled score v when so many tie that no table is kept for it.

    Then failing is not rare, and plain products (by repeated squaring) lose nothing that matters.
    """
    size = 8 << rule
    chances = np.full(size, np.exp(rivals.upto[v]))
    base = np.empty(size)
    for k in range(rivals.size[0]):
        share = tables.share[rivals.scores[k], v]
        for g in range(size):
            base[g] = 1.0 + (tables.nodes[rule, g] - 1.0) * share
        left = np.int64(rivals.counts[k])
        while left > 0:
            if left & 1:
                for g in range(size):
                    chances[g] *= base[g]
            for g in range(size):
                base[g] *= base[g]
            left >>= 1
    wins = 0.0
    for g in range(size):
        wins += tables.weights[rule, g] * chances[g]
    return wins


@jit
def _fails_in_draw(tables, rivals, v, rule):
    """Return 1 - the chance to win with sampled score v when ties are settled by a fair draw."""
    fails = 0.0
    if rule > 1:
        return 1.0 - _wins_in_crowd(tables, rivals, v, rule)
    log_chances = rivals.log_chances[: 8 << rule]
    log_chances[:] = 0.0
    for k in range(rivals.size[0]):
        row = tables.log_mixed_16[rivals.scores[k], v] if rule else tables.log_mixed_8[rivals.scores[k], v]
        for g in range(log_chances.size):
            log_chances[g] += rivals.counts[k] * row[g]
    if rivals.upto[v] < NOT_TINY:  # failing is not rare here: exp is exact enough, and much faster than expm1
        wins = 0.0
        for g in range(log_chances.size):
            wins += tables.weights[rule, g] * np.exp(log_chances[g])
        return 1.0 - wins
    for g in range(log_chances.size):
        fails -= tables.weights[rule, g] * np.expm1(log_chances[g])
    return fails


@jit
def _failure_with_draw(tables, rivals, score):
    """Return the chance not to be named when ties are settled by a fair draw."""
    failure = 0.0
    for v in range(rivals.below.size):
        weight = tables.pmf[score, v]
        if weight == 0.0:
            continue
        best = np.exp(rivals.upto[v])
        surely = weight * (1.0 - best if rivals.upto[v] < NOT_TINY else -np.expm1(rivals.upto[v]))
        tied = weight * (best - np.exp(rivals.below[v]))
        budget = TOLERANCE * (failure + surely)
        if tied <= budget:
            failure += surely
            continue
        rule = 0
        if tables.log_error[0] > -np.inf:  # else the first rule is exact
            log_budget = np.log(budget / weight) - rivals.upto[v] if budget > 0.0 else -np.inf
            log_shares = np.log(rivals.shares[v])
            while rule + 1 < tables.log_error.size and tables.log_error[rule] + (16 << rule) * log_shares > log_budget:
                rule += 1
        failure += weight * _fails_in_draw(tables, rivals, v, rule)
    return failure


@jit
def _list_rivals(scores, first, last, skip, histogram, rivals):
    """List the distinct scores of classes first .. last - 1 but `skip`; `histogram` is zero before and after."""
    low = histogram.size
    high = -1
    for c in range(first, last):
        if c != skip:
            score = scores[c]
            histogram[score] += 1
            low = min(low, score)
            high = max(high, score)
    size = 0
    for s in range(low, high + 1):
        if histogram[s] > 0:
            rivals.scores[size] = s
            rivals.counts[size] = histogram[s]
            histogram[s] = 0
            size += 1
    rivals.size[0] = size


@jit
def _fails_to_name(tables, ties, scores, c, histogram, before, after):
    """Return the chance that a poll does not name class c of a tournament with these scores.

    Under FIRST, those numbered before it win a tie against it and those after it lose one.
    """
    n = scores.size
    split = c if ties == FIRST else 0
    _list_rivals(scores, split, n, c, histogram, after)
    _gather(tables, after)
    score = np.int64(scores[c])
    if ties == RANDOM:
        return _failure_with_draw(tables, after, score)
    if ties == FIRST:
        _list_rivals(scores, 0, split, c, histogram, before)
        _gather(tables, before)
    failure = 0.0
    for v in range(after.below.size):
        log_chance = after.below[v] if ties == LOSE else after.upto[v] + before.below[v]
        failure -= tables.pmf[score, v] * np.expm1(log_chance)
    return failure


@jit
def poll_trials(tables, ties, scores, truth, reference, failures, agreements):
    """Write, for each trial (a column of scores), the chance that a poll misses the true class or names `reference`.

    `reference` may be empty: then there is nothing to agree with.
    """
    n = scores.shape[0]
    values = tables.pmf.shape[1]
    column = np.empty(n, np.int64)
    histogram = np.zeros(n, np.int64)
    before = new_rivals(n, values)
    after = new_rivals(n, values)
    for t in range(failures.size):
        for c in range(n):
            column[c] = scores[c, t]
        failures[t] = _fails_to_name(tables, ties, column, truth[t], histogram, before, after)
        if reference.size > 0:
            if reference[t] == truth[t]:
                agreements[t] = 1.0 - failures[t]
            elif reference[t] < 0:
                agreements[t] = 0.0
            else:
                agreements[t] = 1.0 - _fails_to_name(tables, ties, column, reference[t], histogram, before, after)
