"""`pairsim evaluate`: decoders on models that are trained on real data."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from pairsim.cli import options
from pairsim.cli.console import announce_compiling, note, progress_bar
from pairsim.cli.evaluation_table import show_evaluation
from pairsim.cli.stops import ending_well, shell_command
from pairsim.cli.sweep import StoreOption, check_targets
from pairsim.errors import refusal

if TYPE_CHECKING:
    from pairsim.decoders import Decoder
    from pairsim.evaluation import Comparison, Evaluation, Row
    from pairsim.store import Store

Tell = Callable[[str], None]
Run: TypeAlias = "Callable[[Store | None, Callable[[float, str], None], Tell, str], Evaluation]"


def evaluate_command(
    data: Annotated[list[str], typer.Option("--data", help="A data set, repeatable: " + options.DATA_HELP)],
    estimator: Annotated[
        list[str] | None,
        typer.Option("--estimator", help=f"Trained on each pair, repeatable: {options.ESTIMATOR_HELP}"),
    ] = None,
    decoder: options.DecoderOption = None,
    ties: options.TiesOption = None,
    reduction: Annotated[
        list[str] | None,
        typer.Option(
            "--reduction", help="Compare roads from two classes to many, repeatable: " + options.REDUCTION_HELP
        ),
    ] = None,
    folds: Annotated[int, typer.Option("--folds", help="With --reduction: parts of the cross-validation.")] = 10,
    jobs: Annotated[
        int | None, typer.Option("--jobs", help="With --reduction: folds at a time; one a core when left out.")
    ] = None,
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

    With --reduction no decoder is asked: each reduction is cross-validated on all rows of each data set, and over two
    or more sets their average ranks are tested (Friedman, Iman and Davenport). --estimator is then what one-vs-all,
    all-pairs and output-code train on their binary problems.

    Example: pairsim evaluate --data digits --estimator svc-rbf --decoder max-win --decoder adag --store results.db

    Example: pairsim evaluate --data iris --data wine --reduction one-vs-all --reduction sbc-kernel --plot ranks.png
    """
    options.check_format(format_)
    check_targets(store, out, plot, evaluation=True)
    run: Run
    if reduction:
        run = _folds(data, reduction, estimator, decoder, ties, folds, jobs, seed, confidence, target)
    else:
        run = _decoders(data, estimator, options.make_decoders(decoder, ties), seed, confidence, test_share, target)
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
            found = run(opened, progress, tell, command)
        deliver(found.rows, found.comparisons, format_, out, plot, tell)


def _decoders(
    data: list[str],
    estimator: list[str] | None,
    decoders: Sequence[Decoder],
    seed: int,
    confidence: float,
    test_share: float,
    target: str | None,
) -> Run:
    """Check what was asked of decoders, and return what does it."""
    from pairsim.evaluation import make_order, run_order

    estimators = estimator or ["linear-svc"]
    order = make_order(
        data, estimators, decoders, seed=seed, confidence=confidence, test_share=test_share, target=target
    )
    return functools.partial(run_order, order)


def _folds(
    data: list[str],
    reduction: list[str],
    estimator: list[str] | None,
    decoder: list[str] | None,
    ties: str | None,
    folds: int,
    jobs: int | None,
    seed: int,
    confidence: float,
    target: str | None,
) -> Run:
    """Check what was asked of reductions, and return what does it."""
    from pairsim.checks import check_whole
    from pairsim.evaluation import make_fold_order, run_fold_order

    if decoder or ties:
        raise refusal("evaluate", "decoder", "left out with --reduction, which asks no decoder", repr(decoder or ties))
    if estimator and len(estimator) > 1:
        raise refusal("evaluate", "estimator", "one at most with --reduction", ", ".join(estimator))
    workers = check_whole("evaluate", "jobs", os.cpu_count() or 1 if jobs is None else jobs, 1)
    order = make_fold_order(
        data,
        reduction,
        estimator=estimator[0] if estimator else None,
        folds=folds,
        seed=seed,
        confidence=confidence,
        target=target,
    )
    return lambda store, progress, tell, command: run_fold_order(order, store, workers, progress, command)


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
