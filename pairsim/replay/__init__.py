"""The whole story of one trial: who was asked about whom, what was answered, and why the decision is right or wrong."""

from __future__ import annotations

from pairsim.replay.questions import Question, Questions
from pairsim.replay.report import TrialReport, replay_trial

__all__ = ["Question", "Questions", "TrialReport", "replay_trial"]
