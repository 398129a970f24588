"""Expected products of weights on the scores, under any probabilities: every class has its own axis.

Classes leave one by one, as in `exchangeable`, but a state is the number of wins of each class still in. The array of
all states has one axis a class, the next to leave first, and a last axis of lanes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from pairsim.exact_values.lanes import Lanes
from pairsim.kernels.jit import jit

Floats = NDArray[np.float64]

CHUNK = 1 << 22  # numbers in one array of states: 32 MB


@jit
def play_game(mass: Floats, probability: float) -> Floats:
    """Return the states after a game that the first axis wins with `probability`, else the third: one is longer."""
    wins, before, rivals, behind = mass.shape
    after = np.zeros((wins + 1, before, rivals + 1, behind))
    for w in range(wins):
        for i in range(before):
            for r in range(rivals):
                for j in range(behind):
                    after[w + 1, i, r, j] += probability * mass[w, i, r, j]
                    after[w, i, r + 1, j] += (1.0 - probability) * mass[w, i, r, j]
    return after


@jit
def sum_scores(mass: Floats, weights: Floats) -> Floats:
    """Return the sum over the first axis of mass[score, state, lane] * weights[score, lane]."""
    scores, states, lanes = mass.shape
    total = np.zeros((states, lanes))
    for w in range(scores):
        for i in range(states):
            for lane in range(lanes):
                total[i, lane] += mass[w, i, lane] * weights[w, lane]
    return total


def meet(mass: Floats, axis: int, probability: float) -> Floats:
    """Play the class of the first axis against the class of `axis`."""
    shape = mass.shape
    before = int(np.prod(shape[1:axis]))
    after: Floats = play_game(mass.reshape(shape[0], before, shape[axis], -1), probability)
    return after.reshape(shape[0] + 1, *shape[1:axis], shape[axis] + 1, *shape[axis + 1 :])


def first_states(probabilities: Floats, order: Sequence[int]) -> Floats:
    """Return the probabilities of who beats class 0: one axis for each class of `order`, with 0 or 1 wins."""
    mass = np.ones(())
    for c in order:
        mass = mass[..., None] * np.array([probabilities[0, c], probabilities[c, 0]])
    return mass


def count_losses(size: int, counted: int | None = None) -> NDArray[np.int64]:
    """Return the wins over class 0 in each of the states of `first_states`: of all classes, or the first `counted`."""
    return np.asarray(np.indices((2,) * size, np.int64)[:counted].sum(axis=0))


def play_out(
    probabilities: Floats,
    order: Sequence[int],
    mass: Floats,
    leave: Callable[[int, Floats], Floats],
    inside: int = 0,
    pause: Callable[[Floats], Floats] | None = None,
) -> Floats:
    """Let the classes of `order` play each other and leave; return what is left of `mass`, its lanes.

    leave(place, mass) weighs the class at `place` of the order, whose score is now the index of the first axis, and
    removes that axis. pause(mass) may weigh the wins of each of the first `inside` classes among themselves.
    """
    size = len(order)
    for place, c in enumerate(order):
        for rival in range(place + 1, inside):
            mass = meet(mass, rival - place, probabilities[c, order[rival]])
        if pause is not None and place < inside:
            mass = pause(mass)
        for rival in range(max(place + 1, inside), size):
            mass = meet(mass, rival - place, probabilities[c, order[rival]])
        mass = leave(place, mass)
    return mass


def expect_products(probabilities: Floats, lanes: Lanes) -> tuple[float, float]:
    """Return the summed lanes: the expected product of `keep` over the scores of classes 1 .. n-1, and the rest."""
    size = max(1, CHUNK // peak_states(probabilities.shape[0]))
    parts = [
        _expect_some(probabilities, Lanes(*(np.ascontiguousarray(table[:, begin : begin + size]) for table in lanes)))
        for begin in range(0, lanes.keep.shape[1], size)
    ]
    return math.fsum(part[0] for part in parts), math.fsum(part[1] for part in parts)


def _expect_some(probabilities: Floats, lanes: Lanes) -> tuple[float, float]:
    order = range(1, probabilities.shape[0])
    dropped: list[float] = []

    def leave(place: int, mass: Floats) -> Floats:
        flat = mass.reshape(mass.shape[0], -1, mass.shape[-1])
        dropped.append(float(sum_scores(flat, lanes.drop).sum()))
        kept: Floats = sum_scores(flat, lanes.keep)
        return kept.reshape(mass.shape[1:])

    first = first_states(probabilities, order)[..., None] * lanes.start[count_losses(len(order))]
    return float(play_out(probabilities, order, first, leave).sum()), math.fsum(dropped)


def count_steps(n: int) -> int:
    """Return how many numbers are written for one lane, over all games."""
    return sum((n - rivals + k) * (n - rivals + 1) ** k * (n - rivals) ** (rivals - k) for rivals, k in _games(n))


def peak_states(n: int) -> int:
    """Return the size of the largest array of states for one lane."""
    return max(
        ((n - rivals + k) * (n - rivals + 1) ** k * (n - rivals) ** (rivals - k) for rivals, k in _games(n)), default=2
    )


def _games(n: int) -> list[tuple[int, int]]:
    """List the games as (rivals of the class that leaves, rivals already met)."""
    return [(rivals, k) for rivals in range(n - 2, 0, -1) for k in range(1, rivals + 1)]
