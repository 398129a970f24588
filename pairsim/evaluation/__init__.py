"""Evaluations on real data: decoders on trained one-vs-one models, and other reductions, compared row by row."""

from __future__ import annotations

from pairsim.evaluation.cross_validation import evaluate_reductions, make_fold_order, run_fold_order
from pairsim.evaluation.estimators import Estimator, estimator
from pairsim.evaluation.ranks import Ranks, average_ranks, plot_ranks
from pairsim.evaluation.reductions import Reduction, reduction
from pairsim.evaluation.rows import EVALUATION_TABLE, Comparison, Row, mcnemar
from pairsim.evaluation.run import Evaluation, evaluate, make_order, run_order

__all__ = [
    "EVALUATION_TABLE",
    "Comparison",
    "Estimator",
    "Evaluation",
    "Ranks",
    "Reduction",
    "Row",
    "average_ranks",
    "estimator",
    "evaluate",
    "evaluate_reductions",
    "make_fold_order",
    "make_order",
    "mcnemar",
    "plot_ranks",
    "reduction",
    "run_fold_order",
    "run_order",
]
