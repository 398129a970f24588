"""Estimates: decoders on an oracle, block by block, on threads."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import overload

from pairsim.checks import check_callable, check_members, check_parallel, check_whole, usable_cores
from pairsim.decoders import Decoder, MaxWin
from pairsim.engines.ordered_threads import OrderedThreads
from pairsim.errors import parameter_error
from pairsim.oracles import Oracle
from pairsim.simulation.blocks import cut_blocks, cut_pieces, join
from pairsim.simulation.limits import check_trial
from pairsim.simulation.methods import check_method, choose_method
from pairsim.simulation.simulator import BlockSimulator
from pairsim.simulation.tally import BlockResult, Tally
from pairsim.stats import (
    Estimate,
    binomial_interval,
    bounded_interval,
    check_confidence,
    error_of_width,
    sum_interval,
)

DEFAULT_TRIALS = 10_000
AGREEMENT_CLASSES = 1024  # without a max-win among the decoders, one is run beside them up to this many classes

Progress = Callable[[int], None]


def check_seed(owner: str, seed: object) -> int:
    """Return `seed` as an int when it is an integer of at most 64 bits."""
    return check_whole(owner, "seed", seed, 0, (1 << 64) - 1, "an integer from 0 to 2**64 - 1")


def check_threads(owner: str, threads: object) -> int:
    """Return the number of threads: as given, or one per usable core."""
    if threads is None:
        return usable_cores()
    return check_parallel(owner, "threads", threads)


def check_trials(owner: str, trials: object, oracle: Oracle) -> int:
    """Return the number of trials: as given, else all recorded rows, else `DEFAULT_TRIALS`."""
    if trials is None:
        return oracle.rows or DEFAULT_TRIALS
    number = check_whole(owner, "trials", trials, 1)
    if oracle.rows is not None and number > oracle.rows:
        raise parameter_error(owner, "trials", f"at most the number of recorded rows, {oracle.rows}", number)
    return number


def make_simulator(
    oracles: tuple[Oracle, ...], decoders: tuple[Decoder, ...], method: str, trials: int, seed: int
) -> tuple[BlockSimulator, tuple[str, ...]]:
    """Return the simulator, and the method of each decoder as it will be reported.

    The oracles have the same n; several of them must be uniform. A decoder whose success is exact is still
    simulated where its agreement with max-win is wanted, else it is omitted.
    """
    oracle, n = oracles[0], oracles[0].n
    reference = next((place for place, each in enumerate(decoders) if each.reference), -1)
    beside = reference < 0 and len(decoders) > 1 and n <= AGREEMENT_CLASSES and method != "exact"
    scored = reference >= 0 or beside
    methods = tuple(choose_method(oracle, decoder, method, trials, scored) for decoder in decoders)
    if set(methods) == {"exact"} and not beside:
        return BlockSimulator(oracles, (), (), -1, seed), methods
    simulated = [(d, "simulated" if m == "exact" else m) for d, m in zip(decoders, methods, strict=True)]
    if beside:
        reference = len(simulated)
        simulated.append((MaxWin(), "simulated"))
    simulator = BlockSimulator(oracles, tuple(d for d, _ in simulated), tuple(m for _, m in simulated), reference, seed)
    check_trial(n, simulator.decoders, simulator.methods, simulator.scored)
    return simulator, methods


def run_blocks(
    simulator: BlockSimulator, trials: int, threads: int, progress: Progress | None
) -> list[BlockResult | None]:
    """Play all blocks on threads; pieces are merged in order to blocks, and blocks in order, on any number of them."""
    if not simulator.decoders:
        return [None] * len(simulator.oracles)
    pieces = (
        (piece, place == 0)
        for _, first, count in cut_blocks(simulator.n, trials)
        for place, piece in enumerate(cut_pieces(simulator, first, count))
    )
    total: list[BlockResult] | None = None
    block: list[BlockResult] | None = None
    for parts, starts_block, count in _played(simulator, pieces, threads):
        if starts_block and block is not None:
            total, block = join(total, block), None
        block = join(block, parts)
        if progress is not None:
            progress(count)
    assert block is not None
    return list(join(total, block))


def _played(
    simulator: BlockSimulator, pieces: Iterator[tuple[tuple[int, int], bool]], threads: int
) -> Iterator[tuple[list[BlockResult], bool, int]]:
    """Yield what each piece gave, in order, with whether it starts a block and its number of trials."""
    workers = OrderedThreads(lambda piece: (simulator.run(*piece[0]), piece[1], piece[0][1]), pieces)
    yield from workers.work(threads)


def estimate_of(
    oracle: Oracle, decoder: Decoder, method: str, tally: Tally | None, confidence: float, is_reference: bool = False
) -> Estimate:
    """Return the estimate of one decoder; `tally` is None when an exact value needed no trial.

    Agreements are those with a reference, which agrees with itself for certain.
    """
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
        if min(failure, success) * trials < 1.0:
            error = max(error, error_of_width(high - low, confidence))
    else:
        assert tally is not None
        success, failure = (trials - tally.failed) / trials, tally.failed / trials
        low, high = binomial_interval(trials - tally.failed, trials, confidence)
        error = math.sqrt(success * failure / trials)
    cost = (math.nan, math.nan) if tally else decoder.cost(oracle.n)
    agreement_low, agreement_high = agreement_interval(tally, confidence, is_reference)
    return Estimate(
        decoder=decoder.spec,
        method=method,
        trials=trials,
        success=success,
        low=low,
        high=high,
        queries=tally.queries / trials if tally else float(cost[0]),
        distinct=tally.distinct / trials if tally else float(cost[0]),
        rounds=tally.rounds / trials if tally else float(cost[1]),
        agreement=tally.agreements / trials if tally else math.nan,
        agreement_low=agreement_low,
        agreement_high=agreement_high,
        confidence=confidence,
        failure=failure,
        standard_error=error,
    )


def agreement_interval(tally: Tally | None, confidence: float, is_reference: bool) -> tuple[float, float]:
    """Return the interval of the agreement with the reference; nan where it is not known."""
    if tally is None or math.isnan(tally.agreements):
        return math.nan, math.nan
    if is_reference:
        return 1.0, 1.0
    low, high = sum_interval(tally.agreements, tally.trials, confidence, counted=tally.smooth is None)
    agreement = tally.agreements / tally.trials  # may pass 1 by rounding
    return min(low, agreement), max(high, agreement)


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
    """Estimate every decoder on oracles with one n, which share what they can; one list of estimates per oracle."""
    must_be = "an oracle such as Uniform(16, 0.9)"
    oracles = check_members("simulate", "oracle", oracles, Oracle, must_be)
    decoders = check_members("simulate", "decoder", decoders, Decoder, "a decoder such as MaxWin(), or several")
    if len(oracles) > 1 and not all(each.uniform and each.n == oracles[0].n for each in oracles):
        raise parameter_error("simulate", "oracles", "uniform oracles of one n where there are several", oracles)
    check_callable("simulate", "progress", progress, "a callable that takes a number of trials")
    trials = check_trials("simulate", trials, oracles[0])
    seed = check_seed("simulate", seed)
    confidence = check_confidence("simulate", confidence)
    threads = check_threads("simulate", threads)
    check_method("simulate", method)
    simulator, methods = make_simulator(tuple(oracles), tuple(decoders), method, trials, seed)
    results = run_blocks(simulator, trials, threads, progress)
    return [
        [
            estimate_of(
                oracle, each, used, row.tallies[place] if row else None, confidence, place == simulator.reference
            )
            for place, (each, used) in enumerate(zip(decoders, methods, strict=True))
        ]
        for oracle, row in zip(oracles, results, strict=True)
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
    """Estimate the success probability and the cost of a decoder, with a confidence interval.

    Parameters
    ----------
    oracle : Oracle
        The source of the answers.
    decoder : Decoder or sequence of Decoder
        Several decoders run on the same tournaments, and each also gets `agreement`: how often it predicts max-win's
        class (the first `MaxWin` among them, else one that is run beside them up to 1,024 classes).
    trials : int, optional
        Number of trials. Default: 10,000, or every row of a recorded oracle.
    seed : int
        Equal seeds give equal tournaments, for every decoder and any number of threads.
    confidence : float
        Confidence level of the interval: exact binomial for counted trials, else see `bounded_interval`.
    method : {"auto", "simulated", "conditional", "exact"}
        "simulated" counts trials. "conditional" computes part of the probability exactly in each trial: poll and
        top-k given the scores of the tournament, max-win (uniform oracle) given the games among the wrong classes.
        "exact" needs no trial. "auto" is exact, else conditional, else simulated, for each decoder.
    threads : int, optional
        Number of threads; results do not depend on it. Default: one per core.
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
    decoders: Sequence[Decoder] = [decoder] if isinstance(decoder, Decoder) else decoder
    estimates = simulate_together(
        [oracle], decoders, trials, seed, confidence, method=method, threads=threads, progress=progress
    )[0]
    return estimates[0] if alone else estimates
