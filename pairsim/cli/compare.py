"""`pairsim compare`: two decoders on the same tournaments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pairsim.cli import options
from pairsim.cli.console import announce_compiling, note, progress_bar
from pairsim.cli.records import show_records
from pairsim.errors import refusal

if TYPE_CHECKING:
    from pairsim.decoders import Decoder


def compare_command(
    results: Annotated[Path, typer.Argument(help="A results store (.db), or a table.")],
    first: Annotated[str, typer.Argument(help="A decoder spec, for example poll:l=5log.")],
    second: Annotated[str, typer.Argument(help="The decoder to compare it with.")],
    confidence: options.ConfidenceOption = 0.95,
    format_: options.FormatOption = "table",
) -> None:
    """Say how much more often the first decoder is right than the second, oracle by oracle, with intervals.

    Of evaluations: on how many rows only the one was right, with McNemar's exact test.

    In a store both have seen the same tournaments, so the difference is known much better than either figure.

    Example: pairsim compare results.db poll:l=5log poll:l=3log
    """
    options.check_format(format_)

    from pairsim.decoders import decoder
    from pairsim.evaluation.results import is_evaluation
    from pairsim.sweeps.comparisons import as_record, compare_in_store, compare_in_table, verdict
    from pairsim.sweeps.results import names_a_store, read_rows

    one, two = decoder(first), decoder(second)
    if is_evaluation(results):
        _compare_evaluation(results, one, two, format_)
        return
    if names_a_store(results):
        from pairsim.store import Store

        announce_compiling()
        with Store.read(results) as store, progress_bar("compare", 1.0) as advance:
            found = compare_in_store(store, one, two, confidence, advance)
    else:
        found = compare_in_table(read_rows(results), one.spec, two.spec)
        note("a table does not say what the decoders had in common: the intervals are wide; a store knows better")
    show_records([as_record(each) for each in found], format_, verdict(found))


def _compare_evaluation(results: Path, one: Decoder, two: Decoder, format_: str) -> None:
    from pairsim.evaluation.results import compare_decoders
    from pairsim.store import Store, is_store

    if not is_store(results):
        must_be = "a store: a table of evaluations does not know its rows one by one"
        raise refusal("compare", "results", must_be, repr(str(results)))
    with Store.read(results) as store:
        show_records([each._asdict() for each in compare_decoders(store, one, two)], format_)
