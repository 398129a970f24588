"""Estimators in the manner of scikit-learn: predict with any decoder (extra pairsim[sklearn])."""

from __future__ import annotations

try:
    import sklearn  # noqa: F401
except ImportError as error:
    raise ImportError("pairsim.learn needs scikit-learn: pip install 'pairsim[sklearn]'", name=error.name) from None

from pairsim.learn.pairwise import PairwiseClassifier
from pairsim.learn.perceptrons import fit_perceptrons
from pairsim.learn.prediction import RowCosts
from pairsim.learn.single_binary import SingleBinary
from pairsim.learn.vector_perceptron import VectorPerceptron
from pairsim.learn.vector_svm import VectorSVM

__all__ = [
    "PairwiseClassifier",
    "RowCosts",
    "SingleBinary",
    "VectorPerceptron",
    "VectorSVM",
    "fit_perceptrons",
]
