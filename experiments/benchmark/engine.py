"""Rows of the engine: max-win, poll, the paper's panels, growth, threads, memory, start-up."""

from __future__ import annotations

import functools
import itertools
import math
import sys

import numpy as np

from experiments.benchmark import baselines
from experiments.benchmark.kernels import (
    fastest_words_per_second,
    generator_words_per_second,
    outcome_bits_per_second,
)
from experiments.benchmark.timing import (
    Measured,
    best_process_seconds,
    best_seconds,
    fresh_cache_output,
    peak_megabytes,
)
from pairsim import Adag, Ddag, Decoder, MaxWin, Oracle, Poll, Recorded, Similarity, Uniform, decoder, simulate, sweep
from pairsim.decoders import PAPER_SPECS

N = 512
PAIRS = N * (N - 1) // 2


def _max_win_rate(oracle: Oracle, trials: int = 16_384) -> float:
    """Return pair answers per second of max-win on one thread, trials counted one by one."""
    seconds = best_seconds(lambda: simulate(oracle, MaxWin(), trials, threads=1, method="simulated"), 40)
    return trials * oracle.n * (oracle.n - 1) / 2 / seconds


def max_win_rows() -> list[Measured]:
    """Max-win at n = 512 on one thread, against NumPy, a numba loop and the generator alone."""
    rng = np.random.default_rng(0)
    uniform, similar = Uniform(N, 0.7), Similarity.profile("zipf:1.0", N)
    ours, ours_similar = _max_win_rate(uniform), _max_win_rate(similar)
    numpy_rate = 64 * PAIRS / best_seconds(lambda: baselines.numpy_max_win(uniform.matrix(), 64, rng), 30)
    numpy_similar = 64 * PAIRS / best_seconds(lambda: baselines.numpy_max_win(similar.matrix(), 64, rng), 30)
    loop = 32 * PAIRS / best_seconds(lambda: baselines.loop_max_win(N, 0.7, 32), 12)
    words, fastest = generator_words_per_second(), fastest_words_per_second()
    return [
        Measured("max-win, uniform, n = 512, against NumPy", ours / numpy_rate, 300, "x",
                 detail=f"{ours:.3g} answers/s"),
        Measured("the same against a numba double loop", ours / loop, 150, "x", detail=f"loop: {loop:.3g} answers/s"),
        Measured("answers/s against the generator's bits/s", ours / (64 * words), 0.5, "",
                 detail=f"{64 * words:.3g} bits/s, pair by pair"),
        Measured("the same against the fastest form of the generator", ours / (64 * fastest), 0.5, "",
                 detail=f"{64 * fastest:.3g} bits/s, as vector values"),
        Measured("max-win, similarity, n = 512, against NumPy", ours_similar / numpy_similar, 40, "x",
                 detail=f"{ours_similar:.3g} answers/s"),
        Measured("exact-p outcome bits, p = 0.7, one core", outcome_bits_per_second(0.7) / 1e9, 5, "Gbit/s"),
    ]  # fmt: skip


def poll_rows() -> list[Measured]:
    """Time to the same standard error: conditional polls against polls drawn on the same tournaments."""
    rows = []
    oracle = Uniform(N, 0.9)
    answers = Recorded.of(oracle, 64).answers()
    beats = np.zeros((64, N, N), np.bool_)
    low, high = np.triu_indices(N, 1)
    beats[:, low, high], beats[:, high, low] = answers, ~answers
    for spec, goal in (("5log", 300), ("log", 20)):
        l = math.ceil(float(spec.removesuffix("log") or 1) * math.log2(N))
        ours = best_seconds(lambda l=l: simulate(oracle, Poll(l), 4096, threads=1), 3) / 4096
        theirs = best_seconds(lambda l=l: baselines.drawn_polls(beats, l, 200, 1), 3) / 200
        estimate = simulate(oracle, Poll(l), 20_000)
        ratio = estimate.success * estimate.failure / (estimate.standard_error**2 * estimate.trials)
        rows.append(
            Measured(f"poll at {spec}, time to the same standard error", theirs * ratio / ours, goal, "x",
                     detail=f"variance {ratio:.3g} x, time {theirs / ours:.3g} x")
        )  # fmt: skip
    return rows


