"""Trials whose tournaments are scored: what is known of them, computed when it is first asked for."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsim.kernels.bits import U_LANES
from pairsim.kernels.eliminations import deal_trials
from pairsim.kernels.rival_counts import RivalCounts, count_rivals
from pairsim.kernels.slabs import Slab, play_class_zero, play_slab
from pairsim.kernels.stream import TRIALS_PER_WORD
from pairsim.kernels.top_scores import top_two, unpack_scores
from pairsim.oracles import Oracle
from pairsim.simulation.workspace import Workspace

NOBODY: NDArray[np.int64] = np.empty(0, np.int64)


class WrongGames:
    """The games among the wrong classes in a slab of trials: what oracles that differ in p have in common."""

    def __init__(self, oracle: Oracle, stream: np.uint64, first: int, count: int, workspace: Workspace) -> None:
        self.n, self.stream, self.first, self.count, self.workspace = oracle.n, stream, first, count, workspace
        self._kept: dict[Hashable, Any] = {}
        word = first // TRIALS_PER_WORD
        play_slab(oracle.kernel(), self.n, 1, stream, word, workspace.others, U_LANES)

    def kept(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return what `make` makes, made once for all oracles."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    @functools.cached_property
    def top(self) -> NDArray[np.int64]:
        """Three numbers per trial: the wrong classes' top score, how many have it, how many have one less."""
        heights, at_top, below_top = self.workspace.top_two
        top_two(self.workspace.others, self.n, *self.workspace.tops, heights, at_top, below_top)
        return self.workspace.top_two

    @functools.cached_property
    def orders(self) -> NDArray[np.int32]:
        """A random order of the classes in each trial, one in a row: that of the decoders' own draws."""
        orders = self.workspace.orders[: self.count]
        deal_trials(self.n, self.stream, self.first, orders)
        return orders


class Trials:
    """Some trials on one oracle, as a conditional method sees them.

    Attributes
    ----------
    oracle, n, stream, first, count
        The oracle, its number of classes, the root of the random stream, and the range of trials.
    truth : array of int64
        The true class of each trial.
    reference : array of int64
        Whom the reference predicted in each trial; empty where nothing is compared with it.
    """

    reference: NDArray[np.int64] = NOBODY

    def __init__(self, oracle: Oracle, stream: np.uint64, first: int, truth: NDArray[np.int64]) -> None:
        self.oracle, self.n, self.stream = oracle, oracle.n, stream
        self.first, self.count, self.truth = first, len(truth), truth

    @property
    def scores(self) -> NDArray[np.uint16]:
        """How many others each class beats: [class, trial]; there may be room for more trials behind them."""
        raise NotImplementedError

    @property
    def wrong_games(self) -> WrongGames:
        """The games among the wrong classes."""
        raise NotImplementedError

    @functools.cached_property
    def rivals(self) -> RivalCounts:
        """How many rivals of the true class have each score, four trials side by side."""
        found: RivalCounts = count_rivals(self.scores, self.truth)
        return found


class SlabTrials(Trials):
    """Trials of a slab that is simulated now, in a workspace."""

    def __init__(
        self,
        oracle: Oracle,
        stream: np.uint64,
        first: int,
        truth: NDArray[np.int64],
        workspace: Workspace,
        wrong_games: WrongGames | None,
    ) -> None:
        super().__init__(oracle, stream, first, truth)
        self.workspace = workspace
        self._wrong_games = wrong_games

    @property
    def has_wrong_games(self) -> bool:
        """Whether the games among the wrong classes are played on their own."""
        return self._wrong_games is not None

    @property
    def wrong_games(self) -> WrongGames:
        """The games among the wrong classes."""
        assert self._wrong_games is not None  # the simulator plays them for methods that are given them
        return self._wrong_games

    @functools.cached_property
    def full(self) -> Slab:
        """All games, as bit-sliced counters."""
        kernel, workspace, word = self.oracle.kernel(), self.workspace, self.first // TRIALS_PER_WORD
        if self._wrong_games is None:
            play_slab(kernel, self.n, 0, self.stream, word, workspace.full, U_LANES)
        else:
            play_class_zero(
                kernel, self.n, self.stream, word, workspace.others, workspace.full, workspace.answers, U_LANES
            )
        return workspace.full

    @property
    def answers(self) -> NDArray[np.uint64]:
        """Class 0's answers, a bit per trial, where the games among the wrong classes are played on their own."""
        assert self.full is not None
        return self.workspace.answers

    @functools.cached_property
    def scores(self) -> NDArray[np.uint16]:
        """How many others each class beats: [class, trial], for all trials of a slab."""
        unpack_scores(self.full, self.n, self.workspace.scores)
        return self.workspace.scores
