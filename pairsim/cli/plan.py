"""`pairsim plan`: the cheapest decoder for a wanted success probability."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from pairsim.cli import options
from pairsim.cli.console import announce_compiling, note, progress_bar
from pairsim.cli.records import show_records
from pairsim.errors import refusal


def plan_command(
    target: Annotated[float, typer.Option("--target", help="The wanted success probability, such as 0.99.")],
    n: options.ClassesOption = None,
    p: options.ChanceOption = None,
    oracle: options.OracleOption = None,
    r: options.SimilarityOption = None,
    matrix: options.MatrixOption = None,
    order: options.OrderOption = None,
    difficulty: options.DifficultyOption = None,
    decoder: options.PlanDecoderOption = None,
    max_queries: Annotated[int | None, typer.Option("--max-queries", help="The most questions a decision.")] = None,
    max_rounds: Annotated[int | None, typer.Option("--max-rounds", help="The most rounds a decision.")] = None,
    ties: options.TiesOption = None,
    seed: options.SeedOption = 0,
    confidence: options.ConfidenceOption = 0.95,
    format_: options.FormatOption = "table",
    plot: Annotated[Path | None, typer.Option("--plot", help="Picture of success against queries.")] = None,
    threads: options.ThreadsOption = None,
) -> None:
    """List every decoder and setting that reaches the target, cheapest first.

    Each figure is exact, certified (proven) or simulated (then it is the lower end of its interval that reaches it).

    Example: pairsim plan --n 512 --p 0.9 --target 0.99
    """
    options.check_format(format_)
    options.check_ties(ties)
    if plot is not None:
        from pairsim.cli.plot import check_picture_target

        check_picture_target(plot)
    oracles = options.make_oracles(oracle, n, p, r, matrix, order, difficulty)
    if len(oracles) != 1:
        raise refusal("plan", "n and p", "one point", f"{len(oracles)} points")

    from pairsim.planning import plan
    from pairsim.planning.candidates import families

    announce_compiling()
    steps = sum(1 for _ in families(oracles[0].n, "random"))
    with progress_bar("plan", steps) as advance:
        found = plan(
            oracles[0],
            target,
            decoders=options.make_decoders(decoder, ties) if decoder else None,
            max_queries=max_queries,
            max_rounds=max_rounds,
            seed=seed,
            confidence=confidence,
            ties=ties or "random",
            threads=threads,
            progress=lambda name: advance(1, name),
        )
    records = [dataclasses.asdict(option) for option in found.options]
    show_records(records, format_, f"{oracles[0].label}, n = {oracles[0].n}: success of at least {target:g}")
    if plot is not None:
        from matplotlib.figure import Figure

        from pairsim.outputs import write_whole
        from pairsim.plots import plot_frontier, save_picture

        figure = Figure(layout="constrained")
        plot_frontier(found, ax=figure.subplots())
        write_whole(plot, lambda temporary: save_picture(figure, temporary))
        note(f"drew {plot}")
