"""The cut of top-k: the probability, given all scores, that a poll leaves just one set of candidates.

The bar is the lowest sampled score that is still a candidate's. For a fixed bar the probability is a product over the
classes, but for one condition that counts: some class must stand *at* the bar. So every class either stays (clearly on
its side of the bar) or steps (stands at it), and the steps are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsim.exact_values.lanes import Sampled, count_nodes, draw_nodes

Floats = NDArray[np.float64]


class Cut(NamedTuple):
    """Weights by full score and lane: of class 0 by steps taken, of each other class for staying and for stepping."""

    start: Floats  # [score, steps, lane]; what counts is the last number of steps
    stay: list[Floats]  # by class: [score, lane]
    step: list[Floats | None]  # None where the class cannot step
    at_least: bool  # further steps are allowed once the last number is reached


def make_cut(sampled: Sampled, k: int, ties: str, candidates: Sequence[int], alike: bool) -> Cut:
    """Return the cut that leaves the `candidates`; `alike` says that the classes but class 0 are exchangeable.

    Class 0 must be one of them, but for ties that lose.

    Examples
    --------
    >>> from pairsim.exact_values.lanes import sample_scores
    >>> cut = make_cut(sample_scores(2, 3), 1, "lose", [0], False)  # class 0 alone, with score 1 against 0
    >>> float((cut.start[1, -1] * cut.stay[1][0]).sum())
    1.0
    """
    inside = np.isin(np.arange(sampled.at.shape[0]), candidates)
    if ties == "lose":
        return _losing_cut(sampled, k - len(candidates), inside)
    if ties == "first" and not alike:
        return _first_cut(sampled, candidates, inside)
    return _drawn_cut(sampled, inside, ties == "first")


def split_lanes(cut: Cut, size: int) -> Iterator[Cut]:
    """Yield the cut in parts of at most `size` lanes."""
    for begin in range(0, cut.start.shape[2], size):
        part = slice(begin, begin + size)
        yield Cut(
            cut.start[..., part],
            [stay[:, part] for stay in cut.stay],
            [None if step is None else step[:, part] for step in cut.step],
            cut.at_least,
        )


def count_cut_lanes(n: int, l: int, k: int, ties: str, alike: bool) -> int:
    """Return the lanes of one cut, each number of steps counted."""
    if ties == "lose":
        return (l + 1) * (k + 1)
    if ties == "first" and not alike:
        return (l + 1) * k
    return (l + 1) * (count_nodes("random", n - 1) + (ties == "first")) * 2


def _drawn_cut(sampled: Sampled, inside: NDArray[np.bool_], true_first: bool) -> Cut:
    """Return the cut where tied classes are in random order, as if each had a number u in [0, 1] behind its score.

    Exactly one candidate has the lowest score and u: the one that steps; u is integrated out. When ties go to the
    lowest class number, class 0 is above all that tie with it, and the others, being alike, are in random order.
    """
    u, share = draw_nodes("random", inside.size - 1)
    if true_first:
        u, share = np.append(u, 1.0), np.append(share, 1.0)  # the lane u = 1: class 0 itself is the lowest candidate
    below, at, above = (table[:, :, None] for table in sampled)
    up = _flat(above + (1.0 - u) * at)
    down = _flat(below + u * at)
    at_bar = _flat(at + 0.0 * u)
    stays, steps = _flat(share * (above + (1.0 - u) * at)), _flat(share * at)
    if true_first:
        last = np.tile(u == 1.0, sampled.at.shape[1])
        stays, steps = np.where(last, 0.0, _flat(share * (above + at))), np.where(last, at_bar, 0.0)
    return Cut(
        np.stack((stays, steps), axis=1),
        [up if c else down for c in inside],
        [at_bar if c else None for c in inside],
        at_least=False,
    )


def _first_cut(sampled: Sampled, candidates: Sequence[int], inside: NDArray[np.bool_]) -> Cut:
    """Return the cut where ties go to the lowest class number: one lane for each bar and last candidate at it."""
    below, at, above = sampled
    stay = []
    for c in range(inside.size):
        lanes = []
        for last in candidates:
            if c == last:
                lanes.append(at)
            elif inside[c]:
                lanes.append(above + at if c < last else above)
            else:
                lanes.append(below if c < last else below + at)
        stay.append(np.concatenate(lanes, axis=1))
    return Cut(stay[0][:, None], stay, [None] * inside.size, at_least=False)


def _losing_cut(sampled: Sampled, vacant: int, inside: NDArray[np.bool_]) -> Cut:
    """Return the cut where classes that tie for too few places are all left out, with `vacant` places not taken.

    With no vacancy at least one candidate stands at the bar and nobody else does; else the candidates are above the
    bar, and more classes than there are vacancies stand at it.
    """
    below, at, above = sampled
    wanted = vacant + 1 if vacant else 1
    start = np.zeros((at.shape[0], wanted + 1, at.shape[1]))
    stay = [above if c else below for c in inside]
    step = [at if bool(c) == (not vacant) else None for c in inside]
    start[:, 0] = stay[0]
    if step[0] is not None:
        start[:, 1] = step[0]
    return Cut(start, stay, step, at_least=True)


def _flat(table: Floats) -> Floats:
    return np.ascontiguousarray(table.reshape(table.shape[0], -1))
