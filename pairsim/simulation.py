"""Monte-Carlo estimates: decoders on an oracle's tournaments, block by block, on threads."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from pairsim.checks import check_whole
from pairsim.decoders import Decoder, MaxWin
from pairsim.errors import refusal
from pairsim.kernels.drive import DISTINCT, QUERIES, ROUNDS, decode_trials
from pairsim.kernels.stream import TRIALS_PER_WORD, stream_key
from pairsim.oracles import Oracle
from pairsim.stats import Estimate, binomial_interval, check_confidence

DEFAULT_TRIALS = 10_000
QUESTIONS_PER_BLOCK = 2_000_000  # about 20 ms of work: long against scheduling, short against Ctrl-C
AGREEMENT_CLASSES = 1024  # without a max-win among the decoders, one is run beside them up to this many classes


class Counts(NamedTuple):
    """What a block of trials adds up to, one entry a decoder; sums of blocks are the counts of the whole."""

    successes: NDArray[np.int64]
    agreements: NDArray[np.int64]
    prices: NDArray[np.int64]  # [decoder, (queries, distinct, rounds)]

    def plus(self, other: Counts) -> Counts:
        """Return the counts of both."""
        return Counts(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


class Bench(NamedTuple):
    """Decoders side by side on one oracle: all that a block needs but its place."""

    oracle: Oracle
    decoders: tuple[Decoder, ...]
    reference: int  # which decoder the others are compared with; -1 for none
    stream: np.uint64

    def play(self, first: int, count: int) -> Counts:
        """Decode trials first .. first + count - 1 with every decoder."""
        truth = self.oracle.truth(first, count)
        winners = np.empty((len(self.decoders), count), np.int64)
        prices = np.zeros((len(self.decoders), 3), np.int64)
        for place, decoder in enumerate(self.decoders):
            repeats = decoder.cost(self.oracle.n).queries if decoder.repeats else 0
            decode_trials(
                self.oracle.kernel(),
                decoder.kernel(self.oracle.n),
                self.oracle.n,
                self.stream,
                first,
                repeats,
                winners[place],
                prices[place],
            )
        named = winners >= 0
        same = (winners == winners[self.reference]) & named if self.reference >= 0 else np.zeros_like(named)
        return Counts((winners == truth).sum(axis=1), same.sum(axis=1), prices)


def check_seed(owner: str, seed: object) -> int:
    """Return `seed` as an int when it is a whole number of at most 64 bits."""
    return check_whole(owner, "seed", seed, 0, (1 << 64) - 1, "a whole number from 0 to 2**64 - 1")


def check_threads(owner: str, threads: object) -> int:
    """Return the number of threads: as given, or one a usable core."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return check_whole(owner, "threads", threads, 1)


def check_trials(owner: str, trials: object, oracle: Oracle) -> int:
    """Return the number of trials: as given, else all recorded rows, else `DEFAULT_TRIALS`."""
    if trials is None:
        return oracle.rows or DEFAULT_TRIALS
    number = check_whole(owner, "trials", trials, 1)
    if oracle.rows is not None and number > oracle.rows:
        raise refusal(owner, "trials", f"at most the number of recorded rows, {oracle.rows}", number)
    return number


