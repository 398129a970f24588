"""Exact success probabilities: closed forms, dynamic programmes, and an honest refusal where there is neither."""

from __future__ import annotations

from pairsim.exact_values.dispatch import exact
from pairsim.exact_values.result import Exact, ExactUnavailable

__all__ = ["Exact", "ExactUnavailable", "exact"]
