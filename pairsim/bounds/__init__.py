"""Certified bounds on failure probabilities, the papers' own bounds beside them, and learning-theory calculators."""

from __future__ import annotations

from pairsim.bounds.certify import bound, certified_sample_size
from pairsim.bounds.consistency import Consistency, sbc_consistency
from pairsim.bounds.floor import least_queries, most_success
from pairsim.bounds.learning_theory import (
    TheoryBound,
    n_required,
    perceptron_update_bound,
    sbc_risk_bound,
    tree_risk_bound,
)
from pairsim.bounds.mean_floor import least_mean_queries
from pairsim.bounds.pac_bayes import pac_bayes_bound
from pairsim.bounds.paper import ClearCut, chernoff_above, chernoff_below, lemma_1, paper_sample_size, theorem_3
from pairsim.bounds.providers import BOUNDS, Proof
from pairsim.bounds.result import Bound, SampleSize
from pairsim.bounds.sparsity import sparsity_risk_bound
from pairsim.bounds.tree_costs import cutting_plane_cost, cutting_plane_steps, tree_training_cost
from pairsim.registries import import_all

import_all(__name__, list(__path__))

__all__ = [
    "BOUNDS",
    "Bound",
    "ClearCut",
    "Consistency",
    "Proof",
    "SampleSize",
    "TheoryBound",
    "bound",
    "certified_sample_size",
    "chernoff_above",
    "chernoff_below",
    "cutting_plane_cost",
    "cutting_plane_steps",
    "least_mean_queries",
    "least_queries",
    "lemma_1",
    "most_success",
    "n_required",
    "pac_bayes_bound",
    "paper_sample_size",
    "perceptron_update_bound",
    "sbc_consistency",
    "sbc_risk_bound",
    "sparsity_risk_bound",
    "theorem_3",
    "tree_risk_bound",
    "tree_training_cost",
]
