"""max-win and poll: exact sums over the scores of all tournaments."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pairsim.decoders import MaxWin, Poll
from pairsim.decoders.sample_size import sample_size
from pairsim.exact_values import exchangeable, labelled
from pairsim.exact_values.budget import check_work
from pairsim.exact_values.lanes import (
    Lanes,
    count_nodes,
    lose_games,
    max_win_lanes,
    most_ties,
    poll_lanes,
    possible_losses,
)
from pairsim.exact_values.providers import EXACT, Solution
from pairsim.oracles import PairProbabilities

Floats = NDArray[np.float64]

OVER_SCORES = "dynamic programming over scores"
STEP = 8  # an addition of two states costs as much as this many lanes before its first lane
PRUNED = 0.65  # about the share of max-win states that are neither safe nor hopeless
LABELLED_STEP = 9  # units of work to write a number of a labelled state: to memory, not to a row in the cache


@EXACT.register(MaxWin)
def max_win(probabilities: PairProbabilities, decoder: MaxWin) -> Solution:
    """Return success and failure of max-win.

    Examples
    --------
    >>> from pairsim.oracles import Uniform
    >>> success, failure, *_ = max_win(Uniform(16, 0.9).probabilities(), MaxWin())
    >>> round(success, 12), round(failure, 12)
    (0.957411359063, 0.042588640937)
    """
    p = probabilities.uniform
    check_work(
        decoder.spec, probabilities.label, probabilities.n, lambda n: max_win_work(n, decoder.ties, p is not None)
    )
    if p is not None:
        return Solution(*max_win_exchangeable(probabilities.n, p, decoder.ties), OVER_SCORES)
    return Solution(*max_win_labelled(probabilities.matrix(), decoder.ties), OVER_SCORES)


def max_win_exchangeable(n: int, p: float, ties: str) -> tuple[float, float]:
    """Return success and failure of max-win under uniform-p, one number of losses of class 0 after the other."""
    probabilities = lose_games(n, p)
    success = failure = 0.0
    for losses in possible_losses(n):
        if probabilities[losses] > 0.0:
            start, keep, drop = max_win_lanes(n, losses, ties)
            # a class with losses + 1 losses is strictly below class 0, whatever it does next: it is safe
            parts = exchangeable.expect_products(
                n, losses + 1, n - 1 - losses, probabilities[losses] * start, keep, drop
            )
            success += float(parts[0].sum())
            failure += float(parts[1].sum())
    return success, failure + float(probabilities[len(possible_losses(n)) :].sum())


def max_win_labelled(probabilities: Floats, ties: str) -> tuple[float, float]:
    """Return success and failure of max-win under any probabilities."""
    n = probabilities.shape[0]
    each = [max_win_lanes(n, losses, ties) for losses in possible_losses(n)]
    lanes = Lanes(*(np.concatenate(tables, axis=1) for tables in zip(*each, strict=True)))
    success, failure = labelled.expect_products(probabilities, lanes)
    hopeless = labelled.count_losses(n - 1) >= len(possible_losses(n))
    return success, failure + float(labelled.first_states(probabilities, range(1, n))[hopeless].sum())


@EXACT.register(Poll)
def poll(probabilities: PairProbabilities, decoder: Poll) -> Solution:
    """Return success and failure of poll.

    Examples
    --------
    >>> from pairsim.oracles import Uniform
    >>> success, failure, *_ = poll(Uniform(16, 0.9).probabilities(), Poll("5log", ties="lose"))
    >>> round(success, 12), round(failure, 12)
    (0.808839051095, 0.191160948905)
    """
    n, p = probabilities.n, probabilities.uniform
    check_work(decoder.spec, probabilities.label, n, lambda n: poll_work(n, decoder, p is not None))
    l = sample_size(decoder.l, n)
    if p is not None:
        return Solution(*poll_exchangeable(n, p, l, decoder.ties), OVER_SCORES)
    return Solution(*labelled.expect_products(probabilities.matrix(), poll_lanes(n, l, decoder.ties)), OVER_SCORES)


def poll_exchangeable(n: int, p: float, l: int, ties: str) -> tuple[float, float]:
    """Return success and failure of poll under uniform-p."""
    start, keep, drop = poll_lanes(n, l, ties)
    success, failure = exchangeable.expect_products(n, n, -1, lose_games(n, p)[:, None] * start, keep, drop)
    return float(success.sum()), float(failure.sum())


def max_win_work(n: int, ties: str, alike: bool) -> float:
    """Return the work of `max_win` in units of the budget."""
    nodes = {losses: count_nodes(ties, most_ties(n, losses)) for losses in possible_losses(n)}
    if not alike:
        return float(LABELLED_STEP * labelled.count_steps(n) * sum(nodes.values()))
    return PRUNED * sum(exchangeable.count_steps(n, b + 1) * (STEP + lanes) for b, lanes in nodes.items())


def poll_work(n: int, decoder: Poll, alike: bool) -> float:
    """Return the work of `poll` in units of the budget."""
    l = sample_size(decoder.l, n)
    lanes = (l + 1) * count_nodes(decoder.ties, n - 1)
    if not alike:
        return table_work(n, l) + float(LABELLED_STEP * labelled.count_steps(n) * lanes)
    return table_work(n, l) + float(exchangeable.count_steps(n, n) * (STEP + lanes))


def table_work(n: int, l: int) -> float:
    """Return the work of `sample_scores`: n l integers of l log2 n bits, in words, and some for each of them."""
    return n * l * (1000.0 + l * math.log2(n) / 16.0)
