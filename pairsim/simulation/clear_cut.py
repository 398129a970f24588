"""How clear-cut tournaments are: the separation s_1 / s_2 of the scores, over simulated or recorded tournaments."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairsim.bounds.paper import theorem_3
from pairsim.checks import check_callable, check_choice, check_instance, check_number
from pairsim.decoders import MaxWin
from pairsim.engines.ordered_threads import OrderedThreads
from pairsim.errors import parameter_error, shown
from pairsim.kernels.bits import SLAB_TRIALS, U_LANES
from pairsim.kernels.slabs import play_slab
from pairsim.kernels.stream import TRIALS_PER_WORD, stream_key
from pairsim.kernels.top_scores import unpack_scores
from pairsim.memory import check_memory
from pairsim.oracles import Oracle, Recorded
from pairsim.simulation.limits import check_trial
from pairsim.simulation.methods import MOST_SCORED_CLASSES
from pairsim.simulation.run import Progress, check_seed, check_threads, check_trials
from pairsim.simulation.workspace import WORKSPACES
from pairsim.stats import binomial_interval, check_confidence

Scores = NDArray[np.uint16]

OF = ("truth", "winner")


class ShareAbove(NamedTuple):
    """How many tournaments are separated by alpha, and what Theorem 3 says of that.

    Attributes
    ----------
    alpha : float
        The separation asked for.
    share, low, high : float
        The fraction of trials with s_1 >= alpha s_2, and its exact binomial interval.
    at_least : float
        The fraction that `theorem_3` proves, for the largest epsilon whose separation is still alpha; 0 where it proves
        nothing, nan where it does not speak of the oracle (it is about `Uniform` with p above 1/2).
    epsilon : float
        That epsilon; nan where there is none.
    """

    alpha: float
    share: float
    low: float
    high: float
    at_least: float
    epsilon: float


@dataclasses.dataclass(frozen=True, eq=False)
class Separation:
    """The separations of tournaments of one oracle.

    Attributes
    ----------
    oracle : Oracle
        Where the tournaments come from.
    of : str
        "truth" or "winner": see `separation`.
    first, second : ndarray of uint16, shape (trials,)
        s_1 and s_2 of each tournament.
    confidence : float
        Confidence level of the intervals.

    Examples
    --------
    >>> from pairsim import Uniform, separation
    >>> found = separation(Uniform(128, 0.9), trials=4096)
    >>> round(found.median, 2), round(found.above(1.3).share, 3)
    (1.47, 0.996)
    """

    oracle: Oracle
    of: str
    first: Scores
    second: Scores
    confidence: float

    @property
    def trials(self) -> int:
        """The number of tournaments."""
        return len(self.first)

    @property
    def ratios(self) -> NDArray[np.float64]:
        """s_1 / s_2 of each tournament; infinite where s_2 is 0, which takes two classes."""
        with np.errstate(divide="ignore"):
            return self.first / self.second.astype(np.float64)

    @property
    def median(self) -> float:
        """The median separation."""
        return self.quantile(0.5)

    def quantile(self, probability: float) -> float:
        """Return the smallest separation that at least this fraction of the tournaments does not exceed."""
        must_be = "a number in [0, 1]"
        share = check_number("quantile", "probability", probability, must_be)
        if not 0.0 <= share <= 1.0:
            raise parameter_error("quantile", "probability", must_be, shown(probability))
        return float(np.quantile(self.ratios, share, method="inverted_cdf"))

    def above(self, alpha: float) -> ShareAbove:
        """Return the fraction of tournaments that are alpha-separated, beside what Theorem 3 promises.

        Theorem 3 separates by 2p (1 - epsilon) / (1 + epsilon), so that epsilon = (2p - alpha) / (2p + alpha): no
        alpha of 2p or more is promised for any n.
        """
        must_be = "a positive number"
        ratio = check_number("above", "alpha", alpha, must_be)
        if not 0.0 < ratio < np.inf:
            raise parameter_error("above", "alpha", must_be, shown(alpha))
        count = int((self.first >= ratio * self.second).sum())
        low, high = binomial_interval(count, self.trials, self.confidence)
        at_least = epsilon = float("nan")
        p = self.oracle.p
        if self.oracle.uniform and p is not None and p > 0.5:
            at_least = 0.0
            if ratio < 2.0 * p:
                epsilon = (2.0 * p - ratio) / (2.0 * p + ratio)
                at_least = 1.0 - theorem_3(self.oracle.n, p, epsilon).failure
        return ShareAbove(ratio, count / self.trials, low, high, at_least, epsilon)


def separation(
    oracle: Oracle,
    trials: int | None = None,
    seed: int = 0,
    confidence: float = 0.95,
    *,
    of: str = "truth",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Separation:
    """Measure how clear-cut tournaments are: the separation s_1 / s_2 of each.

    A class scores a point for each of the n - 1 others that it beats. The POLL paper calls a tournament
    alpha-separated, and max-win's answer clear-cut, where s_1 >= alpha s_2, and proves that a poll then needs O(log n)
    queries per class (`paper_sample_size`); its Theorem 3 says how often a uniform oracle's tournaments are separated.

    Parameters
    ----------
    oracle : Oracle
        Where the tournaments come from.
    trials : int, optional
        Number of tournaments. Default: 10,000, or every row of a recorded oracle.
    seed : int
        Equal seeds give the tournaments that `simulate` sees.
    confidence : float
        Confidence level of the exact binomial intervals.
    of : {"truth", "winner"}
        "truth": s_1 is the true class's score and s_2 the best other one, so that a separation below 1 is a failure of
        max-win, as the paper assumes there is none. "winner": the two highest scores, whoever has them, which needs no
        labels.
    threads : int, optional
        Default: one per core. The result does not depend on it.
    progress : callable, optional
        Called with the number of trials as they are done.

    Returns
    -------
    Separation

    References
    ----------
    S. Bunrupunthunad, J. Fakcharoenphol and T. Rakthanmanon, "POLL: multiclass classification from binary classifiers
    through random sampling", 2003, sections 2.1 and 2.2.

    Examples
    --------
    >>> from pairsim import Uniform, separation
    >>> found = separation(Uniform(16, 0.9), trials=100_000)
    >>> round(found.median, 2), round(found.above(1.8).share, 3)
    (1.3, 0.001)
    """
    owner = "separation"
    check_instance(owner, "oracle", oracle, Oracle, "an oracle such as Uniform(16, 0.9)")
    trials = check_trials(owner, trials, oracle)
    seed, confidence = check_seed(owner, seed), check_confidence(owner, confidence)
    check_choice(owner, "of", of, OF)
    check_callable(owner, "progress", progress, "a callable that takes a number of trials")
    if oracle.n > MOST_SCORED_CLASSES:
        raise parameter_error(owner, "oracle", f"of at most {MOST_SCORED_CLASSES:,} classes", f"{oracle.n:,}")
    check_memory(owner, "trials", trials, 32 * trials, "the scores of every trial")
    recorded = oracle.recording
    if oracle.in_slabs:
        check_trial(oracle.n, (MaxWin(),), ("simulated",), scored=True)
    elif recorded is None:
        recorded = Recorded.of(oracle, trials, seed)
    first, second = np.empty(trials, np.uint16), np.empty(trials, np.uint16)

    def do(start: int) -> int:
        count = min(SLAB_TRIALS, trials - start)
        truth = oracle.truth(start, count) if of == "truth" else None
        place = slice(start, start + count)
        if recorded is not None:
            first[place], second[place] = _top_two(_recorded_scores(recorded, start, count), truth)
            return count
        with WORKSPACES.take(oracle.n) as workspace:
            word = start // TRIALS_PER_WORD
            play_slab(oracle.kernel(), oracle.n, 0, stream_key(seed, oracle.n), word, workspace.full, U_LANES)
            unpack_scores(workspace.full, oracle.n, workspace.scores)
            first[place], second[place] = _top_two(workspace.scores[:, :count], truth)
        return count

    for count in OrderedThreads(do, range(0, trials, SLAB_TRIALS)).work(check_threads(owner, threads)):
        if progress is not None:
            progress(count)
    return Separation(oracle, of, first, second, confidence)


def _recorded_scores(oracle: Recorded, start: int, count: int) -> Scores:
    """Return the scores [class, row] of some rows."""
    from pairsim.exact_values.recorded_rows import ROWS_AT_A_TIME, tournaments  # here: simulated ones do without

    scores = np.empty((oracle.n, count), np.uint16)
    for first in range(0, count, ROWS_AT_A_TIME):
        rows = min(ROWS_AT_A_TIME, count - first)
        scores[:, first : first + rows] = tournaments(oracle, start + first, rows).sum(axis=2).T
    return scores


def _top_two(scores: Scores, truth: NDArray[np.int64] | None) -> tuple[Scores, Scores]:
    """Return the score of the true class (None: of the first on top) and the best other one; `scores` are used up."""
    who = scores.argmax(axis=0) if truth is None else truth
    trials = np.arange(scores.shape[1])
    first = scores[who, trials]
    scores[who, trials] = 0
    return first, scores.max(axis=0)
