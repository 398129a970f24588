"""`pairsim plan`: the cheapest decoder for a target success probability."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pairsim.cli import options
from pairsim.cli.console import announce_compiling, note, progress_bar, write_then_show
from pairsim.cli.oracle_options import Grid, with_oracles
from pairsim.cli.records import show_records
from pairsim.errors import parameter_error

if TYPE_CHECKING:
    from pairsim.oracles import Oracle
    from pairsim.planning.plan import Plan


@with_oracles
def plan_command(
    target: Annotated[float, typer.Option("--target", help="Target success probability, such as 0.99.")],
    grid: Grid,
    decoder: options.PlanDecoderOption = None,
    max_queries: Annotated[int | None, typer.Option("--max-queries", help="Maximum queries per decision.")] = None,
    max_rounds: Annotated[int | None, typer.Option("--max-rounds", help="Maximum rounds per decision.")] = None,
    ties: options.TiesOption = None,
    seed: options.SeedOption = 0,
    confidence: options.ConfidenceOption = 0.95,
    format_: options.FormatOption = "table",
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Plot of success against queries: .png, .svg or .pdf.")
    ] = None,
    threads: options.ThreadsOption = None,
) -> None:
    """List the decoders that reach a target, cheapest first.

    Each success probability is exact, certified (proven), conditional or simulated (by the last two, its lower
    confidence limit meets the target).

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
    records = [vars(option) | {"decoder": option.decoder.spec} for option in found.options]
    caption = f"{described(oracles[0])}: success of at least {target:g}"
    write_then_show(
        [] if plot is None else [lambda: _draw(found, plot)], lambda: show_records(records, format_, caption)
    )


def _draw(found: Plan, plot: Path) -> None:
    from matplotlib.figure import Figure

    from pairsim.outputs import write_whole
    from pairsim.plots import plot_frontier, save_picture

    figure = Figure(layout="constrained")
    plot_frontier(found, ax=figure.subplots())
    write_whole(plot, lambda temporary: save_picture(figure, temporary))
    note(f"drew {plot}")


def described(oracle: Oracle) -> str:
    """Return a short description of the grid point."""
    p = "" if oracle.p is None else f", p = {oracle.p:g}"
    return f"{oracle.label}, n = {oracle.n}{p}"
