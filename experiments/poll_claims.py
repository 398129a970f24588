"""What the POLL paper claims beside its figures, in numbers.

    python -m experiments.poll_claims [--trials 10000] [--store claims.db] [--quick] [--results DIR] [--figures DIR]

Five tables. poll_top_k.csv: what a second round among k candidates gains over the poll (section 3).
poll_sample_sizes.csv: whether 5 log n opponents per class suffice for a failure of 1/n (end of section 2.1), the size
that is certified, and Theorem 2's. poll_separation.csv: how often an instance is 1.8-separated. poll_formulas.csv: the
success of ddag and adag as section 1.4 prints it, beside simulations. poll_against_posterior.csv: the queries of polls,
and of the best known way to ask that is as sure. One picture, poll_claims.png; --draw makes it from the tables that are
there. All on uniform-p, the model of section 2.2; intervals are 95% (of the formulas 99.9%: there are many).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from experiments import frame
from pairsim import Adag, Ddag, MaxWin, ParameterError, Poll, Posterior, TopK, Uniform, separation, simulate, sweep
from pairsim.bounds import bound, certified_sample_size, paper_sample_size, theorem_3
from pairsim.decoders.sample_size import sample_size
from pairsim.plots import COLOURS, MARKERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PROBABILITIES = (0.9, 0.7)
SIZES = ("log", "3log", "5log")
CANDIDATES = (3, 5, 10)
FINALS = ("rescore", "maxwin")
EPSILON = 0.25  # of Theorem 3: with less it proves nothing below a thousand classes
SURE = 0.9999  # the highest probability at which the posterior stops


class Protocol(NamedTuple):
    """How much is measured."""

    trials: int
    classes: tuple[int, ...] = (16, 32, 64, 128, 256, 512)
    more_classes: tuple[int, ...] = (1024, 2048, 4096, 8192, 16384)  # where bounds alone are computed
    store: Path | None = None


Row = dict[str, Any]


def top_k_gains(run: Protocol) -> Iterator[Row]:
    """Yield what top-k gains over the poll that picks its candidates, and rescoring over max-win among them.

    All decoders have the same tournaments. A difference's interval goes from the one's low to the other's high, which
    is more than is needed.
    """
    polls = {l: Poll(l) for l in SIZES}
    tops = {(k, l, final): TopK(k, l, final) for k in CANDIDATES for l in SIZES for final in FINALS}
    grid = [Uniform(n, p) for n in run.classes for p in PROBABILITIES]
    found: Any = sweep(grid, [*polls.values(), *tops.values()], run.trials, store=run.store)
    rows = {(row.n, row.p, row.decoder): row for row in found.itertuples()}
    for oracle in grid:
        for l in SIZES:
            poll = rows[oracle.n, oracle.p, polls[l].spec]
            for k in CANDIDATES:
                second, among = (rows[oracle.n, oracle.p, tops[k, l, final].spec] for final in FINALS)
                row: Row = {"n": oracle.n, "p": oracle.p, "l": l, "k": k, "trials": run.trials}
                row |= {"poll": poll.success, "poll_low": poll.low, "poll_high": poll.high}
                for name, one in (("rescore", second), ("maxwin", among)):
                    row |= {name: one.success, f"{name}_low": one.low, f"{name}_high": one.high}
                    row |= {f"{name}_queries": one.queries}
                for name, one, other in (
                    ("gain", second, poll),
                    ("maxwin_gain", among, poll),
                    ("rescore_over_maxwin", second, among),
                ):
                    row |= {name: one.success - other.success}
                    row |= {f"{name}_low": one.low - other.high, f"{name}_high": one.high - other.low}
                yield row


def sample_sizes(run: Protocol) -> Iterator[Row]:
    """Yield the failure of a poll of 5 log n, certified on both sides, and the sizes for a failure of 1/n."""
    for p in PROBABILITIES:
        for n in (*run.classes, *run.more_classes):
            five = sample_size("5log", n)
            proven, best = bound(Uniform(n, p), Poll(five)), bound(Uniform(n, p), MaxWin())
            try:
                certified: float = certified_sample_size(n, p).l
            except ParameterError:  # max-win itself fails more often than that
                certified = math.nan
            printed, corrected = (paper_sample_size(n, p=p, printed=each) for each in (True, False))
            yield {
                "n": n,
                "p": p,
                "log2_n": math.log2(n),
                "target": 1.0 / n,
                "five_log": five,
                "five_log_low": proven.failure_low,
                "five_log_high": proven.failure_high,
                "max_win_low": best.failure_low,
                "max_win_high": best.failure_high,
                "certified_l": certified,
                "theorem_2_printed": printed,
                "theorem_2_corrected": corrected,
                "method": "certified",
            }


def separations(run: Protocol) -> Iterator[Row]:
    """Yield how often s_1 / s_2 reaches 2p, what it is in the middle, and what Theorem 3 proves of it."""
    for p in PROBABILITIES:
        for n in run.classes:
            found = separation(Uniform(n, p), run.trials)
            above, proven = found.above(2.0 * p), theorem_3(n, p, EPSILON)
            reached = found.above(proven.separation)
            yield {
                "n": n,
                "p": p,
                "alpha": 2.0 * p,
                "share": above.share,
                "low": above.low,
                "high": above.high,
                **{f"q{round(100 * level):02}": found.quantile(level) for level in (0.05, 0.5, 0.95)},
                "theorem_3_alpha": proven.separation,
                "theorem_3_share": 1.0 - proven.failure,
                "reached_low": reached.low,
                "reached_high": reached.high,
                "trials": found.trials,
            }


def printed_ddag(n: int, p: float) -> float:
    """Return ddag's success as section 1.4 prints it; its p is the probability of an error."""
    wrong = 1.0 - p
    return ((1.0 - wrong) / wrong + (1.0 - wrong) ** (n - 1) - (1.0 - wrong) ** n / wrong) / n


