"""Evaluations on real data: decoders on trained one-vs-one models, and other reductions, compared row by row."""

from __future__ import annotations

from pairsim.evaluation.cross_validation import evaluate_reductions, run_cross_validation_request
from pairsim.evaluation.cross_validation_request import make_cross_validation_request
from pairsim.evaluation.estimators import Estimator, estimator
from pairsim.evaluation.folds import corrected_t, fold_interval, mcnemar
from pairsim.evaluation.ranks import Ranks, average_ranks, plot_ranks
from pairsim.evaluation.reductions import Reduction, reduction
from pairsim.evaluation.rows import EVALUATION_TABLE, Comparison, Row
from pairsim.evaluation.run import Evaluation, evaluate, make_evaluation_request, run_evaluation_request
from pairsim.evaluation.tuning import greedy_search

__all__ = [
    "EVALUATION_TABLE",
    "Comparison",
    "Estimator",
    "Evaluation",
    "Ranks",
    "Reduction",
    "Row",
    "average_ranks",
    "corrected_t",
    "estimator",
    "evaluate",
    "evaluate_reductions",
    "fold_interval",
    "greedy_search",
    "make_cross_validation_request",
    "make_evaluation_request",
    "mcnemar",
    "plot_ranks",
    "reduction",
    "run_cross_validation_request",
    "run_evaluation_request",
]
