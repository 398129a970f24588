"""top-k: sums over the sets of candidates that a poll can leave, and over the scores of all tournaments.

For each set of candidates with class 0 in it: the probability, given the scores, that the poll leaves just this set,
times the probability that class 0 wins the final. Both are products over the classes once a few things are fixed (a
lane), so the classes can leave one by one, as in `labelled`, the candidates first.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pairsim.decoders import TopK
from pairsim.decoders.sample_size import sample_size
from pairsim.exact_values import labelled
from pairsim.exact_values.budget import check_work
from pairsim.exact_values.cuts import Cut, count_cut_lanes, make_cut, split_lanes
from pairsim.exact_values.lanes import count_nodes, draw_nodes, sample_scores
from pairsim.exact_values.providers import EXACT, Solution
from pairsim.exact_values.scores import OVER_SCORES, table_work
from pairsim.oracles import PairProbabilities

Floats = NDArray[np.float64]

STEP = 6  # units of work to write a number of a labelled state; the arrays are small enough for the cache


@EXACT.register(TopK)
def top_k(probabilities: PairProbabilities, decoder: TopK) -> Solution:
    """Return success and failure of top-k, and its cost.

    Examples
    --------
    >>> from pairsim.oracles import Uniform
    >>> every = TopK(5, 1, ties="lose")  # all classes are candidates: max-win
    >>> success, failure, *_ = top_k(Uniform(5, 0.9).probabilities(), every)
    >>> round(success, 12), round(failure, 12)
    (0.7198875, 0.2801125)
    """
    alike = probabilities.uniform is not None
    check_work(
        decoder.spec, probabilities.label, probabilities.n, lambda n: top_k_work(n, decoder, alike), max(2, decoder.k)
    )
    pair = top_k_over_sets(probabilities.matrix(), decoder, alike)
    return Solution(*pair, OVER_SCORES, expect_cost(probabilities, decoder))


def top_k_over_sets(probabilities: Floats, decoder: TopK, alike: bool) -> tuple[float, float]:
    """Return success and failure; `alike` says that the classes 1 .. n-1 are exchangeable."""
    n = probabilities.shape[0]
    sampled = sample_scores(n, sample_size(decoder.l, n))
    success = 0.0
    for others, copies in candidate_sets(n, decoder, alike):
        cut = make_cut(sampled, decoder.k, decoder.ties, (0, *others), alike)
        success += copies * win_with(probabilities, others, cut, decoder)
    return success, 1.0 - success


def expect_cost(probabilities: PairProbabilities, decoder: TopK) -> tuple[float, float]:
    """Return the expected queries and rounds: ties that lose may leave fewer candidates than k.

    Examples
    --------
    >>> from pairsim.oracles import Uniform
    >>> probabilities = Uniform(2, 0.9).probabilities()
    >>> expect_cost(probabilities, TopK(1, 3, ties="lose"))  # 6 queries of the poll, one for its winner
    (7.0, 2.0)
    """
    cost = decoder.cost(probabilities.n)
    if decoder.ties != "lose" or decoder.k == probabilities.n:
        return float(cost.queries), float(cost.rounds)
    counts = count_candidates(probabilities.matrix(), decoder, probabilities.uniform is not None)
    final = [
        c * (probabilities.n - 1) if decoder.final == "rescore" else c * (c - 1) // 2 for c in range(decoder.k + 1)
    ]
    polled = cost.queries - final[-1]
    # a final without a query is not waited for
    return polled + float(counts @ final), 1.0 + float(counts @ (np.array(final) > 0))


def count_candidates(probabilities: Floats, decoder: TopK, alike: bool) -> Floats:
    """Return the probabilities of 0 .. k candidates when ties lose."""
    n = probabilities.shape[0]
    sampled = sample_scores(n, sample_size(decoder.l, n))
    counts = np.zeros(decoder.k + 1)
    for with_true in ((), (0,)):
        for size in range(decoder.k - len(with_true)):
            for others, copies in alike_sets(n, size, alike):
                cut = make_cut(sampled, decoder.k, decoder.ties, with_true + others, alike)
                counts[size + len(with_true)] += copies * _leave_just(probabilities, cut)
    counts[-1] = 1.0 - counts[:-1].sum()
    return counts


def _leave_just(probabilities: Floats, cut: Cut) -> float:
    """Return the probability that the poll leaves just the candidates of `cut`."""
    n = probabilities.shape[0]
    order = range(1, n)
    first = labelled.first_states(probabilities, order)[..., None, None]
    losses = labelled.count_losses(n - 1)
    total = 0.0
    for part in split_lanes(cut, _chunk(n, cut)):
        leave = functools.partial(_leave, part, order, np.ones(n), 0)
        total += float(labelled.play_out(probabilities, order, first * part.start[n - 1 - losses], leave)[-1].sum())
    return total


def _chunk(n: int, cut: Cut) -> int:
    """Return how many lanes of a cut fit into one array of states."""
    return max(1, labelled.CHUNK // (labelled.peak_states(n) * int(cut.start.shape[1])))


def candidate_sets(n: int, decoder: TopK, alike: bool) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield the candidates besides class 0, and how many sets of candidates have the probabilities of this one."""
    # ties that lose may leave fewer candidates than k
    for size in range(0 if decoder.ties == "lose" else decoder.k - 1, decoder.k):
        yield from alike_sets(n, size, alike)


