"""ddag and adag under any probabilities when each trial deals the classes in a fresh random order.

Both are dynamic programmes over sets of the classes 1 .. n-1 (bit c - 1 of a mask is class c): given which classes
stand in a part of the list, their order in it is uniformly random.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsim.exact_values.exchangeable import pascal
from pairsim.exact_values.sums import add_exactly
from pairsim.kernels.jit import inner, jit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DDAG_CLASSES = 23  # 2^(n-1) (n-1) numbers, 740 MB, and 2 n times as many steps: some seconds
ADAG_CLASSES = 21  # sets times their splits: some seconds


def ddag_random_order(probabilities: Floats) -> tuple[float, float]:
    """Return success and failure of ddag, averaged over all orders.

    The next class to enter is uniformly random among those not yet seen, on whichever side the loser left: the game
    is king of the hill. Before class 0 enters, `held[seen, w]` is the probability that w is king once the set `seen`
    has entered; after that class 0 must win every game.

    Examples
    --------
    >>> from pairsim.oracles import Uniform
    >>> ddag_random_order(Uniform(3, 0.5).matrix())
    (0.3333333333333333, 0.6666666666666666)
    """
    success, failure = sum_over_reigns(np.ascontiguousarray(probabilities))
    return float(success), float(failure)


@inner
def count_bits(mask: int) -> int:
    """Return how many bits are set."""
    bits = 0
    while mask:
        mask &= mask - 1
        bits += 1
    return bits


@jit
def hold_hill(probabilities: Floats, held: Floats, seen: int, size: int) -> None:
    """Fill held[seen, :] from the sets with one class fewer: the last to enter is any of them, equally likely."""
    m = held.shape[1]
    for w in range(m):
        if not seen >> w & 1:
            continue
        total = 1.0 if size == 1 else 0.0
        without = seen ^ 1 << w
        for x in range(m):
            if without >> x & 1:
                # either the king w beats x, who entered last, or w entered last and beats king x
                total += probabilities[w + 1, x + 1] * (held[seen ^ 1 << x, w] + held[without, x])
        held[seen, w] = total / size


@jit
def sum_over_reigns(probabilities: Floats) -> tuple[float, float]:
    """Return success and failure: over the set seen before class 0 enters, its first king, and all games after it."""
    n = probabilities.shape[0]
    m = n - 1
    choose = pascal(n)
    held = np.zeros((1 << m, m))
    beats_all = np.ones(1 << m)
    loses_any = np.zeros(1 << m)
    for mask in range(1, 1 << m):
        x = 0
        while not mask >> x & 1:
            x += 1
        rest = mask & (mask - 1)
        beats_all[mask] = beats_all[rest] * probabilities[0, x + 1]
        loses_any[mask] = loses_any[rest] + beats_all[rest] * probabilities[x + 1, 0]
    success, success_slip = beats_all[-1] / n, 0.0
    failure, failure_slip = loses_any[-1] / n, 0.0
    for seen in range(1, 1 << m):
        size = count_bits(seen)
        hold_hill(probabilities, held, seen, size)
        unseen = seen ^ ((1 << m) - 1)
        wins = 0.0
        loses = 0.0
        for w in range(m):
            wins += held[seen, w] * probabilities[0, w + 1]
            loses += held[seen, w] * probabilities[w + 1, 0]
        share = 1.0 / (n * choose[m, size])
        success, success_slip = add_exactly(success, success_slip, share * wins * beats_all[unseen])
        failure, failure_slip = add_exactly(failure, failure_slip, share * (loses + wins * loses_any[unseen]))
    return success + success_slip, failure + failure_slip


class Part(NamedTuple):
    """A bracket of the knock-out by its shape, over every set of classes that can stand in it (one row per set)."""

    size: int
    held: Floats  # [set of `size` others, class]: probability that the class comes out
    gain: Floats  # [set of `size` others, class]: probability that a class outside beats the one that comes out
    gain_true: Floats  # [set of `size` others, 2]: probability that class 0 beats it, and that it loses
    true_in: Floats  # [set of `size` - 1 others, 2]: with class 0 in it, how likely it comes out, and not


def adag_random_order(probabilities: Floats) -> tuple[float, float]:
    """Return success and failure of adag, averaged over all orders: each bracket holds a uniformly random set.

    Examples
    --------
    >>> from pairsim.oracles import Uniform
    >>> adag_random_order(Uniform(3, 0.5).matrix())
    (0.3333333333333333, 0.6666666666666666)
    """
    probabilities = np.ascontiguousarray(probabilities)
    n = probabilities.shape[0]
    ranks = rank_sets(n - 1)
    shapes: dict[object, Part] = {}

    def play(first: object, second: object) -> object:
        shape = (first, second)
        if shape not in shapes:
            shapes[shape] = _join(probabilities, ranks, shapes[first], shapes[second])
        return shape

    leaf = "leaf"
    held = np.eye(n - 1)
    shapes[leaf] = _part(probabilities, ranks, 1, held, np.array([[1.0, 0.0]]))
    entries: list[object] = [leaf] * n
    while len(entries) > 1:
        half = len(entries) // 2
        middle = entries[half : len(entries) - half]
        entries = [play(entries[k], entries[-1 - k]) for k in range(half)] + middle
    success, failure = shapes[entries[0]].true_in[0]
    return float(success), float(failure)


def _part(probabilities: Floats, ranks: Ints, size: int, held: Floats, true_in: Floats) -> Part:
    gain = beat_outcome(probabilities, ranks, size, held)
    gain_true = np.stack((held @ probabilities[0, 1:], held @ probabilities[1:, 0]), axis=1)
    return Part(size, held, gain, gain_true, true_in)


def _join(probabilities: Floats, ranks: Ints, first: Part, second: Part) -> Part:
    size = first.size + second.size
    held = join_held(ranks, size, first.size, first.held, first.gain, second.held, second.gain)
    true_in = np.zeros((int((ranks[:, 0] == size - 1).sum()), 2))
    for mine, other in ((first, second), (second, first)):
        join_true(ranks, size, mine.size, mine.true_in, other.gain_true, true_in)
    return _part(probabilities, ranks, size, held, true_in)


@jit
def rank_sets(m: int) -> Ints:
    """Return, for every set of m classes, its size and its place among the sets of that size."""
    ranks = np.zeros((1 << m, 2), np.int64)
    counts = np.zeros(m + 1, np.int64)
    for mask in range(1 << m):
        size = count_bits(mask)
        ranks[mask, 0] = size
        ranks[mask, 1] = counts[size]
        counts[size] += 1
    return ranks


@jit
def beat_outcome(probabilities: Floats, ranks: Ints, size: int, held: Floats) -> Floats:
    """Return for each set and each class outside it the probability to beat the class that comes out of the set."""
    m = held.shape[1]
    gain = np.zeros_like(held)
    for mask in range(ranks.shape[0]):
        if ranks[mask, 0] != size:
            continue
        row = ranks[mask, 1]
        for w in range(m):
            if mask >> w & 1:
                continue
            for x in range(m):
                gain[row, w] += probabilities[w + 1, x + 1] * held[row, x]
    return gain


@jit
def join_held(
    ranks: Ints, size: int, part: int, held: Floats, gain: Floats, other_held: Floats, other_gain: Floats
) -> Floats:
    """Return who comes out of a bracket of `size` classes, averaged over the splits into its two halves."""
    m = held.shape[1]
    sets = 0
    for mask in range(ranks.shape[0]):
        sets += ranks[mask, 0] == size
    joined = np.zeros((sets, m))
    share = 1.0 / pascal(size)[size, part]
    for mask in range(ranks.shape[0]):
        if ranks[mask, 0] != size:
            continue
        row = joined[ranks[mask, 1]]
        sub = mask
        while sub:
            if ranks[sub, 0] == part:
                mine = ranks[sub, 1]
                other = ranks[mask ^ sub, 1]
                # held is 0 for classes outside the set, so no class needs to be looked up
                for w in range(m):
                    row[w] += held[mine, w] * other_gain[other, w] + other_held[other, w] * gain[mine, w]
            sub = (sub - 1) & mask
        row *= share
    return joined


@jit
def join_true(ranks: Ints, size: int, part: int, true_in: Floats, gain_true: Floats, joined: Floats) -> None:
    """Add to `joined` the cases in which class 0 stands in the part of `part` classes and plays the other part."""
    share = part / (size * pascal(size)[size - 1, part - 1])
    for mask in range(ranks.shape[0]):
        if ranks[mask, 0] != size - 1:
            continue
        success, success_slip, failure, failure_slip = 0.0, 0.0, 0.0, 0.0
        sub = mask
        while True:
            if ranks[sub, 0] == part - 1:
                wins, loses = true_in[ranks[sub, 1]]
                beats, falls = gain_true[ranks[mask ^ sub, 1]]
                success, success_slip = add_exactly(success, success_slip, wins * beats)
                failure, failure_slip = add_exactly(failure, failure_slip, loses + wins * falls)
            if sub == 0:
                break
            sub = (sub - 1) & mask
        joined[ranks[mask, 1], 0] += share * (success + success_slip)
        joined[ranks[mask, 1], 1] += share * (failure + failure_slip)
