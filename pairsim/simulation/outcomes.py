"""What decoders did in some trials, one row each, until it is added up."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsim.kernels.differences import NUMBERS, compare_rows
from pairsim.kernels.outcomes import ALWAYS, BY_NAMES, BY_PROBABILITIES, NOT_KNOWN, add_up_outcomes
from pairsim.simulation.tally import BlockResult


class Outcomes(NamedTuple):
    """Where a conditional method writes what a decoder did in some trials, one number per trial but for the cost."""

    named: NDArray[np.int64]  # whom it predicts, -1 for nobody
    failed: NDArray[np.float64]  # the probability to fail
    agreed: NDArray[np.float64]  # the probability to predict what the reference predicts
    sure: NDArray[np.float64]  # the decoder's own probability to be right, for methods that are given what was asked
    cost: NDArray[np.float64]  # [queries, distinct, rounds] of all trials


class TrialOutcomes:
    """Whom decoders named, or their probabilities to fail, with costs in (queries, distinct, rounds).

    A decoder's failures are counted from whom it named, unless it is said that its row of `lost` has probabilities.
    """

    def __init__(self, decoders: int, truth: NDArray[np.int64]) -> None:
        self.truth = truth
        self.named = np.empty((decoders, len(truth)), np.int64)
        self.lost, self.agreed, self.sure = np.empty((3, decoders, len(truth)))
        self.costs = np.zeros((decoders, 3))
        self._counted = np.ones(decoders, np.bool_)
        self._agreeing = np.full(decoders, NOT_KNOWN, np.int64)

    def of(self, place: int) -> Outcomes:
        """Return where to write what a decoder did."""
        return Outcomes(self.named[place], self.lost[place], self.agreed[place], self.sure[place], self.costs[place])

    def note_names(self, place: int) -> None:
        """Note that a decoder's row says whom it named, as that of the reference does."""
        self._agreeing[place] = BY_NAMES

    def note_probabilities(self, place: int, agreed: bool) -> None:
        """Note that a decoder's row has its probabilities to fail, and whether another has those to agree."""
        self._counted[place] = False
        if agreed:
            self._agreeing[place] = BY_PROBABILITIES

    def note_reference(self, place: int) -> None:
        """Note that a decoder is the reference, and was not asked whom it names."""
        self._agreeing[place] = ALWAYS

    def add_up(self, reference: int, paired: bool) -> BlockResult:
        """Return what it comes to, agreements being those with the decoder at place `reference` (-1: with nobody).

        With `paired`, every two decoders are put side by side.
        """
        decoders = len(self.named)
        pairs = decoders * (decoders - 1) // 2 if paired else 0
        out = np.empty((decoders + pairs, NUMBERS))
        agreeing = self._agreeing if reference >= 0 else np.where(self._agreeing == BY_NAMES, NOT_KNOWN, self._agreeing)
        add_up_outcomes(self.named, self.truth, reference, self._counted, agreeing, self.lost, self.agreed, out)
        if pairs:
            compare_rows(self.lost, self._counted, out[decoders:])
        return BlockResult(len(self.truth), out, self.costs)
