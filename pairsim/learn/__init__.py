"""Estimators in the manner of scikit-learn: predict with any decoder (extra pairsim[sklearn])."""

from __future__ import annotations

try:
    import sklearn  # noqa: F401
except ImportError as error:
    raise ImportError("pairsim.learn needs scikit-learn: pip install 'pairsim[sklearn]'", name=error.name) from None

from pairsim.learn.all_pairs import AllPairs
from pairsim.learn.crammer_singer import CrammerSinger
from pairsim.learn.multiclass_perceptron import MulticlassPerceptron
from pairsim.learn.one_vs_all import OneVsAll
from pairsim.learn.output_code import OutputCode
from pairsim.learn.pairwise import PairwiseClassifier
from pairsim.learn.perceptrons import fit_perceptrons
from pairsim.learn.prediction import RowCosts
from pairsim.learn.single_binary import SingleBinary
from pairsim.learn.vector_perceptron import VectorPerceptron
from pairsim.learn.vector_svm import VectorSVM

__all__ = [
    "AllPairs",
    "CrammerSinger",
    "MulticlassPerceptron",
    "OneVsAll",
    "OutputCode",
    "PairwiseClassifier",
    "RowCosts",
    "SingleBinary",
    "VectorPerceptron",
    "VectorSVM",
    "fit_perceptrons",
]
