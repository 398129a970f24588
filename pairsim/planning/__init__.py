"""Planning: the cheapest decoder that reaches a wanted success probability."""

from __future__ import annotations

from pairsim.planning.plan import Option, Plan, plan

__all__ = ["Option", "Plan", "plan"]
