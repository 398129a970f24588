"""How often decoders are right on recorded rows: exact in each row where there is a way, else over many draws."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
from numpy.typing import NDArray

from pairsim.decoders import Decoder
from pairsim.engines.ordered_threads import OrderedThreads
from pairsim.exact_values import EXACT_ROWS, ExactUnavailable
from pairsim.exact_values.recorded_rows import all_scores, interval_of, on_rows
from pairsim.kernels.driver import decode_trials
from pairsim.kernels.stream import stream_key
from pairsim.oracles import Recorded
from pairsim.simulation.conditional import CONDITIONAL, ConditionalMethod
from pairsim.simulation.conditional.base import FAILURES, SCORES, WINNERS
from pairsim.simulation.outcomes import Outcomes
from pairsim.simulation.slab import Trials

Floats = NDArray[np.float64]

FIRST_DRAWS = 8  # per row, doubled up to
MOST_DRAWS = 128
OWN_SHARE = 0.05  # of the variance over the rows that a decoder's own draws may have


@dataclasses.dataclass(frozen=True)
class Observed:
    """The success of one decoder on recorded rows.

    Attributes
    ----------
    decoder : str
        The decoder's spec.
    rows : int
        Number of rows.
    success, low, high : float
        Mean success probability over the rows, and its interval for other rows of the kind.
    draws : int
        Independent draws of the decoder's random choices that are averaged in each row; 0 where each row has the exact
        probability.
    """

    decoder: str
    rows: int
    success: float
    low: float
    high: float
    draws: int


class RecordedRows:
    """Recorded answers with the scores of all classes, which several decoders share.

    Examples
    --------
    >>> from pairsim import Poll, Ranked, Recorded, TopK
    >>> from pairsim.fitting.observed import RecordedRows
    >>> rows = RecordedRows(Recorded.of(Ranked(12, 0.9), 100))
    >>> [rows.observe(each)[0].draws for each in (Poll(), TopK(5))]
    [0, 8]
    """

    def __init__(self, recorded: Recorded) -> None:
        self.recorded, self.n, self.count = recorded, recorded.n, recorded.rows
        self.truth = np.array(recorded.truth(0, recorded.rows))  # one that can be written to: kernels know no other

    @functools.cached_property
    def scores(self) -> NDArray[np.uint16]:
        """Scores [class, row]."""
        return np.ascontiguousarray(all_scores(self.recorded).T.astype(np.uint16))

    def observe(
        self, decoder: Decoder, seed: int = 0, confidence: float = 0.95, threads: int = 1
    ) -> tuple[Observed, Floats]:
        """Return the observed success of a decoder, and its success probability in each row.

        The probability is exact for max-win (and decoders that always agree with it), polls, and adag and ddag in the
        given order or with few classes. Elsewhere it is a mean over draws: 8 per row, doubled until the draws have at
        most 5% of the variance over the rows, up to 128. What they add to that variance is in the interval.
        """
        probabilities, draws = self.exact_probabilities(decoder), 0
        if probabilities is None:
            probabilities, draws = self.drawn_probabilities(decoder, seed, threads)
        low, high = interval_of(probabilities, confidence)
        return Observed(decoder.spec, self.count, float(probabilities.mean()), low, high, draws), probabilities

    def exact_probabilities(self, decoder: Decoder) -> Floats | None:
        """Return the exact success probability in each row, or None where there is none."""
        judged = decoder.equivalent or decoder
        method = CONDITIONAL.of(judged)
        if method is not None and method.given == SCORES and method.gives == FAILURES:
            return self._given_scores(judged, method)
        if EXACT_ROWS.of(judged) is None:
            return None
        try:
            return on_rows(self.recorded, judged)[0]
        except ExactUnavailable:
            return None

    def drawn_probabilities(self, decoder: Decoder, seed: int, threads: int) -> tuple[Floats, int]:
        """Return the mean success over independent draws in each row, and the number of draws."""
        seeds = np.random.SeedSequence(seed).generate_state(MOST_DRAWS, np.uint64).tolist()
        method = CONDITIONAL.of(decoder)
        drawn = method is not None and method.given == SCORES and method.gives == WINNERS
        decode = self._draw if drawn else self._ask
        successes, done, goal = np.zeros(self.count, np.int64), 0, FIRST_DRAWS
        while True:
            for winners in OrderedThreads(lambda each: decode(decoder, each), iter(seeds[done:goal])).work(threads):
                successes += winners == self.truth
            done, probabilities = goal, successes / goal
            own = float((probabilities * (1.0 - probabilities)).mean()) / (done - 1)
            if own <= OWN_SHARE * float(probabilities.var()) or done >= MOST_DRAWS:
                return probabilities, done
            goal = 2 * done

    def _ask(self, decoder: Decoder, seed: int) -> NDArray[np.int64]:
        """Return whom a decoder names in each row with the draws of one seed."""
        winners, cost = np.empty(self.count, np.int64), np.zeros(3, np.int64)
        kernel, stream = decoder.kernel(self.n), stream_key(seed, self.n)
        decode_trials(
            self.recorded.kernel(), kernel, self.n, stream, 0, 0, winners, cost, np.empty(0)
        )  # 0: no pairs are counted
        return winners

    def _draw(self, decoder: Decoder, seed: int) -> NDArray[np.int64]:
        """Return whom a decoder names in each row, drawn from the distribution that it has given the scores."""
        method, out = CONDITIONAL.of(decoder), self._outcomes()
        assert method is not None
        method.write(_ScoredRows(self, seed), decoder, out)
        return out.named

    def _given_scores(self, decoder: Decoder, method: ConditionalMethod) -> Floats:
        """Return the success probability in each row given the scores; in NumPy 150 classes would take long."""
        out = self._outcomes()
        method.write(_ScoredRows(self, 0), decoder, out)
        return np.clip(1.0 - out.failed, 0.0, 1.0)

    def _outcomes(self) -> Outcomes:
        failed, agreed, sure = np.empty((3, self.count))
        return Outcomes(np.empty(self.count, np.int64), failed, agreed, sure, np.zeros(3))


class _ScoredRows(Trials):
    """Recorded rows as a conditional method sees trials."""

    def __init__(self, rows: RecordedRows, seed: int) -> None:
        super().__init__(rows.recorded, np.uint64(stream_key(seed, rows.n)), 0, rows.truth)
        self._rows = rows

    @property
    def scores(self) -> NDArray[np.uint16]:
        return self._rows.scores
