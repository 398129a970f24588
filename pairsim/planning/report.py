"""The figures of what was chosen, from trials of their own."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

from pairsim.bounds import bound, least_mean_queries, least_queries
from pairsim.decoders import Decoder
from pairsim.errors import ParameterError
from pairsim.oracles import Oracle
from pairsim.planning.options import Option
from pairsim.planning.screen import Judged, Screen, estimate_alone, judged, quantile
from pairsim.planning.search import NARROW, SCORED_WORK, both, proven_success
from pairsim.simulation.trial_costs import trial_costs

FINAL_TRIALS = 20_480
DRAWN_WORK = 1.5e8  # queries of all trials of one that scores decide
FINAL_WORK = 2.5e6  # queries of all trials of a decoder that must be asked
COST_TRIALS = 1024
COST_WORK = 1.5e6
FEW_TRIALS = 20  # for the number of different pairs of a decoder that asks the same number of queries in each trial
SHARE = 0.95


@dataclasses.dataclass(frozen=True)
class Reporter:
    """Estimates what was chosen by other trials."""

    oracle: Oracle
    seed: int
    confidence: float
    trials: int | None
    threads: int
    screen: Screen

    def option(self, decoder: Decoder, certified: bool) -> Option:
        """Return a decoder with all its figures."""
        n = self.oracle.n
        found = self._success(decoder, certified)
        queries, distinct, high, rounds = self._cost(decoder)
        most = float(min(decoder.cost(n).queries, n * (n - 1) // 2))
        mean_floor, budget_floor = (
            _floor(each, self.oracle, found.success) for each in (least_mean_queries, least_queries)
        )
        costs = distinct, mean_floor, min(high, most), most, budget_floor, queries, rounds, at_once(queries, rounds)
        return Option(decoder, *costs, *found)

    def _success(self, decoder: Decoder, certified: bool) -> Judged:
        proven = proven_success(self.oracle, decoder)
        if proven is not None and proven.high - proven.low <= NARROW:
            return proven
        estimate = estimate_alone(
            self.oracle, decoder.equivalent or decoder, self._trials(decoder), self.seed, self.confidence, self.threads
        )
        found = judged(estimate)
        if found.method == "exact":
            return found
        if certified:
            size = bound(self.oracle, decoder)
            proven = Judged(found.success, size.success_low, size.success_high, "certified")
            return proven._replace(success=min(max(found.success, proven.low), proven.high))
        return found if proven is None else both(found, proven)

    def _trials(self, decoder: Decoder) -> int:
        rows = self.oracle.rows
        if self.trials is not None:
            return self.trials if rows is None else min(rows, self.trials)
        if rows is not None:
            return rows
        if self.screen.scores_decide(decoder):
            work = min(SCORED_WORK / (self.oracle.n**2 / 2), DRAWN_WORK / decoder.cost(self.oracle.n).queries)
        elif decoder.equivalent and self.oracle.in_slabs:
            work = SCORED_WORK / (self.oracle.n**2 / 2)
        else:
            work = FINAL_WORK / max(1.0, self.screen.mean_cost(decoder)[0])
        return max(256, min(FINAL_TRIALS, int(work)))

    def _cost(self, decoder: Decoder) -> tuple[float, float, float, float]:
        """Return mean queries, mean different pairs, their 95% quantile and mean rounds."""
        cost, known = decoder.cost(self.oracle.n), decoder.expected_distinct(self.oracle.n)
        if not (decoder.adaptive or decoder.repeats) and known is not None:
            return float(cost.queries), known, known, float(cost.rounds)
        trials = min(COST_TRIALS if decoder.adaptive else FEW_TRIALS, self.oracle.rows or COST_TRIALS)
        costs = trial_costs(self.oracle, decoder, trials, self.seed, COST_WORK)
        queries, distinct, rounds = (float(mean) for mean in costs.mean(axis=0))
        high = quantile(costs[:, 1], SHARE)
        if not decoder.adaptive:
            queries, rounds = float(cost.queries), float(cost.rounds)
        return queries, distinct if known is None else known, high, rounds


def at_once(queries: float, rounds: float) -> float:
    """Return the mean queries of a round; 0 of a decoder that is sure enough without asking."""
    return queries / rounds if rounds > 0.0 else 0.0


def _floor(floor: Callable[[Oracle, float], float], oracle: Oracle, success: float) -> float:
    try:
        return float(floor(oracle, success))
    except ParameterError:
        return math.nan


def seen_option(screen: Screen, decoder: Decoder, found: Judged) -> Option:
    """Return what was evaluated with the figures that the choice was made by."""
    n = screen.oracle.n
    queries, distinct, rounds = screen.mean_cost(decoder)
    most = float(min(decoder.cost(n).queries, n * (n - 1) // 2))
    nan = math.nan
    return Option(decoder, distinct, nan, nan, most, nan, queries, rounds, at_once(queries, rounds), *found)
