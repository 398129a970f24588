"""Buffers for one slab of trials: made once and reused."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from pairsim.kernels.bits import LANES, SLAB_TRIALS
from pairsim.kernels.slabs import Slab, new_slab
from pairsim.kernels.top_scores import score_slices
from pairsim.simulation.workspace_pool import WorkspacePool

Words = NDArray[np.uint64]
Numbers = NDArray[np.int64]


class Workspace:
    """Arrays for n classes; nothing is expected in them, and what is not wanted is not made."""

    def __init__(self, n: int) -> None:
        self.n = n

    @functools.cached_property
    def others(self) -> Slab:
        """The games among classes 1 .. n - 1."""
        slab: Slab = new_slab(self.n)
        return slab

    @functools.cached_property
    def full(self) -> Slab:
        """All games."""
        slab: Slab = new_slab(self.n)
        return slab

    @functools.cached_property
    def answers(self) -> Words:
        """Class 0's answers [word, class]: a power of two of classes, as some are read that do not matter."""
        return np.zeros((LANES, 1 << (self.n - 1).bit_length()), np.uint64)

    @functools.cached_property
    def orders(self) -> NDArray[np.int32]:
        """Random orders of the classes, one per trial."""
        return np.empty((SLAB_TRIALS, self.n), np.int32)

    @functools.cached_property
    def scores(self) -> NDArray[np.uint16]:
        """Plain scores [class, trial]."""
        return np.empty((self.n, SLAB_TRIALS), np.uint16)

    @functools.cached_property
    def tops(self) -> tuple[Words, Words]:
        """Which classes have the highest score, and that score."""
        return np.empty((self.n, LANES), np.uint64), np.empty((score_slices(self.n), LANES), np.uint64)

    @functools.cached_property
    def ties(self) -> tuple[Numbers, Words]:
        """How many classes have the highest score, and where there are several."""
        return np.empty(SLAB_TRIALS, np.int64), np.empty(LANES, np.uint64)

    @functools.cached_property
    def winners(self) -> Numbers:
        """One class per trial."""
        return np.empty(SLAB_TRIALS, np.int64)

    @functools.cached_property
    def top_two(self) -> Numbers:
        """Three numbers per trial: the others' top score, how many have it, how many have one less."""
        return np.empty((3, SLAB_TRIALS), np.int64)


WORKSPACES = WorkspacePool(Workspace)
