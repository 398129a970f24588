"""Average ranks of the SBC paper's seven methods: over its printed rows, and over our own errors of the same sets.

    python -m experiments.sbc_ranks [--results DIR] [--figures DIR]

Reads sbc_errors.csv, of which each cell of table 2 must be there (`python -m experiments sbc_errors`); where a cell was
measured twice the row with more runs counts. Writes sbc_ranks.csv: the printed ranks, those of the printed rows, and
ours; whether a rank differs from KERNEL's by more than Bonferroni and Dunn's difference at the paper's level;
Friedman's test in Iman and Davenport's form. Draws sbc_ranks.png: lines join methods that are not told apart.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments import frame
from experiments.printed import SBC_LEVEL, SBC_METHODS, SBC_RANKS, SBC_TABLE_2
from experiments.results_table import read_table
from pairsim.evaluation.ranks import average_ranks, plot_ranks


def cells(results: Path) -> tuple[NDArray[np.float64], list[str]]:
    """Return our errors in the order of the printed table, and the cells that are missing."""
    path = results / "sbc_errors.csv"
    rows: Any = read_table(path) if path.exists() else None
    found, missing = np.full((len(SBC_TABLE_2), len(SBC_METHODS)), np.nan), []
    for i, name in enumerate(SBC_TABLE_2):
        for j, method in enumerate(SBC_METHODS):
            part: Any = rows[(rows["set"] == name) & (rows["method"] == method)] if rows is not None else ()
            if len(part):
                found[i, j] = part.sort_values("runs", kind="stable").error.iloc[-1]
            else:
                missing.append(f"{name}:{method}")
    return found, missing


def main(argv: Sequence[str] | None = None) -> None:
    """Rank, write and draw; nothing is measured, so that a quick run is the whole one, on the full tables."""
    from matplotlib.figure import Figure

    chosen = frame.parse(frame.parser(__doc__), argv)
    ours, missing = cells(frame.RESULTS if chosen.quick else chosen.results)
    if missing:
        print(f"sbc_errors.csv lacks {len(missing)} cells; run: sbc_errors {' '.join(missing)}", file=sys.stderr)
        raise SystemExit(2)
    tables = {"printed rows": np.array(list(SBC_TABLE_2.values()), dtype=np.float64), "ours": ours}
    ranked = {name: average_ranks(errors, SBC_METHODS, SBC_LEVEL) for name, errors in tables.items()}
    last = SBC_METHODS.index("KERNEL")
    frame.write_table(
        [
            {
                "errors": name,
                "method": method,
                "paper": SBC_RANKS[place],
                "rank": found.ranks[place],
                "apart_from_kernel": bool(found.ranks[place] - found.ranks[last] > found.control_difference),
                "difference_needed": found.control_difference,
                "iman_davenport": found.iman_davenport,
                "p_value": found.p_value,
                "level": SBC_LEVEL,
            }
            for name, found in ranked.items()
            for place, method in enumerate(SBC_METHODS)
        ],
        chosen.results / "sbc_ranks.csv",
    )
    figure = Figure(figsize=(6.6, 4.4), layout="constrained")
    for ax, (name, found) in zip(figure.subplots(2, 1), ranked.items(), strict=True):
        plot_ranks(found, ax=ax)
        ax.set_xlabel("")
        ax.set_title(f"SBC, table 2: {name}: average ranks, {found.sets} data sets", fontsize="medium")
    frame.draw(figure, chosen.figures, "sbc_ranks", chosen.format)


if __name__ == "__main__":
    main()
