"""`pairsim verify`: stored blocks recomputed and compared."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pairsim.checks import check_whole
from pairsim.cli import options
from pairsim.cli.console import announce_compiling, note, noting_left_out, progress_bar, say
from pairsim.cli.exits import OUTSIDE_TROUBLE, Stopped
from pairsim.errors import parameter_error


def verify_command(
    store: Annotated[Path, typer.Argument(help="A results store (.db).")],
    blocks: Annotated[int, typer.Option("--blocks", help="Number of random blocks to recompute.")] = 10,
    seed: Annotated[int | None, typer.Option("--seed", help="Seed for choosing the blocks. Default: random.")] = None,
    load: options.LoadOption = None,
) -> None:
    """Recompute random blocks of a store and check them.

    Example: pairsim verify results.db --blocks 100
    """
    check_whole("verify", "blocks", blocks, 1)
    options.load_modules(load)

    from pairsim.store import Store
    from pairsim.sweeps.verification import verify_store

    announce_compiling()
    with Store.read(store) as opened, noting_left_out("task") as left_out, progress_bar("verify", 1.0) as advance:
        checked = verify_store(opened, blocks, seed, advance, left_out)
        total = opened.count_blocks()
    if not checked:
        why = "whose tasks were all skipped" if left_out else "which has none"
        raise parameter_error("verify", "store", "a store with finished blocks", f"{str(store)!r}, {why}")
    wrong = [each for each in checked if not each.agrees]
    for each in wrong[:5]:
        note(f"block {each.block.block} of task {each.task.id}: stored {each.block.values}, recomputed {each.again}")
    if wrong:
        raise Stopped(f"{len(wrong)} of {len(checked)} recomputed blocks differ", OUTSIDE_TROUBLE)
    say(f"{len(checked)} of {total:,} blocks recomputed: all values match.")
