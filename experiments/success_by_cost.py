"""Success against queries for 512 classes: what every decoder reaches, and the floor that none can go below.

    python -m experiments.success_by_cost [--trials 2000] [--n 512] [--folder figures] [--results experiments/results]

Writes success_by_cost.csv and draws success_by_cost.png. Upper row p = 0.7, lower row p = 0.9. Left: against the most
queries that a decoder asks, with the floor of every budget (`pairsim.bounds.least_queries`). Right: against the mean
number of different pairs, with the floor of every mean (`least_mean_queries`), which is another theorem.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pairsim import (
    Adag,
    Champion,
    Ddag,
    Decoder,
    Halving,
    MaxWin,
    ParameterError,
    Poll,
    Posterior,
    Quick,
    TopK,
    Uniform,
    simulate,
)
from pairsim.bounds import least_mean_queries, least_queries
from pairsim.plots import COLOURS, MARKERS, save_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ACCURACIES = (0.7, 0.9)
ROUNDS = 15
POLLS = ("log", "2log", "3log", "5log", "10log", "20log")
HALVINGS = (1, 2, 4, 8, 16, 32, 64)
STOPS = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)
BUDGETS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 30.0)  # times n
ONE_BY_ONE, IN_ROUNDS = "posterior", f"posterior, at most {ROUNDS} rounds"
SHOWN = ("max-win", "quick", "champion", "poll", "top-k", "halving", "adag, ddag", ONE_BY_ONE, IN_ROUNDS)
TARGETS = np.concatenate((np.linspace(0.02, 0.98, 97), [0.985, 0.99, 0.995, 0.999]))


def contestants(n: int, p: float) -> list[tuple[str, str, Decoder]]:
    """Return (family, panels it is drawn in, decoder): a budget belongs to the left ones, a stop to the right ones."""
    both: list[tuple[str, Decoder]] = [("max-win", MaxWin()), ("quick", Quick()), ("champion", Champion())]
    both += [("adag, ddag", Adag()), ("adag, ddag", Ddag())]
    both += [("poll", Poll(l)) for l in POLLS] + [("halving", Halving(l)) for l in HALVINGS]
    both += [("top-k", TopK(5, l)) for l in POLLS[:4]]
    found = [(family, "both", decoder) for family, decoder in both]
    for family, rounds in ((ONE_BY_ONE, None), (IN_ROUNDS, ROUNDS)):
        found += [(family, "mean", Posterior(p, stop, rounds=rounds)) for stop in STOPS]
        budgets = sorted({min(round(times * n), n * (n - 1) // 2) for times in BUDGETS})
        found += [(family, "most", Posterior(p, 0.9999, budget, rounds)) for budget in budgets]
    return found


def measure(n: int, trials: int) -> pd.DataFrame:
    """Estimate every decoder's success and cost, and tell on stderr how it goes."""
    from rich.console import Console
    from rich.progress import track

    cases = [(p, *case) for p in ACCURACIES for case in contestants(n, p)]
    rows = []
    for p, family, panel, decoder in track(cases, "success by cost", console=Console(file=sys.stderr)):
        found = simulate(Uniform(n, p), decoder, trials)
        rows.append(
            {
                "n": n,
                "p": p,
                "family": family,
                "panel": panel,
                "decoder": decoder.spec,
                "method": found.method,
                "success": found.success,
                "low": found.low,
                "high": found.high,
                "mean_queries": found.distinct,
                "most_queries": decoder.cost(n).queries,
                "rounds": found.rounds,
                "trials": trials,
            }
        )
    return pd.DataFrame(rows)


def _draw_panel(ax: Axes, rows: pd.DataFrame, cost: str) -> None:
    for place, family in enumerate(SHOWN):
        points = rows[rows.family == family].sort_values(cost)
        colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
        thick = family in (ONE_BY_ONE, IN_ROUNDS)
        if family == IN_ROUNDS:
            colour, marker = COLOURS[7], "."
        ax.plot(
            points[cost],
            points.success,
            "--" if family == IN_ROUNDS else "-",
            marker=marker,
            ms=6 if thick else 5,
            lw=2.0 if thick else 1.0,
            color=colour,
            label=family,
            zorder=3 if thick else 2,
        )


def draw(rows: pd.DataFrame, path: Path) -> None:
    """Draw the four panels."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 7.6), layout="constrained")
    panels = figure.subplots(2, 2, sharey=True, sharex=True)
    n = int(rows.n.iloc[0])
    for p, (left, right) in zip(ACCURACIES, panels, strict=True):
        for ax, cost, panel, floor in (
            (left, "most_queries", "most", least_queries),
            (right, "mean_queries", "mean", least_mean_queries),
        ):
            _draw_panel(ax, rows[(rows.p == p) & rows.panel.isin(["both", panel])], cost)
            least = [floor(Uniform(n, p), target) for target in TARGETS]
            ax.fill_betweenx(TARGETS, 1, least, color="#000000", alpha=0.12, lw=0, label="below the floor")
            ax.set(xscale="log", xlim=(n / 8, n * n * 0.75), ylim=(0.0, 1.02))
            ax.grid(alpha=0.25)
            ax.set_title(f"p = {p}, {'most' if panel == 'most' else 'mean'} queries", fontsize="medium")
        left.set_ylabel("success probability")
    panels[1][0].set_xlabel("most queries")
    panels[1][1].set_xlabel("mean number of different pairs queried")
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, fontsize="small")
    figure.suptitle(f"{n} classes, uniform-p", fontsize="medium")
    save_picture(figure, path)


def main() -> None:
    """Read the command line, measure, write and draw."""
    root = Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--n", type=int, default=512)
    parser.add_argument("--folder", type=Path, default=root.parent / "figures")
    parser.add_argument("--results", type=Path, default=root / "results")
    chosen = parser.parse_args()
    try:
        rows = measure(chosen.n, chosen.trials)
    except ParameterError as error:
        parser.error(str(error))
    for folder in (chosen.folder, chosen.results):
        folder.mkdir(parents=True, exist_ok=True)
    rows.to_csv(chosen.results / "success_by_cost.csv", index=False, float_format="%.6g")
    draw(rows, chosen.folder / "success_by_cost.png")
    print(f"wrote {chosen.results / 'success_by_cost.csv'}\ndrew {chosen.folder / 'success_by_cost.png'}")


if __name__ == "__main__":
    main()
