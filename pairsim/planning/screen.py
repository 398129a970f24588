"""Estimates to choose by: on few trials where these decide, with the scores of tournaments kept for all decoders."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsim.decoders import Decoder
from pairsim.kernels.bits import SLAB_TRIALS
from pairsim.kernels.stream import stream_key
from pairsim.oracles import Oracle
from pairsim.oracles.labels import without_labels
from pairsim.simulation.conditional import CONDITIONAL
from pairsim.simulation.conditional.base import MOST_SCORED_CLASSES, NOTHING, SCORES, WINNERS, ConditionalMethod
from pairsim.simulation.limits import check_trial
from pairsim.simulation.methods import has_closed_form
from pairsim.simulation.outcomes import Outcomes
from pairsim.simulation.run import estimate_of, make_simulator, run_blocks
from pairsim.simulation.slab import SlabTrials, Trials
from pairsim.simulation.trial_costs import trial_costs
from pairsim.simulation.workspace import WORKSPACES
from pairsim.stats import Estimate, Moments, binomial_interval, bounded_interval

KEPT_SCORES = 1 << 25  # of all trials that are kept
COST_TRIALS = 128  # for the mean cost of a decoder whose queries depend on the answers
COST_WORK = 3e5  # queries of these trials together
DISTINCT_TRIALS = 4  # where repeats have no formula: the number of different pairs hardly varies


class Judged(NamedTuple):
    """A success probability with its interval."""

    success: float
    low: float
    high: float
    method: str


class KeptTrials(Trials):
    """The trials of a slab whose scores are kept."""

    def __init__(self, oracle: Oracle, stream: np.uint64, first: int, scores: NDArray[np.uint16]) -> None:
        super().__init__(oracle, stream, first, oracle.truth(first, SLAB_TRIALS))
        self._scores = scores

    @property
    def scores(self) -> NDArray[np.uint16]:
        """How many others each class beats: [class, trial]."""
        return self._scores


@dataclasses.dataclass(eq=False)
class Screen:
    """The trials that a choice is made by, and what was estimated on them."""

    oracle: Oracle
    seed: int
    threads: int
    _slabs: list[KeptTrials] = dataclasses.field(default_factory=list)
    _costs: dict[Decoder, tuple[float, float, float]] = dataclasses.field(default_factory=dict)
    _last: tuple[Decoder | None, list[NDArray[np.float64]]] = (None, [])  # what was judged last, slab by slab

    @functools.cached_property
    def most_kept(self) -> int:
        """The number of slabs whose scores are kept."""
        return max(1, KEPT_SCORES // (self.oracle.n * SLAB_TRIALS))

    def judge(self, decoder: Decoder, trials: int, confidence: float) -> Judged:
        """Estimate the success of a decoder on the first trials (at least so many, in whole slabs)."""
        decoder = decoder.equivalent or decoder
        if self.scores_decide(decoder):
            rules = without_labels(self.oracle, decoder)
            method = CONDITIONAL.of(rules)
            assert method is not None
            return self._given_scores(rules, method, trials, confidence)
        return judged(estimate_alone(self.oracle, decoder, trials, self.seed, confidence, self.threads))

    def scores_decide(self, decoder: Decoder) -> bool:
        """Say whether the decoder need not be asked, as a tournament's scores tell how often it succeeds."""
        oracle, rules = self.oracle, without_labels(self.oracle, decoder)
        method = CONDITIONAL.of(rules)
        if method is None or method.given != SCORES or method.gives == NOTHING or has_closed_form(oracle, rules):
            return False
        return oracle.in_slabs and oracle.n <= MOST_SCORED_CLASSES and method.applies(oracle, rules)

    def _given_scores(self, rules: Decoder, method: ConditionalMethod, trials: int, confidence: float) -> Judged:
        slabs = min(self.most_kept, -(-trials // SLAB_TRIALS))
        while len(self._slabs) < slabs:
            self._slabs.append(self._play(len(self._slabs) * SLAB_TRIALS))
        known = self._last[1] if self._last[0] == rules else []
        self._last = rules, known
        for kept in self._slabs[len(known) : slabs]:
            named, part = np.empty(SLAB_TRIALS, np.int64), np.empty(SLAB_TRIALS)
            method.write(kept, rules, Outcomes(named, part, np.empty(SLAB_TRIALS), np.empty(0), np.zeros(3)))
            if method.gives == WINNERS:
                part[:] = named != kept.truth
            known.append(part)
        failed = np.concatenate(known[:slabs])
        return _summed(failed, counted=method.gives == WINNERS, confidence=confidence)

    def _play(self, first: int) -> KeptTrials:
        oracle, stream = self.oracle, stream_key(self.seed, self.oracle.n)
        with WORKSPACES.take(oracle.n) as workspace:
            played = SlabTrials(oracle, stream, first, oracle.truth(first, SLAB_TRIALS), workspace, None)
            return KeptTrials(oracle, stream, first, played.scores.copy())

    def mean_cost(self, decoder: Decoder) -> tuple[float, float, float]:
        """Return the mean queries, different pairs and rounds: by formula where there is one."""
        if decoder not in self._costs:
            self._costs[decoder] = self._mean_cost(decoder)
        return self._costs[decoder]

    def _mean_cost(self, decoder: Decoder) -> tuple[float, float, float]:
        cost, distinct = decoder.cost(self.oracle.n), decoder.expected_distinct(self.oracle.n)
        if not decoder.adaptive and distinct is not None:
            return float(cost.queries), distinct, float(cost.rounds)
        check_trial(self.oracle.n, (decoder,), ("simulated",), scored=False)
        trials = min(COST_TRIALS if decoder.adaptive else DISTINCT_TRIALS, self.oracle.rows or COST_TRIALS)
        queries, distinct, rounds = trial_costs(self.oracle, decoder, trials, self.seed, COST_WORK, least=2).mean(
            axis=0
        )
        if decoder.adaptive:
            return float(queries), float(distinct), float(rounds)
        return float(cost.queries), float(distinct), float(cost.rounds)


def judged(estimate: Estimate) -> Judged:
    """Return the success of an estimate."""
    return Judged(estimate.success, estimate.low, estimate.high, estimate.method)


def _summed(failed: NDArray[np.float64], counted: bool, confidence: float) -> Judged:
    count, mean = len(failed), float(failed.mean())
    if counted:
        right = count - int(failed.sum())
        return Judged(right / count, *binomial_interval(right, count, confidence), "conditional")
    off = failed - mean
    moments = Moments(count, mean, float((off * off).sum()), float((off * off * off).sum()))
    low, high = bounded_interval(moments, confidence)
    return Judged(1.0 - mean, 1.0 - high, 1.0 - low, "conditional")


def estimate_alone(
    oracle: Oracle, decoder: Decoder, trials: int, seed: int, confidence: float, threads: int
) -> Estimate:
    """Return what `simulate` does for one decoder, but for the number of different pairs, which is not counted."""
    bench, methods = make_simulator((oracle,), (decoder,), "auto", trials, seed)
    bench = dataclasses.replace(bench, counts_distinct=False)
    (row,) = run_blocks(bench, trials, threads, None)
    return estimate_of(oracle, decoder, methods[0], row.tallies[0] if row else None, confidence)


def quantile(values: NDArray[np.int64], share: float) -> float:
    """Return the smallest value that at least this share of the values does not exceed."""
    return float(np.sort(values)[math.ceil(share * len(values)) - 1])