def panel_rows() -> list[Measured]:
    """Measure the four panels of the POLL paper, 10,000 rounds, all six curves, on the threads each takes by itself.

    Both sides compute every point of both figures (those that the figures share, twice). NumPy is timed on 200 rounds
    in one batch a point, large enough for its overhead a call not to matter, and scaled to 10,000.
    """
    decoders = [decoder(spec) for spec in PAPER_SPECS]
    figures = [list(range(16, 129, 16)), [16, 32, 64, 128, 256, 512]]

    def ours() -> None:
        for classes in figures:
            sweep([Uniform(n, p) for p in (0.9, 0.7) for n in classes], decoders, 10_000)

    rng = np.random.default_rng(0)
    rounds = 200

    def theirs() -> None:
        for n, p in itertools.product(itertools.chain(*figures), (0.9, 0.7)):
            baselines.numpy_panel(Uniform(n, p).matrix(), rounds, rng)

    seconds, baseline = best_seconds(ours, 6), best_seconds(theirs, 6) * 10_000 / rounds
    detail = f"{seconds:.3g} s against {baseline:.3g} s (scaled from {rounds} rounds)"
    return [Measured("the paper's four panels against NumPy", baseline / seconds, 200, "x", detail=detail)]


def growth_rows() -> list[Measured]:
    """Fit exponents of the time that a trial takes, n = 64 .. 2048.

    Smaller n get more trials, so that every point is about the same work and the fixed cost of a call does not flatten
    the fit.
    """
    cases: list[tuple[Decoder, float, int, int]] = [
        (MaxWin(), 2.1, 2048, 2),
        (Poll("5log"), 1.2, 16, 1),
        (Adag(), 1.1, 1000, 1),
        (Ddag(), 1.1, 1000, 1),
    ]
    sizes = [64, 128, 256, 512, 1024, 2048]
    rows = []
    for each, goal, least, power in cases:
        times = [_trial_seconds(each, n, least * (sizes[-1] // n) ** power) for n in sizes]
        exponent = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
        detail = f"{times[3] * 1e6:.3g} us a trial at n = 512"
        rows.append(Measured(f"growth of {each.spec} with n", exponent, goal, "", at_most=True, detail=detail))
    return rows


def _trial_seconds(each: Decoder, n: int, trials: int) -> float:
    work = functools.partial(simulate, Uniform(n, 0.9), each, trials, threads=1, method="simulated")
    return best_seconds(work, 3) / trials


def machine_rows() -> list[Measured]:
    """Threads, memory and compile time."""
    oracle = Uniform(N, 0.7)
    one, two = (
        best_seconds(lambda k=k: simulate(oracle, MaxWin(), 32_768, threads=k, method="simulated"), 20) for k in (1, 2)
    )
    memory = peak_megabytes("from pairsim import MaxWin, Uniform, sweep\nsweep([Uniform(4096, 0.7)], [MaxWin()], 1024)")
    compiling = float(
        fresh_cache_output(
            "from pairsim.simulation import watch_compiler\nfrom pairsim import Uniform, decoder, sweep\n"
            "from pairsim.decoders import PAPER_SPECS\nwatch = watch_compiler()\n"
            "sweep([Uniform(16, 0.7)], [decoder(spec) for spec in PAPER_SPECS], 100)\nprint(watch.seconds)"
        )
    )
    return [
        Measured("two threads against one", one / two, 1.7, "x"),
        Measured("peak memory, max-win sweep at n = 4096", memory, 400, "MB", at_most=True),
        Measured("compiling for the main job, empty cache", compiling, 15, "s", at_most=True),
    ]


def start_rows() -> list[Measured]:
    """Whole processes, interpreter included."""
    program = [sys.executable, "-c", "from pairsim.cli import run; run()"]
    help_ratio = best_process_seconds([*program, "--help"]) / best_process_seconds(
        [sys.executable, "-c", "import typer"]
    )
    small = [*program, "sweep", "--p", "0.9", "--n", "16", "--trials", "1000"]
    libraries = best_process_seconds([sys.executable, "-c", "import numba, pandas"], 5)
    ratio = best_process_seconds(small, 5) / libraries
    return [
        Measured("pairsim --help against import typer", help_ratio, 2, "x", at_most=True),
        Measured("a small warm sweep against import numba, pandas", ratio, 2.5, "x", at_most=True,
                 detail=f"{ratio * libraries:.3g} s"),
    ]  # fmt: skip


GROUPS = {
    "max-win": max_win_rows,
    "poll": poll_rows,
    "panels": panel_rows,
    "growth": growth_rows,
    "machine": machine_rows,
    "start": start_rows,
}