def alike_sets(n: int, size: int, alike: bool) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield sets of `size` of the classes 1 .. n-1: one for all where they are alike, else each on its own."""
    if alike:
        yield tuple(range(1, size + 1)), math.comb(n - 1, size)
    else:
        yield from ((others, 1) for others in itertools.combinations(range(1, n), size))


def win_with(probabilities: Floats, others: tuple[int, ...], cut: Cut, decoder: TopK) -> float:
    """Return the probability that class 0 and `others` are the candidates and that class 0 wins the final."""
    n = probabilities.shape[0]
    order = others + tuple(c for c in range(1, n) if c not in others)
    parts = split_lanes(cut, _chunk(n, cut))
    return math.fsum(_win_lanes(probabilities, order, len(others), part, decoder) for part in parts)


def _win_lanes(probabilities: Floats, order: tuple[int, ...], inside: int, cut: Cut, decoder: TopK) -> float:
    n = probabilities.shape[0]
    first = labelled.first_states(probabilities, order)
    losses = labelled.count_losses(n - 1)
    rescore = decoder.final == "rescore"
    games = n - 1 if rescore else inside
    lost = labelled.count_losses(n - 1, games)
    total = 0.0
    for score in range(games + 1):  # of class 0 in the final
        mass = (first * (lost == games - score))[..., None, None] * cut.start[n - 1 - losses]
        for x, share in zip(*draw_nodes(decoder.ties, inside), strict=True):
            cap = (np.arange(n) < score) + x * (np.arange(n) == score)
            leave = functools.partial(_leave, cut, order, cap if rescore else np.ones(n), inside)
            pause = None if rescore else functools.partial(_weigh, cap)
            left = labelled.play_out(probabilities, order, mass, leave, inside, pause)
            total += float(share * left[-1].sum())
    return total


def _weigh(cap: Floats, mass: Floats) -> Floats:
    """Give every state the weight `cap` of the wins on its first axis."""
    return mass * cap[: mass.shape[0]].reshape(-1, *(1,) * (mass.ndim - 1))


def _leave(cut: Cut, order: Sequence[int], cap: Floats, inside: int, place: int, mass: Floats) -> Floats:
    """Let the class at `place` leave: it stays on its side of the bar or steps on it, and a candidate passes `cap`."""
    passed = cap[:, None] if place < inside else 1.0
    flat = mass.reshape(mass.shape[0], -1, mass.shape[-1])
    kept: Floats = labelled.sum_scores(flat, cut.stay[order[place]] * passed).reshape(mass.shape[1:])
    step = cut.step[order[place]]
    if step is not None:
        stepped = labelled.sum_scores(flat, step * passed).reshape(mass.shape[1:])
        kept[..., 1:, :] += stepped[..., :-1, :]
        if cut.at_least:
            kept[..., -1, :] += stepped[..., -1, :]
    return kept


def top_k_work(n: int, decoder: TopK, alike: bool) -> float:
    """Return the work of `top_k` in units of the budget."""
    l = sample_size(decoder.l, n)
    sizes = range(0 if decoder.ties == "lose" else decoder.k - 1, decoder.k)
    scores = sum(
        (1 if alike else math.comb(n - 1, size)) * (n if decoder.final == "rescore" else size + 1) for size in sizes
    )
    lanes = count_cut_lanes(n, l, decoder.k, decoder.ties, alike) * count_nodes(decoder.ties, decoder.k - 1)
    # arrays that small are not worth their calls: each of the n^2 / 2 games of a lane costs some microseconds
    return table_work(n, l) + scores * lanes * (STEP * labelled.count_steps(n) + 100.0 * n * n)
