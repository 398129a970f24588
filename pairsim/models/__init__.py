"""Trained one-vs-one models in one plain form: margins and votes of all pairs, or of those that are asked."""

from __future__ import annotations

from pairsim.models.base import PairModel, Points
from pairsim.models.estimators import EstimatorPairs
from pairsim.models.kernel import KernelPairs
from pairsim.models.libsvm_file import read_libsvm
from pairsim.models.linear import LinearPairs
from pairsim.models.pipeline import PipelinePairs
from pairsim.models.sklearn_models import from_model
from pairsim.models.skops_file import read_skops

__all__ = [
    "EstimatorPairs",
    "KernelPairs",
    "LinearPairs",
    "PairModel",
    "PipelinePairs",
    "Points",
    "from_model",
    "read_libsvm",
    "read_skops",
]
