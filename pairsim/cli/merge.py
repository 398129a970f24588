"""`pairsim merge`: stores from several hosts in one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pairsim.cli.console import note


def merge_command(
    stores: Annotated[list[Path], typer.Argument(metavar="STORE", help="Results stores (.db), in any order.")],
    out: Annotated[Path, typer.Option("--out", help="Merged store: a new file, or a store to add to.")],
) -> None:
    """Merge stores, dropping duplicate blocks.

    Example: pairsim merge monday.db tuesday.db --out all.db
    """
    from pairsim.store import merge_stores

    report = merge_stores(stores, out)
    repeated = f"; {report.repeated:,} duplicates dropped" if report.repeated else ""
    note(f"{out}: {report.blocks:,} blocks of {report.tasks:,} tasks from {report.files} files{repeated}")
