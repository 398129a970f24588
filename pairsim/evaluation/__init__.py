"""Evaluations: decoders on models trained on real data, compared row by row."""

from __future__ import annotations

from pairsim.evaluation.estimators import Estimator, estimator
from pairsim.evaluation.rows import EVALUATION_TABLE, Comparison, Row, mcnemar
from pairsim.evaluation.run import Evaluation, evaluate, make_order, run_order

__all__ = [
    "EVALUATION_TABLE",
    "Comparison",
    "Estimator",
    "Evaluation",
    "Row",
    "estimator",
    "evaluate",
    "make_order",
    "mcnemar",
    "run_order",
]
