"""`pairsim separation`: how clear-cut tournaments are."""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer

from pairsim.cli import options
from pairsim.cli.oracle_options import Grid, with_oracles
from pairsim.cli.records import show_records

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@with_oracles
def separation_command(
    grid: Grid,
    alpha: Annotated[str, typer.Option("--alpha", help="Separations to count: 1.8, 1.2,1.8 or 1.1..1.9:0.1.")] = "1.8",
    of: Annotated[
        str,
        typer.Option("--of", help="truth (the true class against the best other one) or winner (the two top scores)."),
    ] = "truth",
    trials: options.TrialsOption = None,
    seed: options.SeedOption = 0,
    confidence: options.ConfidenceOption = 0.95,
    threads: options.ThreadsOption = None,
    format_: options.FormatOption = "table",
) -> None:
    """Measure how clear-cut tournaments are.

    The separation s1/s2 is the true class's score over the best other one. Prints the fraction of tournaments with
    s1/s2 >= alpha and its exact interval; "promised" is the fraction that the POLL paper's Theorem 3 proves (uniform
    oracles); then the quantiles of s1/s2. For the poll size at a separation of alpha: pairsim bound --alpha.

    Examples: pairsim separation --n 128 --p 0.9 --alpha 1.8; pairsim separation --oracle recorded:answers.npz
    """
    options.check_format(format_)
    oracles = grid()

    from pairsim.simulation import separation
    from pairsim.sweeps.ranges import real_points

    alphas = real_points("alpha", alpha)
    records: list[dict[str, Any]] = []
    for each in oracles:
        found = separation(each, trials, seed, confidence, of=of, threads=threads)
        spread = {f"q{100 * level:02.0f}": found.quantile(level) for level in QUANTILES}
        for one in alphas:
            above = found.above(one)
            records.append(
                {
                    "oracle": each.label,
                    "n": each.n,
                    "p": math.nan if each.p is None else each.p,
                    "alpha": above.alpha,
                    "share": above.share,
                    "low": above.low,
                    "high": above.high,
                    "promised": above.at_least,
                    **spread,
                    "trials": found.trials,
                    "seed": seed,
                }
            )
    show_records(records, format_)
