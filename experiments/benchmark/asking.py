"""Rows of the decoder `posterior`: its budget over the floor, its mean cost, its rounds, and its time per query."""

from __future__ import annotations

from experiments.benchmark.timing import Measured, best_seconds, cpu_seconds
from pairsim import Estimate, Posterior, Uniform, simulate
from pairsim.bounds import least_mean_queries, least_queries

TRIALS = 20_000
SIZES = (256, 512, 2048)
ACCURACIES = (0.7, 0.8, 0.9)
TARGETS = (0.8, 0.9, 0.98)
LOW_TARGET = 0.6  # of a budget below n - 1, which cannot even meet every class
SLACK = 1.04  # budgets of the floor times this come to about the target


def _over_the_floor(n: int, p: float, target: float) -> tuple[float, str]:
    """Return a budget over the floor at the success that it reaches for certain, and what was measured."""
    oracle = Uniform(n, p)
    budget = round(SLACK * least_queries(oracle, target))
    found = simulate(oracle, Posterior(p, 1.0, budget), TRIALS)
    ratio = budget / least_queries(oracle, found.low)
    return ratio, f"{budget} queries: {found.success:.4f} ({found.low:.4f} .. {found.high:.4f})"


def floor_rows() -> list[Measured]:
    """Measure posterior with a budget, over the least that any decoder needs for the same success."""
    rows, ratios = [], []
    for n in SIZES:
        for p in ACCURACIES:
            found = [_over_the_floor(n, p, target) for target in TARGETS]
            ratio, detail = max(found)
            ratios += [each for each, _ in found]
            name = f"posterior's budget over the floor, n = {n}, p = {p}, worst of success 0.8 .. 0.98"
            rows.append(Measured(name, ratio, 1.15, "x", at_most=True, detail=detail))
            ratio, detail = _over_the_floor(n, p, LOW_TARGET)
            rows.append(Measured("the same at success 0.6", ratio, 1.25, "x", at_most=True, detail=detail))
    mean = sum(ratios) / len(ratios)
    return [Measured("the mean of these at 0.8 .. 0.98", mean, 1.08, "x", at_most=True), *rows]


def _estimate(p: float, stop: float, rounds: int | None) -> Estimate:
    return simulate(Uniform(512, p), Posterior(p, stop, rounds=rounds), TRIALS)


def mean_rows() -> list[Measured]:
    """Mean queries where no budget ends a trial, one query per round and in at most 18 rounds."""
    rows = []
    for rounds, p, stop, goal in (
        (None, 0.9, 0.99, 613),
        (None, 0.7, 0.9, 3080),
        (None, 0.7, 0.99, 3320),
        (18, 0.9, 0.99, 1636),
        (18, 0.7, 0.9, 5391),
        (18, 0.7, 0.99, 7379),
    ):
        found = _estimate(p, stop, rounds)
        how = "" if rounds is None else f", at most {rounds} rounds"
        floor = least_mean_queries(Uniform(512, p), found.success)
        detail = f"success {found.success:.4f} of {stop}, {found.rounds:.1f} rounds, floor of the mean {floor:.0f}"
        reached = found.high >= stop
        name = f"posterior, mean queries at n = 512, p = {p}, {stop}{how}"
        rows.append(
            Measured(name, found.queries if reached else float("inf"), goal, "queries", at_most=True, detail=detail)
        )
    return rows


def query_rows() -> list[Measured]:
    """CPU time per query of posterior under `simulate`, on one thread."""
    rows = []
    for n, trials, goal in ((512, 2000, 100), (100_000, 10, 150)):
        for decoder in (Posterior(0.9, 0.99), Posterior(0.9, 0.99, rounds=18)):
            oracle = Uniform(n, 0.9)
            found = simulate(oracle, decoder, trials, threads=1)
            seconds = best_seconds(
                lambda oracle=oracle, decoder=decoder, trials=trials: simulate(oracle, decoder, trials, threads=1),
                5,
                cpu_seconds,
            )
            name = f"{decoder.spec}, time per query, n = {n}"
            nanoseconds = 1e9 * seconds / (found.queries * trials)
            rows.append(Measured(name, nanoseconds, goal, "ns", at_most=True))
    return rows


GROUPS = {"floor": floor_rows, "asking": mean_rows, "queries": query_rows}
