"""Certified bounds on failure probabilities, the papers' own bounds beside them, and learning-theory calculators."""

from __future__ import annotations

from pairsim.bounds.certify import bound, certified_sample_size
from pairsim.bounds.learning_theory import (
    TheoryBound,
    n_required,
    perceptron_update_bound,
    sbc_risk_bound,
    tree_risk_bound,
)
from pairsim.bounds.paper import ClearCut, chernoff_above, chernoff_below, lemma_1, paper_sample_size, theorem_3
from pairsim.bounds.result import Bound, SampleSize

__all__ = [
    "Bound",
    "ClearCut",
    "SampleSize",
    "TheoryBound",
    "bound",
    "certified_sample_size",
    "chernoff_above",
    "chernoff_below",
    "lemma_1",
    "n_required",
    "paper_sample_size",
    "perceptron_update_bound",
    "sbc_risk_bound",
    "theorem_3",
    "tree_risk_bound",
]
