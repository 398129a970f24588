"""`pairsim export`: the table of a store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pairsim.cli.console import note


def export_command(
    store: Annotated[Path, typer.Argument(help="A results store (.db).")],
    out: Annotated[Path, typer.Option("--out", help="The table: .csv, .json or .parquet.")],
) -> None:
    """Write the rows of a store as a table: the same bytes that an uninterrupted sweep would have written.

    Example: pairsim export results.db --out table.csv
    """
    from pairsim.evaluation.results import is_evaluation, read_evaluation
    from pairsim.sweeps.files import check_table_target, write_table
    from pairsim.sweeps.results import read_rows

    if is_evaluation(store):
        from pairsim.cli.evaluate import write_evaluation
        from pairsim.evaluation import EVALUATION_TABLE

        EVALUATION_TABLE.check_target(out)
        found = read_evaluation(store)
        write_evaluation(*found, out)
        note(f"wrote {len(found[0])} rows to {out}")
        return
    check_table_target(out)
    rows = read_rows(store)
    write_table(rows, out)
    note(f"wrote {len(rows)} rows to {out}")
