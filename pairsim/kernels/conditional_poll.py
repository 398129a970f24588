"""Polls without polling: given the scores of a tournament, what a poll does is known exactly.

Class i's sampled score is Binomial(l, s_i / (n - 1)), independently of the others, so the probability that a class is
named is a finite sum over its sampled score v; classes with equal scores are taken together. A fair draw among the tied
is the subject of `fair_polls`; here are the rules under which a tie is won or lost for sure.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pairsim.kernels.conditional_poll_random_ties import fair_poll_trials
from pairsim.kernels.jit import inner, jit
from pairsim.kernels.rival_counts import count_rivals
from pairsim.kernels.ties import FIRST, LOSE, RANDOM


class PollTables(NamedTuple):
    """Binomial tables of one (n, l), made once: row s is for a class with score s.

    Polynomials are integrated by Gauss-Legendre rules, by the last of them exactly. What is used for that goes from the
    highest sampled score down, in chunks of 8, the last of which is filled up with impossible ones; each chunk has
    the rule that usually does for it, and x = 1 as one more node of no weight. In `top_mixed`, two nodes lie side by
    side, with 8 sampled scores each, so that the rows of one group's scores follow each other.
    """

    pmf: np.ndarray  # float64[n, l + 1]: P(sampled score = v)
    log_below: np.ndarray  # float64[n, l + 1]: log P(sampled score < v)
    log_upto: np.ndarray  # float64[n, l + 1]: log P(sampled score <= v)
    top_pmf: np.ndarray  # float64[n, 8 * chunks]: P(= v), v = l, l - 1, ...
    top_upto: np.ndarray  # float64[n, 8 * chunks]: P(<= v)
    top_share: np.ndarray  # float64[n, 8 * chunks]: P(= v) / P(<= v)
    top_mixed: np.ndarray  # float64[nodes / 2, n, 16]: log2(P(< v) + x P(= v)), chunk after chunk, at the rule's nodes
    chunk_rules: np.ndarray  # int64[chunks]
    sizes: np.ndarray  # int64[rules]: how many nodes
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


@inner
def new_rivals(n, values):
    """Return room for n rivals and sampled scores 0 .. values - 1."""
    return Rivals(
        np.empty(n, np.int64),
        np.empty(n, np.float64),
        np.zeros(1, np.int64),
        np.empty(values, np.float64),
        np.empty(values, np.float64),
    )


@inner
def _gather(tables, rivals):
    """Add up the logarithms of all rivals, for every sampled score at once."""
    values = rivals.below.size
    rivals.below[:] = 0.0
    rivals.upto[:] = 0.0
    for k in range(rivals.size[0]):
        count = rivals.counts[k]
        below = tables.log_below[rivals.scores[k]]
        upto = tables.log_upto[rivals.scores[k]]
        for v in range(values):
            rivals.below[v] += count * below[v]
            rivals.upto[v] += count * upto[v]


@inner
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


@inner
def _fails_to_name(tables, ties, scores, c, histogram, before, after):
    """Return the probability that a poll does not name class c of a tournament with these scores, ties LOSE or FIRST.

    Under FIRST, those numbered before it win a tie against it and those after it lose one.
    """
    n = scores.size
    split = c if ties == FIRST else 0
    _list_rivals(scores, split, n, c, histogram, after)
    _gather(tables, after)
    score = np.int64(scores[c])
    if ties == FIRST:
        _list_rivals(scores, 0, split, c, histogram, before)
        _gather(tables, before)
    failure = 0.0
    for v in range(after.below.size):
        log_probability = after.below[v] if ties == LOSE else after.upto[v] + before.below[v]
        failure -= tables.pmf[score, v] * np.expm1(log_probability)
    return failure


@jit
def poll_trials(tables, ties, scores, truth, reference, failures, agreements):
    """Write, for each trial (a column of scores), how likely a poll misses the true class or names `reference`.

    `reference` may be empty: then there is nothing to agree with.
    """
    if ties == RANDOM:
        rivals = count_rivals(scores, truth)
        fair_poll_trials(tables, rivals, scores, truth, reference, failures, agreements)
        return
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
