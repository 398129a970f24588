"""Options of `pairsim evaluate` that say how reductions are tested and tuned."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from pairsim.errors import parameter_error

FoldSizeOption = Annotated[
    str | None,
    typer.Option(
        "--fold-size",
        help="With --reduction: even (all rows, stratified by class) or floor (floor(rows/folds) "
        "rows per fold, drawn regardless of class, the remainder dropped). Default: even.",
    ),
]
SplitOption = Annotated[
    str | None,
    typer.Option("--split", help="official: use the data set's own training and test parts."),
]
ScalingOption = Annotated[
    str,
    typer.Option(
        "--scaling",
        help="Scaling of numbers, fitted on the training part: standard (mean 0, variance 1), minmax ([0, 1]), "
        "symmetric ([-1, 1]) or none.",
    ),
]
TuneOption = Annotated[
    str,
    typer.Option(
        "--tune",
        help="With --reduction: tune the kernel's width and the regularisation parameter, unless the spec fixes them, "
        "inside each training part: greedy (double and halve the width, then the penalty) or grid; best-of-grid takes "
        "the best test error, which is optimistic.",
    ),
]
GridOption = Annotated[
    list[str] | None,
    typer.Option(
        "--grid",
        metavar="KEY=VALUES",
        help="With --tune grid or best-of-grid: KEY=VALUE,VALUE, repeatable, such as C=0.1,1,10. Default: a few widths "
        "and penalties.",
    ),
]
InnerFoldsOption = Annotated[
    int | None,
    typer.Option("--inner-folds", help="With --tune greedy or grid: folds inside each training part. Default: 5."),
]


def check_reduction_options(
    reduction: list[str] | None, fold_size: str | None, tune: str, grid: list[str] | None, inner_folds: int | None
) -> dict[str, Any]:
    """Return the given options as `make_cross_validation_request` takes them; reject those of others."""
    given = {"fold_size": fold_size, "tune": None if tune == "none" else tune, "grid": grid, "inner_folds": inner_folds}
    asked: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if not reduction:
        for name, value in asked.items():
            raise parameter_error("evaluate", name, "used with --reduction", repr(value))
        return {}
    if inner_folds is not None and tune not in ("greedy", "grid"):
        raise parameter_error("evaluate", "inner_folds", "used with --tune greedy or --tune grid", inner_folds)
    if grid is not None:
        from pairsim.evaluation.tuning import read_grid

        asked["grid"] = read_grid(grid)
    return asked
