"""ddag and adag under any probabilities when the classes stand in the given order 0, 1, ..., n-1.

No pair is asked twice, so the answers of one decision are independent of each other.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsim.kernels.jit import jit
from pairsim.kernels.protocol import probability
from pairsim.oracles import PairProbabilities

MOST_CLASSES = 60_000  # n^2 / 2 joined pairs: some seconds


class Bracket(NamedTuple):
    """A part of the knock-out: the classes in it, and the probability of each to come out of it."""

    classes: NDArray[np.int64]
    held: NDArray[np.float64]


def ddag_given_order(probabilities: PairProbabilities) -> tuple[float, float]:
    """Return success and failure of ddag: class 0 stands at the end of the list and plays everyone, until it loses.

    Examples
    --------
    >>> from pairsim.oracles import Similarity
    >>> ddag_given_order(Similarity([0.5, 0.5, 0.0]).probabilities())
    (0.5, 0.5)
    """
    row = probabilities.first_row
    failure = -math.expm1(math.fsum(np.log(row))) if row.min() > 0.0 else 1.0
    return float(np.prod(row)), failure


def adag_given_order(probabilities: PairProbabilities) -> tuple[float, float]:
    """Return success and failure of adag, from the distribution of the winner of every bracket without class 0.

    Examples
    --------
    >>> from pairsim.oracles import Matrix
    >>> adag_given_order(Matrix([[0.5, 0.5, 1.0], [0.5, 0.5, 1.0], [0.0, 0.0, 0.5]]).probabilities())
    (0.5, 0.5)
    """
    kernel = probabilities.kernel()
    row = probabilities.first_row
    alone = [Bracket(np.array([c]), np.ones(1)) for c in range(1, probabilities.n)]
    success, failure = 1.0, 0.0
    while alone:  # class 0 is always first of the list, and plays the last; `alone` is the rest of the list
        rival = alone.pop()
        wins = row[rival.classes - 1]
        failure += success * float(rival.held @ (1.0 - wins))
        success *= float(rival.held @ wins)
        pairs = [join(kernel, alone[k], alone[-1 - k]) for k in range(len(alone) // 2)]
        middle = [alone[len(alone) // 2]] if len(alone) % 2 else []
        alone = pairs + middle
    return success, failure


def join(kernel: Any, first: Bracket, second: Bracket) -> Bracket:
    """Play the winners of two brackets against each other."""
    held = join_held(kernel, first.classes, first.held, second.classes, second.held)
    return Bracket(np.concatenate((first.classes, second.classes)), held)


@jit
def join_held(
    oracle: Any,
    first: NDArray[np.int64],
    held_first: NDArray[np.float64],
    second: NDArray[np.int64],
    held_second: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the winner's probabilities over both brackets' classes, in their order."""
    size = first.size
    held = np.zeros(size + second.size)
    for a in range(size):
        i = first[a]
        for b in range(second.size):
            j = second[b]
            # an oracle is asked for i < j only: the other probability is its complement, as in the simulator
            wins = probability(oracle, i, j) if i < j else 1.0 - probability(oracle, j, i)  # type: ignore[no-untyped-call]
            held[a] += wins * held_second[b]
            held[size + b] += (1.0 - wins) * held_first[a]
        held[a] *= held_first[a]
    for b in range(second.size):
        held[size + b] *= held_second[b]
    return held
