"""Estimators in the manner of scikit-learn: predict with any decoder (extra pairsim[sklearn])."""

from __future__ import annotations

try:
    import sklearn  # noqa: F401
except ImportError as error:
    raise ImportError("pairsim.learn needs scikit-learn: pip install 'pairsim[sklearn]'", name=error.name) from None

from pairsim.learn.all_pairs import AllPairsClassifier
from pairsim.learn.crammer_singer import CrammerSingerSVC
from pairsim.learn.fit_sharing import shared_fits
from pairsim.learn.kessler import KesslerSVC
from pairsim.learn.multiclass_perceptron import MulticlassPerceptronClassifier
from pairsim.learn.one_vs_all import OneVsAllClassifier
from pairsim.learn.one_vs_one.prediction import RowCosts
from pairsim.learn.output_code import OutputCodeClassifier
from pairsim.learn.pairwise import PairwiseClassifier
from pairsim.learn.perceptrons import fit_perceptrons
from pairsim.learn.renamed import name_the_renamed
from pairsim.learn.single_binary import SingleBinaryClassifier
from pairsim.learn.trees.class_tree import ClassTree, export_text
from pairsim.learn.trees.dag import DAGSVC
from pairsim.learn.trees.hierarchical import HierarchicalSVC
from pairsim.learn.trees.nested_dichotomies import NestedDichotomiesClassifier
from pairsim.learn.trees.sequential import SequentialDiscriminatingTreeClassifier
from pairsim.learn.vector_perceptron import VectorPerceptronClassifier
from pairsim.learn.vector_svm import VectorSVC

__all__ = [
    "DAGSVC",
    "AllPairsClassifier",
    "ClassTree",
    "CrammerSingerSVC",
    "HierarchicalSVC",
    "KesslerSVC",
    "MulticlassPerceptronClassifier",
    "NestedDichotomiesClassifier",
    "OneVsAllClassifier",
    "OutputCodeClassifier",
    "PairwiseClassifier",
    "RowCosts",
    "SequentialDiscriminatingTreeClassifier",
    "SingleBinaryClassifier",
    "VectorPerceptronClassifier",
    "VectorSVC",
    "export_text",
    "fit_perceptrons",
    "shared_fits",
]

name_the_renamed()
