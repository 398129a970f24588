"""POSTERIOR: ask about the most likely class until it is likely enough, and answer with its probability."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsim.checks import check_classes, check_number, check_whole
from pairsim.decoders.base import Cost, Decoder, Family
from pairsim.decoders.evidence import (
    CHALLENGER,
    FRESH,
    LEADER,
    NONE,
    Evidence,
    advance,
    best_class,
    best_probability,
    new_evidence,
    open_evidence,
)
from pairsim.decoders.order import deal
from pairsim.decoders.posterior_rounds import PosteriorRoundsKernel, rounds_kernel
from pairsim.decoders.record_evidence import RecordTable, record_logs, record_table, write_probabilities
from pairsim.errors import parameter_error, shown
from pairsim.kernels.protocol import define_decoder

MOST_QUERIES = 1 << 25  # of a trial without a budget: 16 bytes each, where they are really asked
STOPS = (  # that a planner tries
    *(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.83, 0.86, 0.88, 0.9, 0.92, 0.94, 0.95, 0.96, 0.97, 0.975),
    *(0.98, 0.985, 0.99, 0.992, 0.994, 0.995, 0.996, 0.997, 0.998, 0.999, 0.9995, 0.9999, 0.99999, 0.999999),
)
PLANNED_ROUNDS = 18


class PosteriorKernel(NamedTuple):
    """Compiled form of `Posterior` that asks one query after the other."""

    table: RecordTable
    stop: float
    most: int


class PosteriorState(NamedTuple):
    """What is known of the classes, which are places in `labels`."""

    known: Evidence
    labels: np.ndarray  # int64[n]
    answer: np.ndarray  # int64[1]: whether the leader won


def _allocate(decoder, n):
    return PosteriorState(new_evidence(n, decoder.most, decoder.table), np.empty(n, np.int64), np.zeros(1, np.int64))


def _begin(decoder, state, key):
    deal(state.labels, True, key)
    open_evidence(state.known, decoder.table.fresh)
    advance(state.known, decoder.table, decoder.stop, decoder.most, np.int64(0))


def _round_size(decoder, state):
    return np.int64(state.known.numbers[CHALLENGER] != NONE)


def _pair(decoder, state, k):
    return state.labels[state.known.numbers[LEADER]], state.labels[state.known.numbers[CHALLENGER]]


def _record(decoder, state, k, i, j, i_wins):
    state.answer[0] = i_wins


def _finish_round(decoder, state):
    advance(state.known, decoder.table, decoder.stop, decoder.most, state.answer[0])


def _winner(decoder, state):
    return state.labels[best_class(state.known.numbers, state.known.totals)]


def _confidence(decoder, state):
    return best_probability(state.known.totals)


def _probabilities(decoder, state, out):
    win, loss, fresh = decoder.table.win, decoder.table.loss, state.known.numbers[FRESH]
    write_probabilities(win, loss, state.known.classes, fresh, state.labels, out)


define_decoder(
    PosteriorKernel,
    allocate=_allocate,
    begin=_begin,
    round_size=_round_size,
    pair=_pair,
    record=_record,
    finish_round=_finish_round,
    winner=_winner,
    confidence=_confidence,
    probabilities=_probabilities,
)


@dataclasses.dataclass(frozen=True)
class Posterior(Decoder):
    """Ask about the class that is most likely the true one, against its best challenger, until it is likely enough.

    Each class has a posterior probability under uniform-p: its wins times ln 2p plus its losses times ln 2(1 - p), up
    to a constant, is its logarithm. The class with the highest leads (the present leader among equals) and is compared
    with the most likely class that it has not met. The decoder stops when the leader's probability is at least `stop`.
    Equals are in a fresh random order in each trial.

    On `Uniform` with the same p the probability is calibrated: stopping at 0.99, the decoder is correct at least 99
    times in 100, unless `budget` or `rounds` end it before. p must not exceed the true one: for n = 64, p = 0.8 and
    stop = 0.95 it is right in 98.7% of trials where 0.7 is assumed (256 queries), and in 88.8% where 0.9 is (183). **On
    trained models, whose answers are nearly transitive, uniform-p is badly wrong**: stopping at 0.99, with p measured
    on training rows, it was right in 14% to 61% of the rows of eight models on which max-win was right in 83% to 97%
    (`experiments/results/learned_on_real_data.csv`). `Learned` is made for such models.

    Parameters
    ----------
    p : float or None
        The assumed probability that a pair with the true class is answered correctly, in (1/2, 1). None: unknown,
        uniform on (1/2, 1).
    stop : float
        The posterior probability at which to stop, in (0, 1]; 1 asks until the budget is spent.
    budget : int or None
        The most queries. Default: every pair, or 33,554,432 if that is less.
    rounds : int or None
        The most rounds of queries that are asked at once; a round compares all classes that are still likely enough.
        It takes about twice as many queries as None, which is one query per round. Where `rounds` or `budget` end a
        trial, its probability is below `stop`.

    Examples
    --------
    >>> from pairsim import Posterior, Quick, Uniform, simulate
    >>> quick, posterior = simulate(Uniform(64, 0.9), [Quick(), Posterior(0.9, 0.99)], 2000, method="simulated")
    >>> posterior.success > 0.98, posterior.queries < quick.queries / 4
    (True, True)
    """

    name: ClassVar[str] = "posterior"
    plan_order: ClassVar[int] = 50
    summary: ClassVar[str] = "the most likely class meets its best challenger until its probability reaches stop"
    repeats: ClassVar[bool] = False
    adaptive: ClassVar[bool] = True
    assumes: ClassVar[str] = "uniform-p"

    p: float | None = 0.9
    stop: float = 0.99
    budget: int | None = None
    rounds: int | None = None

    def __post_init__(self) -> None:
        must_be = "a number strictly between 0.5 and 1, or None"
        if self.p is not None:
            object.__setattr__(self, "p", check_number("Posterior", "p", self.p, must_be))
            if not 0.5 < self.p < 1.0:
                raise parameter_error("Posterior", "p", must_be, shown(self.p))
        must_be = "a number above 0 and at most 1"
        object.__setattr__(self, "stop", check_number("Posterior", "stop", self.stop, must_be))
        if not 0.0 < self.stop <= 1.0:
            raise parameter_error("Posterior", "stop", must_be, shown(self.stop))
        if self.budget is not None:
            object.__setattr__(self, "budget", check_whole("Posterior", "budget", self.budget, 1, MOST_QUERIES))
        if self.rounds is not None:
            object.__setattr__(self, "rounds", check_whole("Posterior", "rounds", self.rounds, 1, MOST_QUERIES))

    @property
    def reads_labels(self) -> bool:
        return False

    @classmethod
    def candidates(cls, n: int, ties: str) -> Iterator[Family]:
        yield Family(cls.name, lambda step: cls(None, STOPS[step - 1]), list(range(1, len(STOPS) + 1)))

    @classmethod
    def candidates_knowing(cls, n: int, ties: str, p: float) -> Iterator[Family]:
        if not 0.5 < p < 1.0:
            return
        steps, pairs = list(range(1, len(STOPS) + 1)), min(n * (n - 1) // 2, MOST_QUERIES)
        yield Family(f"{cls.name}, p known", lambda step: cls(p, STOPS[step - 1]), steps)
        budgets = [max(1, n // 4)]
        while budgets[-1] < pairs:
            budgets.append(min(pairs, budgets[-1] * 4 // 3 + 1))
        yield Family(
            f"{cls.name}, budget", lambda budget: cls(p, STOPS[-1], budget if budget < pairs else None), budgets
        )
        yield Family(f"{cls.name}, rounds", lambda step: cls(p, STOPS[step - 1], None, PLANNED_ROUNDS), steps)

    def within(self, n: int, queries: int | None, rounds: int | None = None) -> Posterior | None:
        cost, limited = self.cost(n), self
        if queries is not None and cost.queries > queries:
            limited = dataclasses.replace(limited, budget=queries)
        if rounds is not None and cost.rounds > rounds:
            limited = dataclasses.replace(limited, rounds=rounds)
        return limited

    def cost(self, n: int) -> Cost:
        n = check_classes("Posterior", n)
        most = min(n * (n - 1) // 2, self.budget or MOST_QUERIES)
        return Cost(most, min(most, self.rounds or most))

    def memory(self, n: int) -> int:
        most = self.cost(n).queries  # checks n
        return 150 * n + 16 * most

    def kernel(self, n: int) -> PosteriorKernel | PosteriorRoundsKernel:
        most = self.cost(n).queries
        if self.rounds is not None:
            return rounds_kernel(n, self.p, self.stop, most, self.rounds)
        return PosteriorKernel(record_table(self.p), self.stop, most)

    def probabilities(self, wins: ArrayLike, losses: ArrayLike) -> NDArray[np.float64]:
        """Return the posterior probability of each class after so many wins and losses.

        Examples
        --------
        >>> from pairsim import Posterior
        >>> Posterior(0.9).probabilities([2, 0, 0], [0, 1, 1]).round(3).tolist()
        [0.89, 0.055, 0.055]
        """
        won, lost = _games("wins", wins), _games("losses", losses)
        if len(won) != len(lost):
            raise parameter_error("probabilities", "losses", f"{len(won)} integers, as wins", f"{len(lost)}")
        table = record_table(self.p)
        logs = record_logs(table.win, table.loss, won, lost)
        weights = np.exp(logs - logs.max())
        return np.asarray(weights / weights.sum())


def _games(name: str, values: ArrayLike) -> NDArray[np.int64]:
    """Return how many games each class won, or lost."""
    must_be = "integers of at least 0 and at most 2**31, one per class, for two classes or more"
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, OverflowError):
        array = np.empty(0)
    if array.ndim != 1 or len(array) < 2 or array.dtype.kind not in "iu" or array.min() < 0 or array.max() > 1 << 31:
        raise parameter_error("probabilities", name, must_be, shown(values))
    return array.astype(np.int64)
