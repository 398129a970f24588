"""Estimators in the manner of scikit-learn: predict with any decoder (extra pairsim[sklearn])."""

from __future__ import annotations

from pairsim.errors import refusal

try:
    import sklearn  # noqa: F401
except ImportError:
    raise refusal(
        "pairsim", "learn", "imported where scikit-learn is installed (pip install 'pairsim[sklearn]')", "none"
    ) from None

from pairsim.learn.pairwise import PairwiseClassifier
from pairsim.learn.prediction import RowCosts

__all__ = ["PairwiseClassifier", "RowCosts"]
