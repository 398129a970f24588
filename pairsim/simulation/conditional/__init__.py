"""Conditional methods, one file each: part of a decoder's probability is computed exactly in each trial.

This is conditional Monte Carlo (Rao-Blackwellisation): the mean of exact conditional probabilities estimates the same
success as counting does, with less variance. Whoever adds a file to this folder, or registers a method elsewhere, adds
a conditional method.
"""

from __future__ import annotations

from pairsim.registries import import_all
from pairsim.simulation.conditional.base import CONDITIONAL, DIGITS_VERSION, ConditionalMethod
from pairsim.simulation.conditional.tables import class_zero_scores, poll_tables, quadrature, sampled_distribution

import_all(__name__, list(__path__))

__all__ = [
    "CONDITIONAL",
    "DIGITS_VERSION",
    "ConditionalMethod",
    "class_zero_scores",
    "poll_tables",
    "quadrature",
    "sampled_distribution",
]
