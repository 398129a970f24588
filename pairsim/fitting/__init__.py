"""Fitting the random oracles to answers that a real model gave, and seeing how well they foretell its decoders."""

from __future__ import annotations

from pairsim.fitting.compare import fit_oracles
from pairsim.fitting.models import fit_ranked, fit_similarity, fit_uniform
from pairsim.fitting.result import ModelFit, OracleFits
from pairsim.fitting.traits import Traits, traits_of

__all__ = [
    "ModelFit",
    "OracleFits",
    "Traits",
    "fit_oracles",
    "fit_ranked",
    "fit_similarity",
    "fit_uniform",
    "traits_of",
]
