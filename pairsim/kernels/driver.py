"""The driver: runs any decoder on any oracle, trial after trial, and is the one place where the cost is counted."""

from __future__ import annotations

import numpy as np

from pairsim.kernels.jit import bare_inner, jit
from pairsim.kernels.pair_set import add_pair, new_pair_set
from pairsim.kernels.protocol import (
    allocate,
    begin,
    confidence,
    finish_round,
    low_wins,
    pair,
    probabilities,
    record,
    round_size,
    winner,
)
from pairsim.kernels.stream import draw_key, move_trial, new_trial

QUERIES, DISTINCT, ROUNDS = 0, 1, 2


@jit
def decode_trials(oracle, decoder, n, stream, first, max_repeats, winners, cost, sure):
    """Decode trials first .. first + winners.size - 1; write each winner and add up [queries, distinct, rounds].

    `max_repeats` is 0 for a decoder that never asks a pair twice, else the most queries of a trial: room for
    the set that counts different pairs. `sure` takes the decoder's own probability of each winner, unless it is empty.
    """
    state = allocate(decoder, n)
    trial = new_trial()
    pairs = new_pair_set(max_repeats)
    _decode_each(oracle, decoder, stream, first, max_repeats, winners, cost, sure, state, trial, pairs)


@bare_inner
def _decode_each(oracle, decoder, stream, first, max_repeats, winners, cost, sure, state, trial, pairs):
    """Decode the trials one after the other, without counting references: the caller holds all arrays."""
    for t in range(winners.size):
        move_trial(trial, stream, first + t)
        begin(decoder, state, draw_key(stream, first + t))
        if max_repeats > 0:
            pairs[:] = np.uint64(0)
        size = round_size(decoder, state)
        while size > 0:
            for k in range(size):
                i, j = pair(decoder, state, k)
                i_wins = low_wins(oracle, trial, i, j) if i < j else not low_wins(oracle, trial, j, i)
                record(decoder, state, k, i, j, i_wins)
                if max_repeats > 0:
                    cost[DISTINCT] += add_pair(pairs, i, j)
            cost[QUERIES] += size
            cost[ROUNDS] += 1
            finish_round(decoder, state)
            size = round_size(decoder, state)
        winners[t] = winner(decoder, state)
        if sure.size > 0:
            sure[t] = confidence(decoder, state)
    if max_repeats == 0:
        cost[DISTINCT] = cost[QUERIES]


@jit
def record_trials(oracle, n, stream, first, answers):
    """Write the answers of trials first .. to the rows of `answers`, pairs in the order (0,1) (0,2) .. (1,2) .."""
    trial = new_trial()
    for t in range(answers.shape[0]):
        move_trial(trial, stream, first + t)
        k = 0
        for i in range(n):
            for j in range(i + 1, n):
                answers[t, k] = low_wins(oracle, trial, i, j)
                k += 1


@jit
def start_decoder(decoder, n, stream):
    """Return the state of `decoder`, ready for its first round, with the draws of trial 0."""
    state = allocate(decoder, n)
    begin(decoder, state, draw_key(stream, 0))
    return state


@jit
def list_round(decoder, state):
    """Return the current round's queries as an array of shape (size, 2)."""
    size = round_size(decoder, state)
    queries = np.empty((size, 2), np.int64)
    for k in range(size):
        i, j = pair(decoder, state, k)
        queries[k, 0] = i
        queries[k, 1] = j
    return queries


@jit
def record_round(decoder, state, queries, first_wins):
    """Tell the answers to a whole round and close it."""
    for k in range(first_wins.size):
        record(decoder, state, k, queries[k, 0], queries[k, 1], first_wins[k])
    finish_round(decoder, state)


@jit
def name_winner(decoder, state):
    """Return the class that a finished decoder names, or -1."""
    return winner(decoder, state)


@jit
def decoder_confidence(decoder, state):
    """Return a finished decoder's own probability that its winner is right, nan where it has none."""
    return confidence(decoder, state)


@jit
def class_probabilities(decoder, state, n):
    """Return the decoder's own probability of each class, nan where it has none."""
    found = np.empty(n)
    probabilities(decoder, state, found)
    return found
