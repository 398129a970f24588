"""The oracles, one file each, and the registry that the command line and the laws read."""

from __future__ import annotations

import importlib

from pairsim.oracles.base import Oracle
from pairsim.oracles.matrix import Matrix
from pairsim.oracles.options import Option
from pairsim.oracles.probabilities import PairProbabilities
from pairsim.oracles.ranked import Ranked
from pairsim.oracles.recorded import Recorded
from pairsim.oracles.similarity import PROFILES, Similarity
from pairsim.oracles.uniform import Uniform
from pairsim.registries import classes_in

LISTED = ("uniform", "similarity", "matrix", "ranked", "recorded")  # then others by name
REGISTRY: dict[str, type[Oracle]] = classes_in(__name__, list(__path__), Oracle, LISTED)  # type: ignore[type-abstract]

globals().update({cls.__name__: cls for cls in REGISTRY.values()})

__all__ = [
    "PROFILES",
    "REGISTRY",
    "Matrix",
    "Option",
    "Oracle",
    "PairProbabilities",
    "Ranked",
    "Recorded",
    "Similarity",
    "Uniform",
    "from_model",
]


def __getattr__(name: str) -> object:
    if name == "from_model":  # a trained model is an oracle to its user; its code stands a layer above this one
        return importlib.import_module("pairsim.models").from_model
    raise AttributeError(f"module 'pairsim.oracles' has no attribute {name!r}")
