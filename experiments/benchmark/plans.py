"""Rows of the planner: CPU seconds of a whole plan on one core, once its kernels are in the cache."""

from __future__ import annotations

import time

from experiments.benchmark.timing import Measured, best_seconds
from pairsim import Uniform, plan
from pairsim.planning import Plan

POINTS = ((512, 0.7, 0.9, 10.0), (512, 0.9, 0.99, 10.0), (10_000, 0.9, 0.9, 60.0))  # n, p, target, goal


def plan_rows() -> list[Measured]:
    """Measure plans with every decoder; the detail says what came out as the cheapest, and of how many."""
    return [_plan_seconds(*point) for point in POINTS]


def _plan_seconds(n: int, p: float, target: float, goal: float) -> Measured:
    found: list[Plan] = []

    def work() -> None:
        found[:] = [plan(Uniform(n, p), target, threads=1)]

    seconds = best_seconds(work, 2, time.process_time)
    best = found[0].options[0]
    cheapest = f"{best.decoder.spec}: {best.distinct:,.0f} pairs, floor {best.mean_floor:,.0f}"
    detail = f"{cheapest}; {len(found[0].options)} options"
    return Measured(f"plan at n = {n:,}, p = {p:g}, target {target:g}", seconds, goal, "s", at_most=True, detail=detail)


GROUPS = {"plan": plan_rows}
