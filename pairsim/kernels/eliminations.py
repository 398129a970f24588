"""ADAG and DDAG beside a scored tournament, for oracles whose wrong classes meet as fair coins.

Both list the classes in the same random order, and games among wrong classes do not depend on p: the order is dealt
once, and all that a folded knock-out needs to know of it is whom the true class's branch meets in each round. Class 0's
own answers come from `play_class_zero`, in rows with room for a power of two.
"""

from __future__ import annotations

import numpy as np

from pairsim.kernels.jit import jit
from pairsim.kernels.stream import (
    GOLDEN,
    ONE,
    SHIFT_11,
    SHIFT_32,
    TRIALS_PER_WORD,
    UNIT,
    ZERO,
    digit_key,
    draw_key,
    mix,
    place,
    word_key,
)

U_WORD = np.uint64(TRIALS_PER_WORD)
NO_RIVAL = np.int64(-1)
MOST_ROUNDS = 64


@jit
def deal_trials(n, stream, first, orders):
    """Write the random orders of trials first .. to the rows of `orders`: what `deal` gives, all draws made first."""
    size = np.uint64(n)
    flat = orders.reshape(-1)
    places = np.empty(n, np.uint64)
    bounds = np.empty(n, np.float64)
    targets = np.empty(n, np.int64)
    for c in range(n):
        places[c] = place(c, 0)
        bounds[c] = c + 1.0
    for t in range(orders.shape[0]):
        key = draw_key(stream, first + t)
        for c in range(size):
            targets[c] = np.int64(np.float64(mix(places[c] ^ key) >> SHIFT_11) * UNIT * bounds[c])
        row = np.uint64(t) * size
        for c in range(size):
            flat[row + c] = c
        for k in range(size - ONE):
            last = size - ONE - k
            other = row + np.uint64(targets[last])
            moved = flat[row + last]
            flat[row + last] = flat[other]
            flat[other] = moved


@jit
def fold_trials(n, stream, first, orders, rivals):
    """Write whom the branch of class 0 meets in each round of a folded knock-out, NO_RIVAL where it need not play.

    The branch may hold any of its classes by then: who wins elsewhere does not depend on that.
    """
    size = np.uint64(n)
    flat = orders.reshape(-1)
    lists = np.empty(2 * n + MOST_ROUNDS, np.uint64)  # each round's list behind the one before it; odd ones round up
    for t in range(np.uint64(orders.shape[0])):
        trial = np.uint64(first) + t
        key = digit_key(word_key(stream, trial // U_WORD), 0)
        lane = trial % U_WORD
        branch = ZERO
        for c in range(size):
            lists[c] = flat[t * size + c]
            branch += c if lists[c] == ZERO else ZERO
        start = ZERO
        left = size
        level = 0
        while left > ONE:
            half = left >> ONE
            end = start + left - ONE
            after = start + left
            for k in range(half):
                i = lists[start + k]
                j = lists[end - k]
                low, high = min(i, j), max(i, j)
                high_wins = (mix(((low << SHIFT_32) | high) * GOLDEN ^ key) >> lane) & ONE
                lists[after + k] = high if high_wins else low
            lists[after + half] = lists[start + half]  # the middle of an odd list
            partner = left - ONE - branch
            rivals[t, level] = NO_RIVAL if partner == branch else np.int64(lists[start + partner])
            branch = min(branch, partner)
            start = after
            left -= half
            level += 1


@jit
def adag_trials(stream, first, rivals, answers, winners):
    """Write ADAG's winners, given whom the true class's branch meets (`fold_trials`) and class 0's answers."""
    for t in range(winners.size):
        lane = np.uint64((first + t) % TRIALS_PER_WORD)
        key = digit_key(word_key(stream, (first + t) // TRIALS_PER_WORD), 0)
        champion = np.int64(0)
        for level in range(rivals.shape[1]):
            rival = rivals[t, level]
            if rival == NO_RIVAL:
                continue
            low, high = min(champion, rival), max(champion, rival)
            word = answers[t // TRIALS_PER_WORD, high] if low == 0 else mix(place(low, high) ^ key)
            champion = high if (word >> lane) & ONE else low
        winners[t] = champion


@jit
def ddag_trials(n, stream, first, orders, answers, winners):
    """Write DDAG's winners: a word of trials side by side, as each trial has to wait for its every answer.

    Reading the two ends of a list is one loop and answering another, which has no reads at places that depend on the
    data and so becomes vector code. One end tells the other: each answer makes the list shorter by one.
    """
    size = np.uint64(n)
    flat = orders.reshape(-1)
    fronts, lost = np.empty(U_WORD, np.uint64), np.empty(U_WORD, np.uint64)
    firsts, lasts = np.empty(U_WORD, np.uint64), np.empty(U_WORD, np.uint64)
    zeros = np.empty(U_WORD, np.uint64)
    for w in range((winners.size + TRIALS_PER_WORD - 1) // TRIALS_PER_WORD):
        start = np.uint64(w) * U_WORD
        some = min(U_WORD, np.uint64(winners.size) - start)
        key = digit_key(word_key(stream, first // TRIALS_PER_WORD + w), 0)
        row = answers[w]
        for t in range(some):
            fronts[t] = (start + t) * size
            lost[t] = ZERO
        for asked in range(size - ONE):
            length = size - ONE - asked
            for t in range(some):
                front = fronts[t] + lost[t]
                fronts[t] = front
                i = np.uint64(flat[front])
                j = np.uint64(flat[front + length])
                firsts[t] = i
                lasts[t] = j
                zeros[t] = row[i | j]  # class j's answer if i is class 0; else it does not matter
            for t in range(some):
                i, j = firsts[t], lasts[t]
                low, high = min(i, j), max(i, j)
                fair = mix(((low << SHIFT_32) | high) * GOLDEN ^ key)
                word = zeros[t] if low == ZERO else fair
                high_wins = (word >> t) & ONE
                lost[t] = high_wins if i == low else ONE - high_wins
        for t in range(some):
            winners[start + t] = flat[fronts[t] + lost[t]]
