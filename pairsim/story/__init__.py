"""The whole story of one trial: who was asked about whom, what was answered, and why the decision is right or wrong."""

from __future__ import annotations

from pairsim.story.questions import Question, Questions
from pairsim.story.telling import Story, story_of

__all__ = ["Question", "Questions", "Story", "story_of"]
