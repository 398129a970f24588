"""`pairsim plan`: the cheapest decoder for a target success probability."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pairsim.cli import options
from pairsim.cli.console import announce_compiling, note, progress_steps, write_then_show
from pairsim.cli.oracle_options import Grid, with_oracles
from pairsim.cli.records import show_records
from pairsim.errors import parameter_error

if TYPE_CHECKING:
    from pairsim.oracles import Oracle
    from pairsim.planning import Plan


@with_oracles
def plan_command(
    grid: Grid,
    target: Annotated[
        float | None,
        typer.Option("--target", help="Target success probability, such as 0.99. Default: the best within the limits."),
    ] = None,
    decoder: options.PlanDecoderOption = None,
    max_queries: Annotated[
        int | None, typer.Option("--max-queries", help="Maximum different pairs per decision, always kept.")
    ] = None,
    max_rounds: Annotated[
        int | None, typer.Option("--max-rounds", help="Maximum rounds per decision, always kept.")
    ] = None,
    mean_queries: Annotated[
        float | None, typer.Option("--mean-queries", help="Maximum mean number of different pairs per decision.")
    ] = None,
    ties: options.TiesOption = None,
    seed: options.SeedOption = 0,
    confidence: options.ConfidenceOption = 0.95,
    format_: options.FormatOption = "table",
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Plot of success against mean and most queries: .png, .svg or .pdf.")
    ] = None,
    threads: options.ThreadsOption = None,
) -> None:
    """List the decoders that reach a target, cheapest first.

    Without a target, the best within the limits are listed, the most successful first.

    The cost is in different pairs, because the answer to a pair is persistent: the mean (distinct), the 95% quantile
    and the most, beside the floors that are proven for this success: mean_floor bounds the mean of every decoder,
    budget_floor its most. queries counts repeated pairs, too; at_once is how many queries of a round do not wait for
    each other. Each success probability is exact, certified (proven), conditional or simulated, from trials that were
    not used to choose the decoder.

    Example: pairsim plan --n 512 --p 0.9 --target 0.99
    """
    options.check_format(format_)
    options.check_ties(ties)
    if plot is not None:
        from pairsim.cli.plot import check_picture_target

        check_picture_target(plot)
    oracles = grid()
    if len(oracles) != 1:
        raise parameter_error("plan", "n and p", "one point", f"{len(oracles)} points")

    from pairsim.planning import plan
    from pairsim.planning.limits import Limits

    announce_compiling()
    with progress_steps("plan") as step:
        found = plan(
            oracles[0],
            target,
            decoders=options.make_decoders(decoder, ties) if decoder else None,
            max_queries=max_queries,
            max_rounds=max_rounds,
            mean_queries=mean_queries,
            seed=seed,
            confidence=confidence,
            ties=ties or "random",
            threads=threads,
            progress=step,
        )
    records = [vars(option) | {"decoder": option.decoder.spec} for option in found.options]
    limits = Limits(max_queries, max_rounds, mean_queries).described()
    wanted = [] if target is None else [f"success of at least {target:g}"]
    caption = f"{described(oracles[0])}: {'; '.join([*wanted, *([limits] if limits else [])])}"
    for warning in found.warnings:
        note(warning)
    write_then_show(
        [] if plot is None else [lambda: _draw(found, plot)], lambda: show_records(records, format_, caption)
    )


def _draw(found: Plan, plot: Path) -> None:
    from matplotlib.figure import Figure

    from pairsim.outputs import write_whole
    from pairsim.plots import plot_frontier, save_picture

    figure = Figure(figsize=(10.0, 4.4), layout="constrained")
    for ax, cost in zip(figure.subplots(1, 2, sharey=True), ("mean", "most"), strict=True):
        plot_frontier(found, cost, ax=ax)
    write_whole(plot, lambda temporary: save_picture(figure, temporary))
    note(f"drew {plot}")


def described(oracle: Oracle) -> str:
    """Return a short description of the grid point."""
    p = "" if oracle.p is None else f", p = {oracle.p:g}"
    return f"{oracle.label}, n = {oracle.n}{p}"
