"""Planning: the cheapest decoder that reaches a wanted success probability."""

from __future__ import annotations

from pairsim.planning.options import Option, Plan
from pairsim.planning.plan import plan

__all__ = ["Option", "Plan", "plan"]
