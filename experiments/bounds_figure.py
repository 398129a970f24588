"""Exact values, certified bounds and Monte Carlo in one figure, beside the POLL paper's own bound.

    python -m experiments.bounds_figure [--trials 20480] [--quick] [--figures DIR] [--format svg]

Left: max-win's failure as n grows. Right: poll's failure at n = 512, p = 0.9 as its sample grows, with the sample sizes
that are certified here and asked for by the paper's Theorem 2 for a failure of 1/n.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from experiments import frame
from pairsim import MaxWin, ParameterError, Poll, Uniform, exact, simulate
from pairsim.bounds import bound, certified_sample_size, paper_sample_size
from pairsim.plots import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CLASSES = [4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256]
SAMPLES = [2, 4, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96]


def draw_max_win(ax: Axes, trials: int) -> None:
    """Draw max-win's failure against n for two values of p."""
    for p, colour in ((0.9, COLOURS[0]), (0.7, COLOURS[1])):
        oracles = [Uniform(n, p) for n in CLASSES]
        proven = [bound(oracle, MaxWin("lose")) for oracle in oracles]
        ax.fill_between(
            CLASSES,
            [each.failure_low for each in proven],
            [each.failure_high for each in proven],
            color=colour,
            alpha=0.5,
            label=f"certified, p = {p}",
        )
        small = [oracle for oracle in oracles if oracle.n <= 16]
        values = [exact(oracle, MaxWin("lose")).failure for oracle in small]
        ax.plot([oracle.n for oracle in small], values, "D", ms=7, mfc="none", color=colour, label=f"exact, p = {p}")
        found = [simulate(oracle, MaxWin("lose"), trials, method="simulated") for oracle in oracles]
        seen = [(oracle.n, each) for oracle, each in zip(oracles, found, strict=True) if each.failure > 0.0]
        ax.errorbar(
            [n for n, _ in seen],
            [each.failure for _, each in seen],
            [[each.high - each.success for _, each in seen], [each.success - each.low for _, each in seen]],
            fmt=".",
            ms=4,
            color="black",
            lw=0.8,
            label=f"simulated, {trials:,} trials" if p == 0.9 else None,
        )
    ax.set(xscale="log", yscale="log", ylim=(1e-9, 1.5), xlabel="number of classes n", ylabel="failure probability")
    ax.set_title("max-win (ties lose)", fontsize="medium")


def draw_poll(ax: Axes, trials: int) -> None:
    """Draw poll's failure against l at n = 512, p = 0.9, and the sample sizes for a failure of 1/n."""
    n, p = 512, 0.9
    proven = [bound(Uniform(n, p), Poll(l, "lose")) for l in SAMPLES]
    found = [simulate(Uniform(n, p), Poll(l, "lose"), trials, method="simulated") for l in SAMPLES]
    ax.fill_between(
        SAMPLES,
        [each.failure_low for each in proven],
        [each.failure_high for each in proven],
        color=COLOURS[0],
        alpha=0.6,
        label="certified (both sides)",
    )
    seen = [(l, each) for l, each in zip(SAMPLES, found, strict=True) if each.failure > 0.0]
    ax.errorbar(
        [l for l, _ in seen],
        [each.failure for _, each in seen],
        [[each.high - each.success for _, each in seen], [each.success - each.low for _, each in seen]],
        fmt=".",
        ms=4,
        color="black",
        lw=0.8,
        label=f"simulated, {trials:,} trials",
    )
    certified, paper = certified_sample_size(n, p, ties="lose").l, paper_sample_size(n, p=p, printed=True)
    ax.axhline(1 / n, color="#444444", lw=0.8, ls=":", label="1/n")
    ax.axvline(certified, color=COLOURS[3], lw=1.2, ls="--", label=f"certified for 1/n: l = {certified}")
    ax.axvline(paper, color=COLOURS[1], lw=1.2, ls="-.", label=f"Theorem 2 of the paper: l = {paper:,}")
    ax.set(xscale="log", yscale="log", ylim=(1e-9, 1.5), xlabel="opponents per class l")
    ax.set_title(f"poll (ties lose), n = {n}, p = {p}", fontsize="medium")


def draw_figure(trials: int) -> Figure:
    """Draw both panels."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    draw_max_win(left, trials)
    draw_poll(right, trials)
    for ax in (left, right):
        ax.grid(alpha=0.25)
        ax.legend(fontsize="small", framealpha=0.9, loc="lower left")
    return figure


def main(argv: Sequence[str] | None = None) -> None:
    """Read the command line and draw."""
    parser = frame.parser(__doc__)
    parser.add_argument("--trials", type=int, default=None, help="default: 20,480; 1,000 in a quick run")
    chosen = frame.parse(parser, argv)
    try:
        figure = draw_figure(chosen.trials or (1000 if chosen.quick else 20_480))
    except ParameterError as error:
        parser.error(str(error))
    frame.draw(figure, chosen.figures, "bounds", chosen.format)


if __name__ == "__main__":
    main()
