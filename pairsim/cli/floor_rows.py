"""The floors that no decoder can beat, as rows of a table: for target success probabilities, or for budgets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pairsim.cli.console import announce_compiling
from pairsim.cli.running import refused

if TYPE_CHECKING:
    from pairsim.oracles import Oracle


def target_rows(oracles: Sequence[Oracle], text: str) -> list[dict[str, Any]]:
    """Return, for each oracle and each target that `text` lists, the least budget and the least mean."""
    from pairsim.bounds import least_mean_queries, least_queries
    from pairsim.oracles.options import check_points, real_points

    targets = real_points("target", text)
    for target in targets:
        if not 0.0 < target < 1.0:
            raise refused("target", "numbers strictly between 0 and 1", repr(text))
    check_points(len(oracles), len(targets))
    announce_compiling()
    return [
        point_of(oracle)
        | {
            "target": target,
            "least_budget": least_queries(oracle, target),
            "least_mean": least_mean_queries(oracle, target),
        }
        for oracle in oracles
        for target in targets
    ]


def budget_rows(oracles: Sequence[Oracle], text: str) -> list[dict[str, Any]]:
    """Return, for each oracle and each budget that `text` lists, the most success."""
    from pairsim.bounds import most_success
    from pairsim.oracles.options import check_points, whole_points

    budgets = whole_points("queries", text)
    if min(budgets) < 0:
        raise refused("queries", "integers of at least 0", repr(text))
    check_points(len(oracles), len(budgets))
    announce_compiling()
    return [
        point_of(oracle) | {"queries": budget, "most_success": most_success(oracle, budget)}
        for oracle in oracles
        for budget in budgets
    ]


def point_of(oracle: Oracle) -> dict[str, Any]:
    """Return the columns that name an oracle."""
    return {"oracle": oracle.label, "n": oracle.n, "p": math.nan if oracle.p is None else oracle.p}
