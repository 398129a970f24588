"""`pairsim record`: a model's pairwise predictions, for every command that takes an oracle."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pairsim.cli import options
from pairsim.cli.console import announce_compiling, note
from pairsim.errors import parameter_error

if TYPE_CHECKING:
    from pairsim.datasets import Dataset
    from pairsim.oracles import Recorded


def record_command(
    data: Annotated[str, typer.Option("--data", help=options.DATA_HELP)],
    out: Annotated[Path, typer.Option("--out", help="Output file for the answers: a new .npz.")],
    estimator: Annotated[
        str | None, typer.Option("--estimator", help="Model to train on the training part: " + options.ESTIMATOR_HELP)
    ] = None,
    libsvm: Annotated[Path | None, typer.Option("--libsvm", help="Use a LIBSVM model file instead.")] = None,
    skops: Annotated[
        Path | None, typer.Option("--skops", help="Use a fitted model saved by skops instead (extra pairsim[skops]).")
    ] = None,
    part: Annotated[
        str | None,
        typer.Option(
            "--part",
            help="Rows to record: test, train, left-out (the training part in five folds, each by a model trained "
            "without it) or all. Default: test; all for a model file and a data set that has no test part.",
        ),
    ] = None,
    target: options.TargetOption = None,
    test_share: options.TestShareOption = 0.3,
    seed: options.SeedOption = 0,
    quiet: Annotated[bool, typer.Option("--quiet", help="Suppress notes.")] = False,
) -> None:
    """Record a model's pairwise predictions on a data set.

    One bit per pair of classes and row, with the true labels. A model from a file gets the features unchanged; a model
    trained here gets them imputed and scaled.

    Example: pairsim record --data digits --estimator svc-rbf --out answers.npz

    Example: pairsim plan --oracle recorded:answers.npz --target 0.95

    Example: pairsim record --data digits --estimator svc-rbf --part left-out --out left-out.npz

    Example: pairsim sweep --oracle recorded:answers.npz --decoder adag --decoder learned:answers=left-out.npz
    """
    from pairsim.outputs import check_target

    given = [name for name, value in (("estimator", estimator), ("libsvm", libsvm), ("skops", skops)) if value]
    if len(given) != 1:
        must_be = "one of --estimator, --libsvm and --skops"
        raise parameter_error("record", "model", must_be, " and ".join(f"--{name}" for name in given) or "none")
    check_target(out, (".npz",), "out", None, "record")

    from pairsim.datasets import load
    from pairsim.evaluation.recording import PARTS

    if part is not None and part not in PARTS:
        raise parameter_error("record", "part", "one of " + ", ".join(PARTS), repr(part))
    if not quiet:
        announce_compiling()
    dataset = load(data, target=target, test_share=test_share, seed=seed)
    recorded = _record(dataset, estimator, libsvm, skops, part, seed, quiet)
    recorded.save(out)
    if not quiet:
        pairs = recorded.n * (recorded.n - 1) // 2
        note(f"wrote {out}: {recorded.rows:,} rows, {recorded.n} classes, {pairs:,} answers per row")


def _record(
    dataset: Dataset,
    estimator: str | None,
    libsvm: Path | None,
    skops: Path | None,
    part: str | None,
    seed: int,
    quiet: bool,
) -> Recorded:
    from pairsim.evaluation import estimator as read_estimator
    from pairsim.evaluation.recording import record_given, record_trained
    from pairsim.models import read_libsvm, read_skops

    if estimator is not None:
        recorded, trained = record_trained(dataset, read_estimator(estimator), seed, part or "test")
        if not quiet:
            note(f"trained {trained.model.pairs:,} pairs in {trained.seconds:.1f} s")
        return recorded
    model = read_libsvm(libsvm) if libsvm is not None else read_skops(skops or "")
    return record_given(dataset, model, part)
