"""`pairsim evaluate`: decoders on models that are trained on real data."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pairsim.cli import options
from pairsim.cli.console import announce_compiling, note, progress_bar
from pairsim.cli.evaluation_table import show_evaluation
from pairsim.cli.stops import ending_well, shell_command
from pairsim.cli.sweep import StoreOption, check_targets

if TYPE_CHECKING:
    from pairsim.evaluation import Comparison, Row

Tell = Callable[[str], None]


def evaluate_command(
    data: Annotated[list[str], typer.Option("--data", help="A data set, repeatable: " + options.DATA_HELP)],
    estimator: Annotated[
        list[str] | None,
        typer.Option("--estimator", help=f"Trained on each pair, repeatable: {options.ESTIMATOR_HELP}"),
    ] = None,
    decoder: options.DecoderOption = None,
    ties: options.TiesOption = None,
    target: options.TargetOption = None,
    test_share: options.TestShareOption = 0.3,
    seed: options.SeedOption = 0,
    confidence: options.ConfidenceOption = 0.95,
    store: StoreOption = None,
    format_: options.FormatOption = "table",
    out: Annotated[Path | None, typer.Option("--out", help="Results file: .csv, .json or .parquet.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Accuracy against queries: .png, .svg or .pdf.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress and no notes.")] = False,
) -> None:
    """Train one-vs-one models on real data and say how often each decoder is right, and what it costs.

    Every decoder is compared with max-win on the same rows: the share of equal answers, and McNemar's exact test (in
    json, for every two decoders and estimators). With --store, what was computed once is not computed again.

    Example: pairsim evaluate --data digits --estimator svc-rbf --decoder max-win --decoder adag --store results.db
    """
    options.check_format(format_)
    check_targets(store, out, plot, evaluation=True)
    decoders = options.make_decoders(decoder, ties)

    from pairsim.evaluation import make_order, run_order

    estimators = estimator or ["linear-svc"]
    order = make_order(
        data, estimators, decoders, seed=seed, confidence=confidence, test_share=test_share, target=target
    )
    tell: Tell = (lambda message: None) if quiet else note
    command = shell_command(["pairsim", *sys.argv[1:]])
    with ending_well(command if store is not None else None, at_once=True):
        if not quiet:
            announce_compiling()
        with contextlib.ExitStack() as stack:
            opened = None
            if store is not None:
                from pairsim.store import Store

                opened = stack.enter_context(Store.create_or_open(store))
            progress = stack.enter_context(_progress(quiet))
            found = run_order(order, opened, progress, tell, command)
        deliver(found.rows, found.comparisons, format_, out, plot, tell)


@contextlib.contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[float, str], None]]:
    """Yield what shows how far it is: a bar on a terminal, a line a training elsewhere."""
    if quiet:
        yield lambda done, label: None
        return
    with progress_bar("evaluate", 1.0) as advance:
        before = 0.0

        def show(done: float, label: str) -> None:
            nonlocal before
            if not sys.stderr.isatty() and label.endswith("training"):
                note(f"{done:.0%}; {label}")
            advance(done - before, label)
            before = done

        yield show


def deliver(
    rows: Sequence[Row],
    comparisons: Sequence[Comparison],
    format_: str,
    out: Path | None,
    plot: Path | None,
    tell: Tell,
) -> None:
    """Show the rows, and write the files that were asked for."""
    show_evaluation(rows, comparisons, format_)
    if out is not None:
        write_evaluation(rows, comparisons, out)
        tell(f"wrote {out}")
    if plot is not None:
        draw_evaluation(rows, plot)
        tell(f"drew {plot}")


def write_evaluation(rows: Sequence[Row], comparisons: Sequence[Comparison], out: Path) -> None:
    """Write the table; json has every two rows side by side as well."""
    from pairsim.evaluation import EVALUATION_TABLE

    EVALUATION_TABLE.write([row._asdict() for row in rows], out, comparisons=[each._asdict() for each in comparisons])


def draw_evaluation(rows: Sequence[Row], path: Path) -> None:
    """Draw the rows to a picture file."""
    from pairsim.cli.plot import save_figure
    from pairsim.evaluation import EVALUATION_TABLE
    from pairsim.evaluation.pictures import plot_evaluation

    frame = EVALUATION_TABLE.to_frame([row._asdict() for row in rows])
    save_figure(frame, EVALUATION_TABLE.text, plot_evaluation, path)
