"""The oracles, one file each, and the registry that the command line and the laws read."""

from __future__ import annotations

import importlib

from pairsim.oracles.base import Oracle
from pairsim.oracles.matrix import Matrix
from pairsim.oracles.ranked import Ranked
from pairsim.oracles.recorded import Recorded
from pairsim.oracles.similarity import PROFILES, Similarity
from pairsim.oracles.uniform import Uniform

REGISTRY: dict[str, type[Oracle]] = {cls.name: cls for cls in (Uniform, Similarity, Matrix, Ranked, Recorded)}

__all__ = ["PROFILES", "REGISTRY", "Matrix", "Oracle", "Ranked", "Recorded", "Similarity", "Uniform", "from_model"]


def __getattr__(name: str) -> object:
    if name == "from_model":  # a trained model is an oracle to its user; its code stands a layer above this one
        return importlib.import_module("pairsim.models").from_model
    raise AttributeError(f"module 'pairsim.oracles' has no attribute {name!r}")
