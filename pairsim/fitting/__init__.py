"""Fitting the random oracles to answers that a real model gave, and judging how well they predict its decoders."""

from __future__ import annotations

from pairsim.fitting.compare import fit_oracles
from pairsim.fitting.folds import Judged
from pairsim.fitting.models import fit_ranked, fit_similarity, fit_uniform
from pairsim.fitting.observed import Observed
from pairsim.fitting.parameters import Parameter
from pairsim.fitting.result import ModelFit, OracleFits
from pairsim.fitting.traits import Traits, traits_of

__all__ = [
    "Judged",
    "ModelFit",
    "Observed",
    "OracleFits",
    "Parameter",
    "Traits",
    "fit_oracles",
    "fit_ranked",
    "fit_similarity",
    "fit_uniform",
    "traits_of",
]
