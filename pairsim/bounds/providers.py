"""What bounds there are: proofs by the exact type of the decoder, entered by the files of this folder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from pairsim.oracles import PairProbabilities
from pairsim.registries import ByType


class Proof(NamedTuple):
    """A proven interval of the failure probability, and the argument in one line."""

    failure_low: float
    failure_high: float
    how: str


BOUNDS: ByType[Callable[[PairProbabilities, Any], Proof]] = ByType()
"""By decoder: (probabilities of independent pairs, decoder) to its `Proof`."""
