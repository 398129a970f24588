"""Figures 1 and 2 of the POLL paper: success of max-win, poll, adag and ddag as the number of classes grows.

    python -m experiments.poll_figures [--trials 10000] [--folder figures]

Figure 1 takes n = 16, 32, 48, ..., 128, figure 2 n = 16, 32, 64, ..., 512; panel (a) is p = 0.9, panel (b) p = 0.7.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from pairsim import Uniform, decoder, sweep
from pairsim.decoders import PAPER_SPECS
from pairsim.plots import plot_panels, save_picture

FIGURES = {"poll_figure_1": range(16, 129, 16), "poll_figure_2": [16, 32, 64, 128, 256, 512]}
PROBABILITIES = (0.9, 0.7)


def draw_figures(folder: Path, trials: int) -> list[Path]:
    """Simulate the four panels and save the two figures; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    decoders = [decoder(spec) for spec in PAPER_SPECS]
    paths = []
    for name, classes in FIGURES.items():
        rows = sweep([Uniform(n, p) for p in PROBABILITIES for n in classes], decoders, trials)
        paths.append(folder / f"{name}.png")
        save_picture(plot_panels(rows), paths[-1])
    return paths


def main() -> None:
    """Read the command line and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--folder", type=Path, default=Path(__file__).resolve().parent.parent / "figures")
    chosen = parser.parse_args()
    for path in draw_figures(chosen.folder, chosen.trials):
        print(f"drew {path}")


if __name__ == "__main__":
    main()
