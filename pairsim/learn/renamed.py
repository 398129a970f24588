"""Estimators that earlier versions pickled under other names: reading one says so in one line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NoReturn

RENAMED = {  # by module: before, now
    "all_pairs": ("AllPairs", "AllPairsClassifier"),
    "crammer_singer": ("CrammerSinger", "CrammerSingerSVC"),
    "multiclass_perceptron": ("MulticlassPerceptron", "MulticlassPerceptronClassifier"),
    "one_vs_all": ("OneVsAll", "OneVsAllClassifier"),
    "output_code": ("OutputCode", "OutputCodeClassifier"),
    "single_binary": ("SingleBinary", "SingleBinaryClassifier"),
    "vector_perceptron": ("VectorPerceptron", "VectorPerceptronClassifier"),
    "vector_svm": ("VectorSVM", "VectorSVC"),
}


def name_the_renamed() -> None:
    """Let each of these modules, which are loaded, explain what became of its old name."""
    for module, names in RENAMED.items():
        sys.modules[f"pairsim.learn.{module}"].__getattr__ = _explain(module, *names)  # type: ignore[method-assign]


def _explain(module: str, before: str, now: str) -> Callable[[str], NoReturn]:
    def missing(name: str) -> NoReturn:
        if name == before:  # not an AttributeError, in place of which pickle has a line of its own
            raise ImportError(
                f"{before} is called {now} since pairsim 0.3.0, and models that earlier versions pickled cannot be "
                "read: fit them again"
            )
        raise AttributeError(f"module 'pairsim.learn.{module}' has no attribute {name!r}")

    return missing
