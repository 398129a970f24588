"""Oracles whose class numbers count, and tournaments in which the true class stands at any place.

`Uniform` and `Ranked` say nothing by their class numbers, so `ties=first` and `order=given` act on them as after a
random relabelling. A test that means "class 0 is the true one, and the rule reads numbers" uses these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pairsim import Matrix, Recorded, Uniform

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pairsim import Decoder, Oracle


def told_apart(oracle: Oracle, decoder: Decoder) -> Oracle:
    """Return the oracle; a uniform one as the matrix with the same answers where the decoder reads class numbers."""
    return Matrix(oracle.matrix()) if isinstance(oracle, Uniform) and decoder.reads_labels else oracle


def with_truth_at(oracle: Oracle, places: NDArray[np.int64], seed: int, dice_seed: int) -> Recorded:
    """Record len(places) tournaments; then number their classes at random, the true one of row t as places[t]."""
    n, rows = oracle.n, len(places)
    recorded = Recorded.of(oracle, rows, seed)
    low, high = np.triu_indices(n, 1)
    beats = np.zeros((rows, n, n), np.bool_)
    beats[:, low, high] = recorded.answers()
    beats[:, high, low] = ~beats[:, low, high]
    numbers = np.random.default_rng(dice_seed).permuted(np.tile(np.arange(n), (rows, 1)), axis=1)
    row, truth = np.arange(rows), recorded.truth(0, rows)
    # the true class changes numbers with the class that had drawn its place
    had_it = np.argmax(numbers == places[:, None], axis=1)
    numbers[row, had_it], numbers[row, truth] = numbers[row, truth], places
    classes = np.argsort(numbers, axis=1)
    renumbered = beats[row[:, None, None], classes[:, :, None], classes[:, None, :]]
    return Recorded(renumbered[:, low, high], places)
