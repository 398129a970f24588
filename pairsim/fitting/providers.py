"""Which random oracles can be fitted to recorded answers, and how the rows determine their parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pairsim.fitting.folds import student_quantile
from pairsim.fitting.models import fit_ranked, fit_similarity, fit_uniform
from pairsim.fitting.parameters import Parameter, accuracy_parameter, ranked_parameters, similarity_parameters
from pairsim.fitting.traits import RowCounts, Traits
from pairsim.oracles import Oracle, Ranked, Similarity, Uniform


class OracleFit(NamedTuple):
    """How one kind of oracle is fitted.

    `fit` takes the traits of some rows; `parameters(oracle, parts, counts, confidence)` returns the fitted parameters
    with their intervals, `parts` being the fits without each fold.
    """

    name: str
    fit: Callable[[Traits], Oracle]
    parameters: Callable[[Any, Sequence[Any], RowCounts, float], tuple[Parameter, ...]]


def _of_uniform(
    oracle: Uniform, parts: Sequence[Uniform], counts: RowCounts, confidence: float
) -> tuple[Parameter, ...]:
    return (accuracy_parameter(oracle.p, counts, confidence),)


def _of_similarity(
    oracle: Similarity, parts: Sequence[Similarity], counts: RowCounts, confidence: float
) -> tuple[Parameter, ...]:
    kept = len(counts.group) - np.bincount(counts.group)
    similarities = np.array([each.r for each in parts])
    return similarity_parameters(oracle.r, similarities, kept, student_quantile(confidence, len(parts) - 1))


def _of_ranked(oracle: Ranked, parts: Sequence[Ranked], counts: RowCounts, confidence: float) -> tuple[Parameter, ...]:
    return ranked_parameters(oracle, counts, confidence)


FITS = (
    OracleFit(Uniform.name, fit_uniform, _of_uniform),
    OracleFit(Similarity.name, fit_similarity, _of_similarity),
    OracleFit(Ranked.name, fit_ranked, _of_ranked),
)
