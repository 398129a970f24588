"""Estimates: decoders on an oracle, block by block, on threads."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from typing import overload

from pairsim.checks import check_whole
from pairsim.decoders import Decoder, MaxWin
from pairsim.errors import refusal
from pairsim.oracles import Oracle
from pairsim.simulation.bench import Bench
from pairsim.simulation.blocks import cut_blocks, cut_pieces, join
from pairsim.simulation.crew import Crew
from pairsim.simulation.methods import check_method, choose_method
from pairsim.simulation.tally import Played, Tally
from pairsim.stats import Estimate, binomial_interval, bounded_interval, check_confidence

DEFAULT_TRIALS = 10_000
AGREEMENT_CLASSES = 1024  # without a max-win among the decoders, one is run beside them up to this many classes

Progress = Callable[[int], None]


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


def make_bench(
    oracles: tuple[Oracle, ...], decoders: tuple[Decoder, ...], method: str, trials: int, seed: int
) -> tuple[Bench, tuple[str, ...]]:
    """Return the bench, and the method of each decoder as it will be reported.

    Oracles on one bench have the same n; several of them must be uniform. A decoder whose success is exact is still
    simulated where its agreement with max-win is wanted, and left off the bench where it is not.
    """
    oracle, n = oracles[0], oracles[0].n
    reference = next((place for place, each in enumerate(decoders) if isinstance(each, MaxWin)), -1)
    beside = reference < 0 and len(decoders) > 1 and n <= AGREEMENT_CLASSES and method != "exact"
    scored = reference >= 0 or beside
    methods = tuple(choose_method(oracle, decoder, method, trials, scored) for decoder in decoders)
    if set(methods) == {"exact"} and not beside:
        return Bench(oracles, (), (), -1, seed), methods
    played = [(d, "simulated" if m == "exact" else m) for d, m in zip(decoders, methods, strict=True)]
    if beside:
        reference = len(played)
        played.append((MaxWin(), "simulated"))
    return Bench(oracles, tuple(d for d, _ in played), tuple(m for _, m in played), reference, seed), methods


def run_blocks(bench: Bench, trials: int, threads: int, progress: Progress | None) -> list[Played | None]:
    """Play all blocks on threads; pieces are merged in order to blocks, and blocks in order, on any number of them."""
    if not bench.decoders:
        return [None] * len(bench.oracles)
    pieces = (
        (piece, place == 0)
        for _, first, count in cut_blocks(bench.n, trials)
        for place, piece in enumerate(cut_pieces(bench, first, count))
    )
    total: list[Played] | None = None
    block: list[Played] | None = None
    for parts, starts_block, count in _played(bench, pieces, threads):
        if starts_block and block is not None:
            total, block = join(total, block), None
        block = join(block, parts)
        if progress:
            progress(count)
    assert block is not None
    return list(join(total, block))


def _played(
    bench: Bench, pieces: Iterator[tuple[tuple[int, int], bool]], threads: int
) -> Iterator[tuple[list[Played], bool, int]]:
    """Yield what each piece gave, in order, with whether it starts a block and its number of trials."""
    crew = Crew(lambda piece: (bench.play(*piece[0]), piece[1], piece[0][1]), pieces)
    yield from crew.work(threads)


def estimate_of(oracle: Oracle, decoder: Decoder, method: str, tally: Tally | None, confidence: float) -> Estimate:
    """Return the estimate of one decoder; `tally` is None when an exact value needed no trial."""
    trials = tally.trials if tally else 0
    if method == "exact":
        from pairsim.exact_values import exact  # here: most estimates do without its kernels

        value = exact(oracle, decoder)
        success, failure = value.success, value.failure
        low, high, error = success, success, 0.0
    elif tally and tally.smooth:
        failure = tally.smooth.mean
        error = math.sqrt(tally.smooth.second / max(1, trials - 1) / trials)
        fail_low, fail_high = bounded_interval(tally.smooth, confidence)
        success, low, high = 1.0 - failure, 1.0 - fail_high, 1.0 - fail_low
    else:
        assert tally is not None
        success, failure = (trials - tally.failed) / trials, tally.failed / trials
        low, high = binomial_interval(trials - tally.failed, trials, confidence)
        error = math.sqrt(success * failure / trials)
    cost = decoder.cost(oracle.n)
    return Estimate(
        decoder=decoder.spec,
        method=method,
        trials=trials,
        success=success,
        low=low,
        high=high,
        queries=tally.queries / trials if tally else float(cost.queries),
        distinct=tally.distinct / trials if tally else float(cost.queries),
        rounds=tally.rounds / trials if tally else float(cost.rounds),
        agreement=tally.agreements / trials if tally else math.nan,
        confidence=confidence,
        failure=failure,
        standard_error=error,
    )


def simulate_together(
    oracles: Sequence[Oracle],
    decoders: Sequence[Decoder],
    trials: int | None,
    seed: int,
    confidence: float,
    *,
    method: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[list[Estimate]]:
    """Estimate every decoder on oracles with one n, which share what they can; one list of estimates an oracle."""
    for oracle in oracles:
        if not isinstance(oracle, Oracle):
            raise refusal("simulate", "oracle", "an oracle such as Uniform(16, 0.9)", repr(oracle))
    if not decoders or not all(isinstance(each, Decoder) for each in decoders):
        raise refusal("simulate", "decoder", "a decoder such as MaxWin(), or several", repr(decoders))
    trials = check_trials("simulate", trials, oracles[0])
    seed = check_seed("simulate", seed)
    confidence = check_confidence("simulate", confidence)
    threads = check_threads("simulate", threads)
    check_method("simulate", method)
    bench, methods = make_bench(tuple(oracles), tuple(decoders), method, trials, seed)
    played = run_blocks(bench, trials, threads, progress)
    return [
        [
            estimate_of(oracle, decoder, used, row.tallies[place] if row else None, confidence)
            for place, (decoder, used) in enumerate(zip(decoders, methods, strict=True))
        ]
        for oracle, row in zip(oracles, played, strict=True)
    ]


@overload
def simulate(
    oracle: Oracle,
    decoder: Decoder,
    trials: int | None = ...,
    seed: int = ...,
    confidence: float = ...,
    *,
    method: str = ...,
    threads: int | None = ...,
    progress: Progress | None = ...,
) -> Estimate: ...


@overload
def simulate(
    oracle: Oracle,
    decoder: Sequence[Decoder],
    trials: int | None = ...,
    seed: int = ...,
    confidence: float = ...,
    *,
    method: str = ...,
    threads: int | None = ...,
    progress: Progress | None = ...,
) -> list[Estimate]: ...


def simulate(
    oracle: Oracle,
    decoder: Decoder | Sequence[Decoder],
    trials: int | None = None,
    seed: int = 0,
    confidence: float = 0.95,
    *,
    method: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
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
        Of the interval: exact binomial for counted trials; for conditional chances, see `bounded_interval`.
    method : {"auto", "simulated", "conditional", "exact"}
        "simulated" counts trials. "conditional" computes part of the chance exactly in each trial: poll and top-k given
        the scores of the tournament, max-win (uniform oracle) given the games among the wrong classes. "exact" needs no
        trial. "auto" takes the fastest that is right for each decoder, exact before conditional before simulated.
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
    alone = isinstance(decoder, Decoder)
    decoders: Sequence[Decoder] = [decoder] if isinstance(decoder, Decoder) else list(decoder)
    estimates = simulate_together(
        [oracle], decoders, trials, seed, confidence, method=method, threads=threads, progress=progress
    )[0]
    return estimates[0] if alone else estimates
