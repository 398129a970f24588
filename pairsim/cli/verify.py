"""`pairsim verify`: stored blocks played again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pairsim.checks import check_whole
from pairsim.cli.console import announce_compiling, note, progress_bar
from pairsim.cli.stops import OUTSIDE_TROUBLE, Stopped
from pairsim.errors import refusal


def verify_command(
    store: Annotated[Path, typer.Argument(help="A results store (.db).")],
    blocks: Annotated[int, typer.Option("--blocks", help="How many random blocks to play again.")] = 10,
    seed: Annotated[int | None, typer.Option("--seed", help="Of the choice; by itself another one every time.")] = None,
) -> None:
    """Play random blocks of a store again and compare every number.

    Example: pairsim verify results.db --blocks 100
    """
    check_whole("verify", "blocks", blocks, 1)

    from pairsim.store import Store
    from pairsim.sweeps.verification import verify_store

    announce_compiling()
    with Store.read(store) as opened, progress_bar("verify", 1.0) as advance:
        checked = verify_store(opened, blocks, seed, advance)
        total = opened.count_blocks()
    if not checked:
        raise refusal("verify", "store", "a store with finished blocks", f"{str(store)!r}, which has none")
    wrong = [each for each in checked if not each.agrees]
    for each in wrong[:5]:
        note(f"block {each.block.block} of task {each.task.id}: stored {each.block.values}, played again {each.again}")
    if wrong:
        raise Stopped(f"{len(wrong)} of {len(checked)} blocks came out differently", OUTSIDE_TROUBLE)
    typer.echo(f"{len(checked)} of {total:,} blocks played again: every number is the same.")
