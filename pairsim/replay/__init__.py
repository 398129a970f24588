"""Replaying one trial: which queries were asked, how they were answered, and why the decision is right or wrong."""

from __future__ import annotations

from pairsim.replay.queries import Queries, Query
from pairsim.replay.report import TrialReport, replay_trial

__all__ = ["Queries", "Query", "TrialReport", "replay_trial"]
