"""`pairsim compare`: two decoders on the same tournaments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pairsim.cli import options
from pairsim.cli.console import announce_compiling, note, noting_left_out, progress_bar
from pairsim.cli.records import show_records
from pairsim.cli.results import Results, open_results
from pairsim.errors import parameter_error

if TYPE_CHECKING:
    from pairsim.decoders import Decoder


def compare_command(
    results: Annotated[Path, typer.Argument(help="A results store (.db), or a table.")],
    first: Annotated[str, typer.Argument(help="A decoder spec, for example poll:l=5log.")],
    second: Annotated[str, typer.Argument(help="The decoder to compare it with.")],
    confidence: options.ConfidenceOption = 0.95,
    format_: options.FormatOption = "table",
    load: options.LoadOption = None,
) -> None:
    """Estimate the difference in success of two decoders.

    For each oracle, the success of the first minus that of the second, with an interval.

    For evaluations: the number of rows on which only one decoder was correct, with McNemar's exact test.

    In a store both decoders ran on the same tournaments, so the paired interval is much narrower. After --max-failures
    or a relative --half-width only the difference of the two estimates is unbiased (paired: no).

    Example: pairsim compare results.db poll:l=5log poll:l=3log
    """
    options.check_format(format_)
    options.load_modules(load)

    one, two = options.read_decoder(first), options.read_decoder(second)
    with open_results(results) as found:
        if found.evaluates:
            _compare_evaluations(found, one, two, format_)
        else:
            _compare_sweep(found, one, two, confidence, format_)


def _compare_sweep(results: Results, one: Decoder, two: Decoder, confidence: float, format_: str) -> None:
    from pairsim.sweeps.comparisons import as_record, compare_in_store, compare_in_table, verdict

    if results.store is not None:
        announce_compiling()
        with noting_left_out() as left_out, progress_bar("compare", 1.0) as advance:
            found = compare_in_store(results.store, one, two, confidence, advance, left_out)
        if not all(each.paired for each in found):
            note(
                "paired no: the number of failures decided when to stop, so a paired estimate would be biased; these "
                "are the differences of the rows' own estimates"
            )
    else:
        found = compare_in_table(results.rows(), one.spec, two.spec)
        note("a table has no paired trials, so the intervals are wide; use a store for paired intervals")
    show_records([as_record(each) for each in found], format_, verdict(found))


def _compare_evaluations(results: Results, one: Decoder, two: Decoder, format_: str) -> None:
    from pairsim.evaluation.results import compare_decoders

    if results.store is None:
        must_be = "a store: a table of evaluations does not have single rows"
        raise parameter_error("compare", "results", must_be, repr(str(results.path)))
    with noting_left_out(made_by="evaluation") as left_out:
        show_records([each._asdict() for each in compare_decoders(results.store, one, two, left_out)], format_)
