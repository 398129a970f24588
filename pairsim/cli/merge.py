"""`pairsim merge`: stores from many machines put together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pairsim.cli.console import note


def merge_command(
    stores: Annotated[list[Path], typer.Argument(help="Results stores (.db), in any order.")],
    out: Annotated[Path, typer.Option("--out", help="The store that has everything: a new one, or one to add to.")],
) -> None:
    """Put stores together; a block that several of them have is counted once.

    Example: pairsim merge monday.db tuesday.db --out all.db
    """
    from pairsim.store import merge_stores

    report = merge_stores(stores, out)
    repeated = f"; {report.repeated:,} of them were in several files and are counted once" if report.repeated else ""
    note(f"{out}: {report.blocks:,} blocks of {report.tasks:,} tasks from {report.files} files{repeated}")