def printed_adag(n: int, p: float) -> float:
    """Return adag's success as section 1.4 prints it."""
    layers = math.ceil(math.log2(n))
    return float((2 * n - 2**layers) / n * p**layers + (2**layers - n) / n * p ** (layers - 1))


FORMULAS: dict[str, tuple[Ddag | Adag, Callable[[int, float], float]]] = {
    "ddag": (Ddag(), printed_ddag),
    "adag": (Adag(), printed_adag),
}


def formulas(run: Protocol) -> Iterator[Row]:
    """Yield both formulas beside simulations, on whose tournaments nothing of them is used."""
    for name, (decoder, formula) in FORMULAS.items():
        for p in PROBABILITIES:
            for n in (5, 11, *run.classes):  # of which some leave classes over
                found = simulate(Uniform(n, p), decoder, 10 * run.trials, confidence=0.999, method="simulated")
                row = {"decoder": name, "n": n, "p": p, "printed": formula(n, p), "success": found.success}
                yield row | {"low": found.low, "high": found.high, "trials": 10 * run.trials}


def against_posterior(run: Protocol) -> Iterator[Row]:
    """Yield polls of some sizes and the posterior rule that is as sure: it stops at the poll's success."""
    for p in PROBABILITIES:
        for n in run.classes:
            for l in SIZES:
                poll = simulate(Uniform(n, p), Poll(l), run.trials)
                rule = Posterior(p, min(SURE, poll.success))
                best = simulate(Uniform(n, p), rule, run.trials)
                row: Row = {"n": n, "p": p, "l": l, "max_win_queries": n * (n - 1) // 2, "trials": run.trials}
                row |= {"poll": poll.success, "poll_low": poll.low, "poll_high": poll.high}
                row |= {"poll_queries": poll.queries, "poll_distinct": poll.distinct}
                row |= {"posterior": best.success, "posterior_low": best.low, "posterior_high": best.high}
                row |= {"posterior_distinct": best.distinct, "ratio": poll.distinct / best.distinct}
                yield row


TABLES: dict[str, Callable[[Protocol], Iterator[Row]]] = {
    "poll_top_k": top_k_gains,
    "poll_sample_sizes": sample_sizes,
    "poll_separation": separations,
    "poll_formulas": formulas,
    "poll_against_posterior": against_posterior,
}


def _count_classes(ax: Axes, ticks: list[int]) -> None:
    """Put the number of classes on the x axis, with labels at these places alone."""
    ax.set_xscale("log", base=2)
    ax.set_xticks(ticks, [str(n) for n in ticks])
    ax.set_xlabel("number of classes n")


def _draw_gains(ax: Axes, rows: Any) -> None:
    ax.axhspan(0.02, 0.10, color="#000000", alpha=0.12, lw=0, label="2-10%, as printed")
    rows = rows[rows.k == 5]
    for place, (name, label) in enumerate((("gain", "rescoring"), ("maxwin_gain", "max-win among the k"))):
        style: dict[str, Any] = {"color": COLOURS[place], "marker": MARKERS[place], "ls": "", "ms": 4}
        ax.plot(rows.poll, rows[name], label=label, **style)
    ax.axhline(0.0, color="#444444", lw=0.8, ls=":")
    ax.set(xlabel="success of the poll", ylabel="gain of top-k, k = 5")
    ax.legend(fontsize="x-small")


def _draw_sizes(ax: Axes, rows: Any) -> None:
    rows = rows[rows.p == PROBABILITIES[0]]
    for place, (name, label) in enumerate(
        (
            ("theorem_2_printed", "Theorem 2"),
            ("theorem_2_corrected", "Theorem 2, corrected"),
            ("certified_l", "certified"),
            ("five_log", "5 log n"),
        )
    ):
        ax.plot(rows.n, rows[name], color=COLOURS[place], marker=MARKERS[place], ms=4, lw=1.2, label=label)
    _count_classes(ax, [16, 128, 1024, 8192])
    ax.set(yscale="log", ylabel="l for a failure of 1/n, p = 0.9")
    ax.legend(fontsize="x-small")


def _draw_separation(ax: Axes, rows: Any) -> None:
    for place, p in enumerate(PROBABILITIES):
        part = rows[rows.p == p]
        colour = COLOURS[place]
        ax.fill_between(part.n, part.q05, part.q95, color=colour, alpha=0.2, lw=0)
        ax.plot(part.n, part.q50, color=colour, marker=MARKERS[place], ms=4, lw=1.2, label=f"p = {p}: median, 90%")
        ax.axhline(2.0 * p, color=colour, lw=0.8, ls="--", label=f"2p = {2 * p:g}, as printed")
    _count_classes(ax, sorted(set(rows.n)))
    ax.set(ylabel="separation s1 / s2")
    ax.legend(fontsize="x-small")


def _draw_costs(ax: Axes, rows: Any) -> None:
    rows = rows[rows.l == "5log"]
    part = rows[rows.p == PROBABILITIES[0]]
    ax.plot(part.n, part.max_win_queries, color="#000000", lw=1.0, ls=":", label="max-win")
    ax.plot(part.n, part.poll_distinct, color=COLOURS[0], marker=MARKERS[0], ms=4, lw=1.2, label="poll, 5 log n")
    for place, p in enumerate(PROBABILITIES, 1):
        part = rows[rows.p == p]
        label = f"posterior as sure, p = {p}"
        ax.plot(part.n, part.posterior_distinct, color=COLOURS[place], marker=MARKERS[place], ms=4, lw=1.2, label=label)
    _count_classes(ax, sorted(set(rows.n)))
    ax.set(yscale="log", ylabel="different pairs asked")
    ax.legend(fontsize="x-small")


def main(argv: Sequence[str] | None = None) -> None:
    """Read the command line, measure, write the tables and draw."""
    from matplotlib.figure import Figure

    parser = frame.parser(__doc__)
    parser.add_argument("--trials", type=int, default=None, help="default: 10,000; 500 in a quick run")
    parser.add_argument("--store", type=Path, default=None, help="keeps the sweep of top-k, to resume")
    parser.add_argument("--draw", action="store_true", help="measure nothing: draw the tables that are there")
    chosen = frame.parse(parser, argv)
    run = Protocol(chosen.trials or (500 if chosen.quick else 10_000), store=chosen.store)
    if chosen.quick:
        run = run._replace(classes=(16, 64), more_classes=())
    tables = {}
    for name, measure in TABLES.items():
        path = chosen.results / f"{name}.csv"
        if chosen.draw:
            tables[name] = pd.read_csv(path)
            continue
        try:
            tables[name] = pd.DataFrame(list(measure(run)))
        except ParameterError as error:
            parser.error(str(error))
        frame.write_table(tables[name], path)
    figure = Figure(figsize=(7.4, 5.8), layout="constrained")
    panels = figure.subplots(2, 2).ravel()
    for ax, paint, name in zip(
        panels,
        (_draw_gains, _draw_sizes, _draw_separation, _draw_costs),
        ("poll_top_k", "poll_sample_sizes", "poll_separation", "poll_against_posterior"),
        strict=True,
    ):
        paint(ax, tables[name])
        ax.grid(alpha=0.25)
    frame.draw(figure, chosen.figures, "poll_claims", chosen.format)


if __name__ == "__main__":
    main()