def cut_blocks(trials: int, questions: int) -> Iterator[tuple[int, int]]:
    """Yield (first, count) of blocks with about `QUESTIONS_PER_BLOCK` each, whole words but for the last."""
    words = max(1, min(1024, QUESTIONS_PER_BLOCK // (questions * TRIALS_PER_WORD)))
    size = words * TRIALS_PER_WORD
    for first in range(0, trials, size):
        yield first, min(size, trials - first)


def _run_blocks(
    bench: Bench, blocks: Iterator[tuple[int, int]], threads: int, progress: Callable[[int], None] | None
) -> Counts:
    size = len(bench.decoders)
    total = Counts(np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros((size, 3), np.int64))
    with ThreadPoolExecutor(threads) as pool:
        running: dict[Any, int] = {}
        try:
            while True:
                while len(running) < 2 * threads and (block := next(blocks, None)):
                    running[pool.submit(bench.play, *block)] = block[1]
                if not running:
                    return total
                for done in wait(running, return_when=FIRST_COMPLETED).done:
                    total = total.plus(done.result())
                    count = running.pop(done)
                    if progress:
                        progress(count)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


@overload
def simulate(
    oracle: Oracle,
    decoder: Decoder,
    trials: int | None = ...,
    seed: int = ...,
    confidence: float = ...,
    *,
    threads: int | None = ...,
    progress: Callable[[int], None] | None = ...,
) -> Estimate: ...


@overload
def simulate(
    oracle: Oracle,
    decoder: Sequence[Decoder],
    trials: int | None = ...,
    seed: int = ...,
    confidence: float = ...,
    *,
    threads: int | None = ...,
    progress: Callable[[int], None] | None = ...,
) -> list[Estimate]: ...


def simulate(
    oracle: Oracle,
    decoder: Decoder | Sequence[Decoder],
    trials: int | None = None,
    seed: int = 0,
    confidence: float = 0.95,
    *,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Estimate | list[Estimate]:
    """Estimate how often a decoder names the true class, with an honest interval, and what it costs.

    Parameters
    ----------
    oracle : Oracle
        Where the answers come from.
    decoder : Decoder or sequence of Decoder
        Several decoders see the same tournaments, and each also gets `agreement`: how often it names the class that
        max-win names (the first `MaxWin` among them, else one that is run beside them up to 1,024 classes).
    trials : int, optional
        Number of tournaments; 10,000 when left out, or every row of a recorded oracle.
    seed : int
        Equal seeds give equal tournaments, for every decoder and any number of threads.
    confidence : float
        Of the interval (exact binomial).
    threads : int, optional
        One a core when left out. The result does not depend on it.
    progress : callable, optional
        Called with the number of trials just finished.

    Returns
    -------
    Estimate, or a list of them in the order of the decoders.

    Examples
    --------
    >>> from pairsim import Adag, MaxWin, Uniform, simulate
    >>> simulate(Uniform(16, 1.0), Adag(), trials=1000).success
    1.0
    >>> [e.queries for e in simulate(Uniform(16, 0.9), [MaxWin(), Adag()], trials=1000)]
    [120.0, 15.0]
    """
    if not isinstance(oracle, Oracle):
        raise refusal("simulate", "oracle", "an oracle such as Uniform(16, 0.9)", repr(oracle))
    decoders = (decoder,) if isinstance(decoder, Decoder) else tuple(decoder)
    if not decoders or not all(isinstance(each, Decoder) for each in decoders):
        raise refusal("simulate", "decoder", "a decoder such as MaxWin(), or several", repr(decoder))
    trials = check_trials("simulate", trials, oracle)
    seed = check_seed("simulate", seed)
    confidence = check_confidence("simulate", confidence)
    threads = check_threads("simulate", threads)
    shown = len(decoders)
    reference = next((place for place, each in enumerate(decoders) if isinstance(each, MaxWin)), -1)
    if reference < 0 and shown > 1 and oracle.n <= AGREEMENT_CLASSES:
        reference = shown
        decoders = (*decoders, MaxWin())
    questions = sum(each.cost(oracle.n).queries for each in decoders)
    bench = Bench(oracle, decoders, reference, stream_key(seed, oracle.n))
    counts = _run_blocks(bench, cut_blocks(trials, questions), threads, progress)
    estimates = [
        _estimate(decoders[place], counts, place, trials, confidence, reference >= 0) for place in range(shown)
    ]
    return estimates[0] if isinstance(decoder, Decoder) else estimates


def _estimate(decoder: Decoder, counts: Counts, place: int, trials: int, confidence: float, compared: bool) -> Estimate:
    successes = int(counts.successes[place])
    low, high = binomial_interval(successes, trials, confidence)
    price = counts.prices[place] / trials
    return Estimate(
        decoder=decoder.spec,
        method="simulated",
        trials=trials,
        success=successes / trials,
        low=low,
        high=high,
        queries=float(price[QUERIES]),
        distinct=float(price[DISTINCT]),
        rounds=float(price[ROUNDS]),
        agreement=int(counts.agreements[place]) / trials if compared else math.nan,
        confidence=confidence,
    )
