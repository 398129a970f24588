"""Figure 2 of the SDT paper: how fast the printed method converges in the first split of iris, with a linear kernel.

    python -m experiments.sdt_convergence [--starts 40] [--quick] [--results DIR] [--figures DIR]

The objective after each step of CCCP from random starts, with the matrix M_ij as it is printed and as constraint (6)
needs it; features in [-1, 1], both lambdas 500. `cutting_planes` is what a step took: the paper's "iteration" (steps
5-7 of its Algorithm 1). Starts that put all classes on one side, which the objective allows, have one row without a
value. Writes sdt_convergence.csv, draws sdt_convergence.png.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris

from experiments import frame
from experiments.tree_errors import symmetric
from pairsim import ParameterError
from pairsim.learn.trees.cccp import cccp_partition
from pairsim.plots import COLOURS
from pairsim.plots.style import DASHES

MATRICES, PENALTY = ("corrected", "printed"), 500.0


def measure(starts: int) -> Iterator[dict[str, Any]]:
    """Yield the objective before the first step and after each, for every start."""
    rows, numbers = load_iris(return_X_y=True)
    rows = symmetric(rows, rows)[0]
    for matrix in MATRICES:
        for start in range(starts):
            options: dict[str, Any] = {"lambda_1": PENALTY, "lambda_2": PENALTY, "matrix": matrix}
            same: dict[str, Any] = {"matrix": matrix, "start": start}
            try:
                found = cccp_partition(rows @ rows.T, numbers, starts=1, rng=np.random.default_rng(start), **options)
            except ParameterError:  # all classes on one side
                yield same | {"step": 0, "objective": np.nan, "cutting_planes": 0, "pure": False}
                continue
            planes = [0, *(len(each.lower_bounds) for each in found.steps)]
            for step, (value, rounds) in enumerate(zip(found.objectives, planes, strict=True)):
                yield same | {"step": step, "objective": value, "cutting_planes": rounds, "pure": found.pure}


def main(argv: Sequence[str] | None = None) -> None:
    """Read the command line, measure, write and draw."""
    from matplotlib.figure import Figure

    parser = frame.parser(__doc__)
    parser.add_argument("--starts", type=int, default=None, help="random starts (default: 40; 8 in a quick run)")
    chosen = frame.parse(parser, argv)
    rows = pd.DataFrame(list(measure(chosen.starts or (8 if chosen.quick else 40))))
    frame.write_table(rows, chosen.results / "sdt_convergence.csv")
    figure = Figure(figsize=(4.2, 3.2), layout="constrained")
    ax = figure.subplots()
    for place, matrix in enumerate(MATRICES):
        for start, part in rows[rows.matrix == matrix].groupby("start"):
            name = f"M as {'it is printed' if matrix == 'printed' else '(6) needs it'}" if start == 0 else None
            ax.plot(part.step, part.objective, DASHES[place], color=COLOURS[place], lw=0.8, alpha=0.6, label=name)
    ax.set(yscale="log", xlabel="steps of CCCP", ylabel="objective")
    ax.grid(alpha=0.25)
    ax.legend(fontsize="small")
    frame.draw(figure, chosen.figures, "sdt_convergence", chosen.format)


if __name__ == "__main__":
    main()
