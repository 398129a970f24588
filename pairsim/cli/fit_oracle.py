"""`pairsim fit-oracle`: which random oracle is like these answers, and what it foretells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pairsim.cli import options
from pairsim.cli.console import announce_compiling, note, progress_bar
from pairsim.cli.records import records_text, show_records

if TYPE_CHECKING:
    from pairsim.fitting import OracleFits
    from pairsim.oracles import Oracle

OUT_SUFFIXES = (".csv", ".json")
FIRST_COLUMNS = ["decoder", "rows", "real", "low", "high"]


def fit_oracle_command(
    answers: Annotated[Path, typer.Argument(help="Recorded answers, as `pairsim record` writes them.")],
    decoder: Annotated[
        list[str] | None,
        typer.Option("--decoder", help="A decoder spec, repeatable. By itself: max-win, polls, top-k, halving, dags."),
    ] = None,
    trials: Annotated[
        int | None, typer.Option("--trials", help="Tournaments drawn of each fitted oracle: 10000 by itself.")
    ] = None,
    seed: options.SeedOption = 0,
    ties: options.TiesOption = None,
    confidence: options.ConfidenceOption = 0.95,
    format_: options.FormatOption = "table",
    out: Annotated[Path | None, typer.Option("--out", help="Table of the decoders: .csv or .json.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Picture of foretold against real success.")] = None,
    threads: options.ThreadsOption = None,
) -> None:
    """Fit uniform, similarity and ranked to the answers of a real model; compare what they foretell with what happened.

    One row a decoder: its real success with the interval over the data points, then the success that each fitted oracle
    foretells and how far off that is.

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
    from pairsim.fitting.compare import STEPS, fitted_specs
    from pairsim.oracles import Recorded

    recorded = Recorded.load(answers)
    announce_compiling()
    with progress_bar("fit", STEPS) as advance:
        fits = fit_oracles(
            recorded,
            options.make_decoders(decoder or fitted_specs(recorded.n), ties),
            trials=trials,
            seed=seed,
            confidence=confidence,
            threads=threads,
            progress=lambda step: advance(1, step),
        )
    _deliver(fits, answers, format_, out, plot)


def _deliver(fits: OracleFits, answers: Path, format_: str, out: Path | None, plot: Path | None) -> None:
    """Show the tables, and write the files that were asked for."""
    records = fits.to_records()
    traits = fits.traits
    caption = f"{answers.name}: {traits.rows:,} rows, n = {traits.n}; closest: {fits.best.oracle.name}"
    show_records([_rounded(record) for record in records] if format_ == "table" else records, format_, caption)
    if format_ == "table":
        show_records([_rounded(record) for record in fits.trait_records()], format_)
        for model in fits.models:
            typer.echo(_described(model.oracle))
    if out is not None:
        from pairsim.outputs import write_whole

        text = records_text(records, out.suffix.lower().removeprefix("."))
        write_whole(out, lambda temporary: _write_text(temporary, text))
        note(f"wrote {out}")
    if plot is not None:
        from matplotlib.figure import Figure

        from pairsim.outputs import write_whole
        from pairsim.plots import plot_fits, save_picture

        figure = Figure(figsize=(6.4, 5.6), layout="constrained")
        plot_fits(fits, ax=figure.subplots())
        write_whole(plot, lambda temporary: save_picture(figure, temporary))
        note(f"drew {plot}")


def _rounded(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record for people: four digits, and the sign of a distance."""
    return {name: _figure(name, value) for name, value in record.items()}


def _figure(name: str, value: Any) -> Any:
    if not isinstance(value, float):
        return value
    return f"{value:+.4f}" if name.endswith("_distance") else f"{value:.4f}"


def _described(oracle: Oracle) -> str:
    """Return a fitted oracle's numbers on one line."""
    from pairsim.oracles import Ranked, Similarity, Uniform

    if isinstance(oracle, Ranked):
        return f"ranked: p = {oracle.p:.5f}, order = {oracle.order:.5f}, difficulty = {oracle.difficulty:.4f}"
    if isinstance(oracle, Uniform):
        return f"uniform: p = {oracle.p:.5f}"
    assert isinstance(oracle, Similarity)
    return "similarity: r = " + ", ".join(f"{share:.3g}" for share in oracle.r[:5]) + (" ..." if oracle.n > 5 else "")


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _is_our_table(path: Path) -> bool:
    """Say whether `path` is a table that this command wrote."""
    try:
        text = path.read_text(encoding="utf-8")
        names = text.partition("\n")[0].split(",") if path.suffix.lower() == ".csv" else list(json.loads(text)[0])
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return False
    return names[: len(FIRST_COLUMNS)] == FIRST_COLUMNS
