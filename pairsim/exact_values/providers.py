"""What exact values there are: calculations by the exact type of the decoder, entered by the files of this folder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsim.oracles import PairProbabilities, Recorded
from pairsim.registries import ByType


class Solution(NamedTuple):
    """An exact success probability, and the failure, computed on its own so that a tiny one keeps its digits.

    `how` is the method in a few words. `cost` is (queries, rounds) where these are not those of `Decoder.cost`.
    """

    success: float
    failure: float
    how: str
    cost: tuple[float, float] | None = None


EXACT: ByType[Callable[[PairProbabilities, Any], Solution]] = ByType()
"""By decoder: (probabilities of independent pairs, decoder) to `Solution`; `ExactUnavailable` for too many classes."""

EXACT_ROWS: ByType[Callable[[Recorded, Any], NDArray[np.float64]]] = ByType()
"""By decoder: (recorded answers, decoder) to the probability of success in each row, over its own draws."""


def listed(registry: ByType[Any]) -> str:
    """Return the decoders of a registry as an enumeration for messages."""
    names = [kind.__name__ for kind in registry]
    return ", ".join(names[:-1]) + f" or {names[-1]}"
