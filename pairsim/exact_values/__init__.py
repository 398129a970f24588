"""Exact success probabilities: closed forms, dynamic programmes, and an error where there is neither."""

from __future__ import annotations

from pairsim.exact_values.dispatch import exact
from pairsim.exact_values.providers import EXACT, EXACT_ROWS, Solution
from pairsim.exact_values.result import Exact, ExactUnavailable
from pairsim.registries import import_all

import_all(__name__, list(__path__))

__all__ = ["EXACT", "EXACT_ROWS", "Exact", "ExactUnavailable", "Solution", "exact"]
