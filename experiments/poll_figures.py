"""Figures 1 and 2 of the POLL paper: success of max-win, poll, adag and ddag as the number of classes grows.

    python -m experiments.poll_figures [--trials 10000] [--store poll.db] [--quick] [--results DIR] [--figures DIR]

Figure 1 takes n = 16, 32, 48, ..., 128, figure 2 n = 16, 32, 64, ..., 512; panel (a) is p = 0.9, panel (b) p = 0.7. The
curves go to poll_curves.csv: `method` says whether a number is exact, conditional or simulated, low and high are
its 95% interval. With --store, what was computed once is not computed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from experiments import frame
from pairsim import ParameterError, Uniform, decoder, sweep
from pairsim.decoders import PAPER_SPECS
from pairsim.plots import plot_panels

FIGURES: dict[str, Sequence[int]] = {
    "poll_figure_1": range(16, 129, 16),
    "poll_figure_2": [16, 32, 64, 128, 256, 512],
}
PROBABILITIES = (0.9, 0.7)
COLUMNS = ["n", "p", "decoder", "method", "trials", "success", "low", "high", "queries", "distinct"]


def measure(classes: Sequence[int], trials: int, store: Path | None) -> pd.DataFrame:
    """Return the curves of one figure."""
    decoders = [decoder(spec) for spec in PAPER_SPECS]
    return sweep([Uniform(n, p) for p in PROBABILITIES for n in classes], decoders, trials, store=store)


def main(argv: Sequence[str] | None = None) -> None:
    """Read the command line, measure, write the curves and draw."""
    parser = frame.parser(__doc__)
    parser.add_argument("--trials", type=int, default=None, help="default: 10,000, as in the paper; 500 in a quick run")
    parser.add_argument("--store", type=Path, default=None, help="keeps what was computed, to resume")
    chosen = frame.parse(parser, argv)
    trials = chosen.trials or (500 if chosen.quick else 10_000)
    tables = []
    for name, classes in FIGURES.items():
        try:
            rows = measure(classes[:3] if chosen.quick else classes, trials, chosen.store)
        except ParameterError as error:
            parser.error(str(error))
        tables.append(rows[COLUMNS].assign(figure=name))
        frame.draw(plot_panels(rows), chosen.figures, name, chosen.format)
    frame.write_table(pd.concat(tables), chosen.results / "poll_curves.csv")


if __name__ == "__main__":
    main()
