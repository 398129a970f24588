"""`pairsim fit-oracle`: random oracles fitted to recorded answers, and how well they predict the decoders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pairsim.cli import options
from pairsim.cli.console import announce_compiling, note, progress_bar, write_then_show
from pairsim.cli.records import records_text, show_records

if TYPE_CHECKING:
    from pairsim.fitting import OracleFits

OUT_SUFFIXES = (".csv", ".json")
FIRST_COLUMNS = (["decoder", "rows", "draws", "observed"], ["decoder", "rows", "real", "low"])  # now, and formerly
SHOWN_SIMILARITIES = 5


def fit_oracle_command(
    answers: Annotated[Path, typer.Argument(help="Recorded answers, as `pairsim record` writes them.")],
    decoder: Annotated[
        list[str] | None,
        typer.Option(
            "--decoder",
            metavar="SPEC",
            help="A decoder spec, repeatable. Default: max-win, polls, top-k, halving, dags.",
        ),
    ] = None,
    trials: Annotated[int | None, typer.Option("--trials", help="Trials per fitted oracle. Default: 10000.")] = None,
    folds: Annotated[
        int | None,
        typer.Option("--folds", help="Number of folds; each is predicted by fits to the others. Default: 10."),
    ] = None,
    seed: options.SeedOption = 0,
    ties: options.TiesOption = None,
    confidence: options.ConfidenceOption = 0.95,
    format_: options.FormatOption = "table",
    out: Annotated[Path | None, typer.Option("--out", help="Table of the decoders: .csv or .json.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Plot of predicted against observed success.")] = None,
    threads: options.ThreadsOption = None,
) -> None:
    """Fit random oracles to the answers of a real model.

    One row per decoder: its observed success with the interval over the rows (exact in each row where possible), then
    each oracle's predicted success and its error. Every row is predicted by oracles fitted to other rows; the
    parameters are those of the fit to all rows.

    Example: pairsim fit-oracle answers.npz --out table.csv --plot fig.png
    """
    options.check_format(format_)
    options.check_ties(ties)
    if out is not None:
        from pairsim.outputs import check_target

        check_target(out, OUT_SUFFIXES, "out", _is_our_table, "fit-oracle")
    if plot is not None:
        from pairsim.cli.plot import check_picture_target

        check_picture_target(plot)

    from pairsim.fitting import fit_oracles
    from pairsim.fitting.compare import fitted_specs, step_count
    from pairsim.fitting.folds import check_folds
    from pairsim.oracles import Recorded

    recorded = Recorded.load(answers)
    folds = check_folds("fit_oracles", folds, recorded.rows)
    announce_compiling()
    with progress_bar("fit", step_count(folds)) as advance:
        fits = fit_oracles(
            recorded,
            options.make_decoders(decoder or fitted_specs(recorded.n), ties),
            trials=trials,
            folds=folds,
            seed=seed,
            confidence=confidence,
            threads=threads,
            progress=lambda step: advance(1, step),
        )
    _deliver(fits, answers, format_, out, plot)


def _deliver(fits: OracleFits, answers: Path, format_: str, out: Path | None, plot: Path | None) -> None:
    """Write the files that were asked for, then show the tables."""
    records = fits.to_records()

    def write() -> None:
        if out is not None:
            from pairsim.outputs import write_whole

            text = records_text(records, out.suffix.lower().removeprefix("."))
            write_whole(out, lambda temporary: _write_text(temporary, text))
            note(f"wrote {out}")

    def draw() -> None:
        if plot is not None:
            _draw(fits, plot)
            note(f"drew {plot}")

    write_then_show([write, draw], lambda: _show(fits, answers, format_, records))


def _show(fits: OracleFits, answers: Path, format_: str, records: list[dict[str, Any]]) -> None:
    if format_ == "table":
        _show_tables(fits, answers)
        return
    show_records(records, format_)
    for each in fits.notes:
        note(each)


def _draw(fits: OracleFits, plot: Path) -> None:
    from matplotlib.figure import Figure

    from pairsim.outputs import write_whole
    from pairsim.plots import plot_fits, save_picture

    figure = Figure(figsize=(6.4, 5.6), layout="constrained")
    plot_fits(fits, ax=figure.subplots())
    write_whole(plot, lambda temporary: save_picture(figure, temporary))


def _show_tables(fits: OracleFits, answers: Path) -> None:
    """Print predicted success, distances, parameters and traits: four narrow tables instead of a wide one."""
    traits, best = fits.traits, fits.best.oracle.name
    sure = f"{100.0 * fits.confidence:g}%"
    show_records(_prediction_table(fits), "table", f"{answers.name}: {traits.rows:,} rows, n = {traits.n}")
    judged = f"predicted minus observed, {sure} intervals, rows that the fit has not seen ({fits.folds} folds)"
    show_records(_distance_table(fits), "table", f"{judged}; closest: {best}, within {fits.worst(best):.3f}")
    fitted = ["fit to all rows", *fits.notes]
    show_records(_parameter_table(fits), "table", "; ".join(fitted))
    observed = [{name: _rounded(value) for name, value in record.items()} for record in fits.trait_records()]
    show_records(observed, "table")


def _prediction_table(fits: OracleFits) -> list[dict[str, Any]]:
    """Return the observed success of each decoder beside what the oracles predict."""
    return [
        {"decoder": seen.decoder, "observed": f"{seen.success:.3f} ±{_reach(seen.success, seen.low, seen.high)}"}
        | {model.oracle.name: f"{model.predictions[place].success:.3f}" for model in fits.models}
        for place, seen in enumerate(fits.observed)
    ]


def _distance_table(fits: OracleFits) -> list[dict[str, Any]]:
    """Return how far each oracle is off for each decoder."""
    return [
        {"decoder": seen.decoder}
        | {
            model.oracle.name: f"{each.distance:+.3f} ±{_reach(each.distance, each.low, each.high)}"
            for model in fits.models
            for each in model.predictions[place : place + 1]
        }
        for place, seen in enumerate(fits.observed)
    ]


def _parameter_table(fits: OracleFits) -> list[dict[str, Any]]:
    """Return the fitted parameters, of the similarities the largest ones."""
    return [
        {"oracle": model.oracle.name, "parameter": each.name, "value": f"{each.value:.5f}"}
        | {"interval": f"{each.low:.5f} .. {each.high:.5f}", "note": each.note}
        for model in fits.models
        for each in model.parameters[:SHOWN_SIMILARITIES]
    ]


def _reach(value: float, low: float, high: float) -> str:
    """Return how far an interval goes to its longer side."""
    return f"{max(high - value, value - low):.3f}"


def _rounded(value: Any) -> Any:
    return f"{value:.4f}" if isinstance(value, float) else value


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _is_our_table(path: Path) -> bool:
    """Say whether `path` is a table that this command wrote."""
    from pairsim.input_files import read_input
    from pairsim.tables import MOST_BYTES

    try:
        text = read_input("fit-oracle", "out", path, "a table", MOST_BYTES).decode("utf-8")
        names = text.partition("\n")[0].split(",") if path.suffix.lower() == ".csv" else list(json.loads(text)[0])
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return False
    return names[:4] in FIRST_COLUMNS
