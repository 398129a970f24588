"""`pairsim export`: a store as a table file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pairsim.cli import options
from pairsim.cli.console import note, noting_left_out
from pairsim.cli.results import open_results


def export_command(
    store: Annotated[Path, typer.Argument(help="A results store (.db).")],
    out: Annotated[Path, typer.Option("--out", help="Table file: .csv, .json or .parquet.")],
    load: options.LoadOption = None,
) -> None:
    """Write the rows of a store to a table file.

    The file is byte-identical to that of an uninterrupted sweep.

    Example: pairsim export results.db --out table.csv
    """
    options.load_modules(load)

    with open_results(store) as found:
        if found.evaluates:
            from pairsim.cli.evaluate import write_evaluation
            from pairsim.evaluation import EVALUATION_TABLE

            EVALUATION_TABLE.check_target(out)
            with noting_left_out(made_by="evaluation") as left_out:
                evaluated, comparisons = found.evaluation(left_out)
            write_evaluation(evaluated, comparisons, out)
            note(f"wrote {len(evaluated)} rows to {out}")
            return
        from pairsim.sweeps.files import check_table_target, write_table

        check_table_target(out)
        with noting_left_out() as left_out:
            rows = found.rows(left_out)
        write_table(rows, out)
        note(f"wrote {len(rows)} rows to {out}")
