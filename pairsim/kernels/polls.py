"""Polls without polling: given the scores of a tournament, what a poll does is known exactly.

Class i's sampled score is Binomial(l, s_i / (n - 1)), independently of the others, so the chance that a class is named
is a finite sum over its sampled score v; classes with equal scores are taken together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pairsim.kernels.jit import jit
from pairsim.kernels.ties import FIRST, LOSE

NEGLIGIBLE = 1e-18


class PollTables(NamedTuple):
    """Binomial tables of one (n, l), made once: row s is for a class with score s.

    The fair draw among the tied is the integral over x in [0, 1] of the product of P(below v) + x P(equal v), a
    polynomial; `nodes[v]` Gauss-Legendre nodes are used at v, as many as `reach` says are enough for it.
    """

    pmf: np.ndarray  # float64[n, l + 1]: P(sampled score = v)
    log_below: np.ndarray  # float64[n, l + 1]: log P(sampled score < v)
    log_upto: np.ndarray  # float64[n, l + 1]: log P(sampled score <= v)
    share: np.ndarray  # float64[n, l + 1]: P(= v) / P(<= v)
    nodes: np.ndarray  # int64[l + 1]
    starts: np.ndarray  # int64[l + 1]: where the table of v starts in log_mixed
    log_mixed: np.ndarray  # float64[...]: log(P(< v) + x P(= v)) at [starts[v] + s * nodes[v] + g]
    rule_nodes: np.ndarray  # float64[rules, most nodes]: Gauss-Legendre nodes of 8, 16, 32, ... points
    rule_weights: np.ndarray
    reach: np.ndarray  # float64[rules]: the sum of shares up to which a rule is good to 1e-14


@jit
def _rule_of(nodes):
    rule = 0
    while 8 << rule < nodes:
        rule += 1
    return rule


@jit
def _fails_in_draw(tables, v, distinct, counts, size, upto):
    """Return 1 - the chance to win at sampled score v when ties are settled by a fair draw."""
    shares = 0.0
    for k in range(size):
        shares += counts[k] * tables.share[distinct[k], v]
    rule = _rule_of(tables.nodes[v])
    if shares <= tables.reach[rule]:
        nodes = tables.nodes[v]
        fails = 0.0
        for g in range(nodes):
            log_chance = 0.0
            for k in range(size):
                log_chance += counts[k] * tables.log_mixed[tables.starts[v] + distinct[k] * nodes + g]
            fails -= tables.rule_weights[rule, g] * np.expm1(log_chance)
        return fails
    # more ties than this table was made for: a longer rule, without a table
    while rule + 1 < tables.reach.size and shares > tables.reach[rule]:
        rule += 1
    fails = 0.0
    for g in range(8 << rule):
        x = tables.rule_nodes[rule, g]
        log_chance = upto
        for k in range(size):
            log_chance += counts[k] * np.log1p((x - 1.0) * tables.share[distinct[k], v])
        fails -= tables.rule_weights[rule, g] * np.expm1(log_chance)
    return fails


@jit
def poll_failure(tables, ties, score, before, before_size, before_counts, after, after_size, after_counts):
    """Return the chance that a poll does not name a class with this score.

    The others are given by their distinct scores and how many have each: those numbered before it (who win a tie
    under FIRST) and those after it. Under the other rules all may be given as `after`.
    """
    failure = 0.0
    for v in range(tables.pmf.shape[1]):
        weight = tables.pmf[score, v]
        if weight < NEGLIGIBLE:
            continue
        below = 0.0
        upto = 0.0
        for k in range(after_size):
            below += after_counts[k] * tables.log_below[after[k], v]
            upto += after_counts[k] * tables.log_upto[after[k], v]
        if ties == LOSE:
            failure -= weight * np.expm1(below)
        elif ties == FIRST:
            for k in range(before_size):
                upto += before_counts[k] * tables.log_below[before[k], v]
            failure -= weight * np.expm1(upto)
        elif np.exp(upto) - np.exp(below) < NEGLIGIBLE:
            failure -= weight * np.expm1(upto)
        else:
            failure += weight * _fails_in_draw(tables, v, after, after_counts, after_size, upto)
    return failure


@jit
def _histogram(scores, first, last, skip, counts, distinct, sizes):
    """List the distinct scores of classes first .. last - 1 but `skip`, and how many have each; return how many."""
    low = counts.size
    high = -1
    for c in range(first, last):
        if c != skip:
            s = np.int64(scores[c])
            counts[s] += 1
            low = min(low, s)
            high = max(high, s)
    size = 0
    for s in range(low, high + 1):
        if counts[s] > 0:
            distinct[size] = s
            sizes[size] = counts[s]
            counts[s] = 0
            size += 1
    return size


@jit
def _fails_to_name(tables, ties, scores, c, counts, before, before_counts, after, after_counts):
    """Return the chance that a poll does not name class c of a tournament with these scores."""
    n = scores.size
    split = c if ties == FIRST else 0
    before_size = _histogram(scores, 0, split, c, counts, before, before_counts)
    after_size = _histogram(scores, split, n, c, counts, after, after_counts)
    score = np.int64(scores[c])
    return poll_failure(tables, ties, score, before, before_size, before_counts, after, after_size, after_counts)


@jit
def poll_trials(tables, ties, scores, truth, reference, failures, agreements):
    """Write, for each row of scores, the chance that a poll misses the true class, and that it names `reference`.

    `reference` may be empty: then there is nothing to agree with.
    """
    n = scores.shape[1]
    counts = np.zeros(n, np.int64)
    before = np.empty(n, np.int64)
    before_counts = np.empty(n, np.float64)
    after = np.empty(n, np.int64)
    after_counts = np.empty(n, np.float64)
    for t in range(failures.size):
        failures[t] = _fails_to_name(
            tables, ties, scores[t], truth[t], counts, before, before_counts, after, after_counts
        )
        if reference.size > 0:
            if reference[t] == truth[t]:
                agreements[t] = 1.0 - failures[t]
            elif reference[t] < 0:
                agreements[t] = 0.0
            else:
                agreements[t] = 1.0 - _fails_to_name(
                    tables, ties, scores[t], reference[t], counts, before, before_counts, after, after_counts
                )
