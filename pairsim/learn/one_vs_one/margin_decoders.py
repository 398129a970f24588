"""Decoders that look at all margins, not only at who won: the couplings, sums of margins, and max-win with such ties.

They ask every pair in one round, and have no place among the decoders of 0/1 answers, which know no margins.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsim.coupling import (
    break_ties,
    hastie_tibshirani,
    non_dominance,
    pkpd,
    probabilities_of,
    vote_scores,
    weighted_vote,
    wu_lin_weng,
)
from pairsim.learn.one_vs_one.prediction import RowCosts
from pairsim.models import PairModel
from pairsim.models.base import count_rows

Numbers = NDArray[np.float64]
TIES_BY_MARGINS = ("margin", "head-to-head")


class Link(NamedTuple):
    """From margins to probabilities: 1 / (1 + exp(A * margin + B)), numbers for all pairs or one per pair."""

    A: Any = -1.0
    B: Any = 0.0

    def probabilities(self, margins: Numbers) -> Numbers:
        """Return the probability of the lower class of each pair."""
        return probabilities_of(margins, self.A, self.B)


Coupling = Callable[[Numbers, int], Numbers]
COUPLINGS: dict[str, Coupling] = {
    "wu-lin-weng": wu_lin_weng,
    "hastie-tibshirani": hastie_tibshirani,
    "pkpd": pkpd,
}


@dataclasses.dataclass(frozen=True)
class MarginDecoder:
    """Names the class with the highest of some scores, the first of equals.

    Attributes
    ----------
    spec : str
        Its name.
    takes_probabilities : bool
        Whether `of` takes pairwise probabilities (else margins), so that their link should be calibrated.
    """

    spec: str
    takes_probabilities: bool
    of: Coupling

    def scores(self, margins: Numbers, n: int, link: Link) -> Numbers:
        """Return a score for each class in each row."""
        return self.of(link.probabilities(margins) if self.takes_probabilities else margins, n)


def _max_win_scores(rule: str) -> Coupling:
    def scores(margins: Numbers, n: int) -> Numbers:
        votes = vote_scores(margins, n)
        winners = break_ties(votes, margins, n, rule)  # type: ignore[arg-type]
        return class_scores(margins, n, winners)

    return scores


def class_scores(margins: Numbers, n: int, winners: NDArray[np.int64]) -> Numbers:
    """Return votes / (n - 1), plus less than half a vote from the summed margins, plus one for the named class."""
    sums = weighted_vote(margins, n)
    scores = (vote_scores(margins, n) + sums / (3.0 * (np.abs(sums) + 1.0))) / (n - 1)
    scores[np.arange(len(scores)), winners] += 1.0
    return np.asarray(scores)


MARGIN_DECODERS = {
    decoder.spec: decoder
    for decoder in (
        *(MarginDecoder(name, True, coupling) for name, coupling in COUPLINGS.items()),
        MarginDecoder("non-dominance", True, non_dominance),
        MarginDecoder("weighted-vote", False, weighted_vote),
        *(MarginDecoder(f"max-win:ties={rule}", False, _max_win_scores(rule)) for rule in TIES_BY_MARGINS),
    )
}


def score_all(model: PairModel, X: Any, score: Callable[[Numbers], Numbers]) -> Numbers:
    """Return what `score` makes of the margins of all pairs, row by row; margins are held for some rows at a time."""
    return np.concatenate([score(margins) for _, margins in model._pieces(model._check(X))])


def put_on_top(probabilities: Numbers, winners: NDArray[np.int64]) -> None:
    """Exchange, in place, the highest probability of each row with that of the predicted class where they differ."""
    rows = np.flatnonzero(probabilities.argmax(axis=1) != winners)
    named, top = winners[rows], probabilities[rows].argmax(axis=1)
    low, high = probabilities[rows, named], probabilities[rows, top]
    probabilities[rows, top] = low
    probabilities[rows, named] = np.where(
        low == high, np.nextafter(high, 2.0), high
    )  # of equals the first would be on top


def name_by_margins(model: PairModel, decoder: MarginDecoder, X: Any, link: Link) -> tuple[NDArray[np.int64], RowCosts]:
    """Return the number of the class that the decoder names for each row, and what each decision cost."""
    winners = score_all(model, X, lambda margins: decoder.scores(margins, model.n, link)).argmax(axis=1)
    every = np.full(count_rows(winners), model.pairs)
    return winners, RowCosts(every, every.copy(), np.ones_like(every))
