"""`pairsim evaluate`: decoders and reductions on real data."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from pairsim.cli import evaluation_options, options
from pairsim.cli.console import announce_compiling, note, progress_bar, write_then_show
from pairsim.cli.evaluation_table import show_evaluation
from pairsim.cli.exits import exit_cleanly, shell_command
from pairsim.cli.sweep import StoreOption, check_targets
from pairsim.errors import parameter_error

if TYPE_CHECKING:
    from pairsim.decoders import Decoder
    from pairsim.evaluation import Comparison, Evaluation, Row
    from pairsim.store import Store

Tell = Callable[[str], None]
Run: TypeAlias = "Callable[[Store | None, Callable[[float, str], None], Tell, str], Evaluation]"


def evaluate_command(
    data: Annotated[
        list[str], typer.Option("--data", metavar="DATA", help="A data set, repeatable: " + options.DATA_HELP)
    ],
    estimator: Annotated[
        list[str] | None,
        typer.Option(
            "--estimator", metavar="SPEC", help=f"Model trained on each pair, repeatable: {options.ESTIMATOR_HELP}"
        ),
    ] = None,
    decoder: options.DecoderOption = None,
    ties: options.TiesOption = None,
    reduction: Annotated[
        list[str] | None,
        typer.Option(
            "--reduction", metavar="SPEC", help="Compare multiclass reductions, repeatable: " + options.REDUCTION_HELP
        ),
    ] = None,
    folds: Annotated[
        int | None, typer.Option("--folds", help="With --reduction: number of folds. Default: 10.")
    ] = None,
    fold_size: evaluation_options.FoldSizeOption = None,
    split: evaluation_options.SplitOption = None,
    scaling: evaluation_options.ScalingOption = "standard",
    tune: evaluation_options.TuneOption = "none",
    grid: evaluation_options.GridOption = None,
    inner_folds: evaluation_options.InnerFoldsOption = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", help="With --reduction: folds run in parallel. Default: one per core.")
    ] = None,
    target: options.TargetOption = None,
    test_share: options.TestShareOption = 0.3,
    seed: options.SeedOption = 0,
    confidence: options.ConfidenceOption = 0.95,
    store: StoreOption = None,
    format_: options.FormatOption = "table",
    out: Annotated[Path | None, typer.Option("--out", help="Results file: .csv, .json or .parquet.")] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Plot of accuracy against queries: .png, .svg or .pdf.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Suppress progress and notes.")] = False,
) -> None:
    """Report each decoder's accuracy and cost on real data.

    One-vs-one models are trained on the training part, and every decoder predicts the test part.

    Every decoder is compared with max-win on the same rows: the fraction of equal labels, and McNemar's exact test (in
    json, for every pair of decoders and estimators). With --store, finished results are reused.

    With --reduction no decoder runs: each reduction is cross-validated on all rows of each data set and compared with
    the first by the corrected t-test (Nadeau and Bengio), since rows of folds are not independent. Over two or more
    data sets, average ranks are tested (Friedman, Iman and Davenport). --estimator is then the binary model of
    one-vs-all, all-pairs, dagsvm, output-code and nested-dichotomies.

    --tune chooses the kernel's width and the regularisation parameter inside each training part, by the papers' greedy
    search or on a grid; column tuning is the search, column chosen its parameters. best-of-grid chooses by the test
    error itself, which is optimistic and labelled so.

    Example: pairsim evaluate --data digits --estimator svc-rbf --decoder max-win --decoder adag --store results.db

    Example: pairsim evaluate --data iris --data wine --reduction one-vs-all --reduction sbc-kernel --plot ranks.png

    Example: pairsim evaluate --data wine --reduction one-vs-all --reduction all-pairs --tune greedy --fold-size floor

    Example: pairsim evaluate --data satimage --split official --scaling none --reduction vector-svm --tune grid
    --grid C=0.01,0.1,1 --grid gamma=1e-5,1e-4,1e-3
    """
    options.check_format(format_)
    check_targets(store, out, plot, evaluation=True)
    run: Run
    common = {"seed": seed, "confidence": confidence, "target": target, "scaling": scaling, "split": split}
    asked = evaluation_options.check_reduction_options(reduction, fold_size, tune, grid, inner_folds)
    if reduction:
        run = _folds(data, reduction, estimator, decoder, ties, jobs, {"folds": folds, **asked, **common})
    else:
        run = _decoders(data, estimator, options.make_decoders(decoder, ties), {"test_share": test_share, **common})
    tell: Tell = (lambda message: None) if quiet else note
    command = shell_command(["pairsim", *sys.argv[1:]])
    with exit_cleanly(command if store is not None else None):
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


def _decoders(data: list[str], estimator: list[str] | None, decoders: Sequence[Decoder], asked: dict[str, Any]) -> Run:
    """Check what was asked of decoders, and return what does it."""
    from pairsim.evaluation import make_evaluation_request, run_evaluation_request

    request = make_evaluation_request(data, estimator or ["linear-svc"], decoders, **asked)
    return functools.partial(run_evaluation_request, request)


def _folds(
    data: list[str],
    reduction: list[str],
    estimator: list[str] | None,
    decoder: list[str] | None,
    ties: str | None,
    jobs: int | None,
    asked: dict[str, Any],
) -> Run:
    """Check what was asked of reductions, and return what does it."""
    from pairsim.checks import check_parallel, usable_cores
    from pairsim.evaluation import make_cross_validation_request, run_cross_validation_request

    if decoder or ties:
        raise parameter_error(
            "evaluate",
            "decoder",
            "omitted: --decoder and --ties cannot be combined with --reduction",
            repr(decoder or ties),
        )
    if estimator and len(estimator) > 1:
        raise parameter_error("evaluate", "estimator", "given at most once with --reduction", ", ".join(estimator))
    workers = usable_cores() if jobs is None else check_parallel("evaluate", "jobs", jobs)
    request = make_cross_validation_request(data, reduction, estimator=estimator[0] if estimator else None, **asked)
    return lambda store, progress, tell, command: run_cross_validation_request(
        request, store, workers, progress, command
    )


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
    """Write the files that were asked for, then show the rows."""

    def write() -> None:
        if out is not None:
            write_evaluation(rows, comparisons, out)
            tell(f"wrote {out}")

    def draw() -> None:
        if plot is not None:
            draw_evaluation(rows, plot)
            tell(f"drew {plot}")

    write_then_show([write, draw], lambda: show_evaluation(rows, comparisons, format_))


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
