"""What decoders did in some trials, one row each, until it is added up."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pairsim.kernels.outcomes import ALWAYS, BY_CHANCES, BY_NAMES, NOT_KNOWN, NUMBERS, add_up_outcomes
from pairsim.simulation.tally import Played, Tally
from pairsim.simulation.versus import NO_VERSUS, side_by_side
from pairsim.stats import Moments


class Sheet:
    """Whom decoders named, or their chances to fail, with prices in (queries, distinct, rounds).

    A decoder's failures are counted from whom it named, unless it is said that its row of `lost` has chances.
    """

    def __init__(self, decoders: int, truth: NDArray[np.int64]) -> None:
        self.truth = truth
        self.named = np.empty((decoders, len(truth)), np.int64)
        self.lost, self.agreed = np.empty((2, decoders, len(truth)))
        self.prices = np.zeros((decoders, 3))
        self._counted = np.ones(decoders, np.bool_)
        self._agreeing = np.full(decoders, NOT_KNOWN, np.int64)

    def note_names(self, place: int) -> None:
        """Note that a decoder's row says whom it named, as that of the reference does."""
        self._agreeing[place] = BY_NAMES

    def note_chances(self, place: int, agreed: bool) -> None:
        """Note that a decoder's row has its chances to fail, and whether another has those to agree."""
        self._counted[place] = False
        if agreed:
            self._agreeing[place] = BY_CHANCES

    def note_reference(self, place: int) -> None:
        """Note that a decoder is the reference, and was not asked whom it names."""
        self._agreeing[place] = ALWAYS

    def add_up(self, reference: int, paired: bool) -> Played:
        """Return the tallies, the agreements being those with the decoder at place `reference` (-1: with nobody)."""
        out = np.empty((len(self.named), NUMBERS))
        agreeing = self._agreeing if reference >= 0 else np.where(self._agreeing == BY_NAMES, NOT_KNOWN, self._agreeing)
        add_up_outcomes(self.named, self.truth, reference, self._counted, agreeing, self.lost, self.agreed, out)
        trials = len(self.truth)
        tallies = []
        for counted, numbers, prices in zip(self._counted.tolist(), out.tolist(), self.prices.tolist(), strict=True):
            failed, agreements, mean, second, third = numbers
            smooth = None if counted else Moments(trials, mean, second, third)
            known = math.nan if math.isnan(agreements) else agreements  # one nan for all, so that tallies compare
            tallies.append(Tally(trials, int(failed), smooth, known, *prices))
        return Played(tuple(tallies), side_by_side(self.lost, self._counted) if paired else NO_VERSUS)
