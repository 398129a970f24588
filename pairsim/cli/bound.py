"""`pairsim bound`: proven bounds, without simulation."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pairsim.cli import options
from pairsim.cli.oracle_options import Grid, with_oracles
from pairsim.cli.poll_theorems import theorem_rows
from pairsim.cli.records import show_records
from pairsim.errors import ParameterError, parameter_error

if TYPE_CHECKING:
    from pairsim.decoders import Decoder
    from pairsim.oracles import Oracle

BOUNDED_SPECS = ("max-win", "poll:l=log", "poll:l=3log", "poll:l=5log")


@with_oracles
def bound_command(
    grid: Grid,
    decoder: options.DecoderOption = None,
    failure: Annotated[
        str | None,
        typer.Option("--failure", help="Find the certified poll size for this failure probability: 0.001, 1/n, 1/n^2."),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(
            "--alpha", help="The POLL paper's Lemma 1 and Theorems 2 and 3 for this separation s1/s2, above 1."
        ),
    ] = None,
    power: Annotated[
        float, typer.Option("--power", help="With --alpha: the c of the failure probability 1/n^c.")
    ] = 1.0,
    ties: options.TiesOption = None,
    format_: options.FormatOption = "table",
) -> None:
    """Prove lower and upper bounds on failure probabilities.

    With --failure: the smallest certified sample size of a poll, beside the one that the POLL paper's Theorem 2
    requires (ties count as failures unless --ties says otherwise). With --alpha: that paper's Lemma 1 and Theorems 2
    and 3, corrected and as printed: l, the queries per class with which one given rival (less than 1/(n-1)^c) or any of
    them (less than 1/n^c) overtakes, and the probability (failure) of a smaller separation, which pairsim separation
    measures. Without either: certified intervals for max-win and poll.

    Examples: pairsim bound --n 512 --p 0.9 --failure 1/n; pairsim bound --n 512 --p 0.9 --alpha 1.5
    """
    options.check_format(format_)
    oracles = grid()
    if alpha is not None:
        for name, value in (("failure", failure), ("decoder", decoder), ("ties", ties)):
            if value:
                raise parameter_error("bound", name, f"omitted: --{name} cannot be combined with --alpha", repr(value))
        records = [row for each in oracles for row in theorem_rows(each, alpha, power)]
    elif failure is not None:
        if decoder:
            raise parameter_error(
                "bound", "decoder", "omitted: --decoder cannot be combined with --failure", repr(decoder[0])
            )
        options.check_ties(ties)
        records = [_sample_size(each, read_failure(failure, each.n), ties or "lose") for each in oracles]
    else:
        decoders = options.make_decoders(decoder or BOUNDED_SPECS, ties)
        records = [_interval(each, one) for each in oracles for one in decoders]
    show_records(records, format_)


def read_failure(text: str, n: int) -> float:
    """Read a failure probability: a number, or 1/n or 1/n^c."""
    found = re.fullmatch(r"1/n(?:(?:\^|\*\*)(\d+(?:\.\d*)?))?", text.replace(" ", ""))
    if found:
        return math.pow(n, -float(found[1] or 1.0))
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 < value < 1.0:
        raise parameter_error("bound", "failure", "a number strictly between 0 and 1, or 1/n, or 1/n^c", repr(text))
    return value


def _sample_size(oracle: Oracle, failure: float, ties: str) -> dict[str, Any]:
    from pairsim.bounds import certified_sample_size, paper_sample_size

    size = certified_sample_size(oracle, failure=failure, ties=ties)
    try:
        paper = paper_sample_size(oracle.n, c=-math.log(failure) / math.log(oracle.n), p=oracle.p, printed=True)
    except ParameterError:
        paper = None  # the theorem speaks of uniform-p above 1/2 only
    return _point(oracle) | {
        "decoder": f"poll:l={size.l}" + ("" if ties == "random" else f",ties={ties}"),
        "failure": failure,
        "certified_l": size.l,
        "paper_l": paper,
        "failure_low": size.failure_low,
        "failure_high": size.failure_high,
    }


def _interval(oracle: Oracle, decoder: Decoder) -> dict[str, Any]:
    from pairsim.bounds import bound

    found = bound(oracle, decoder)
    return _point(oracle) | {
        "decoder": decoder.spec,
        "failure_low": found.failure_low,
        "failure_high": found.failure_high,
        "success": 1.0 - found.failure_high,
        "how": found.how,
    }


def _point(oracle: Oracle) -> dict[str, Any]:
    return {"oracle": oracle.label, "n": oracle.n, "p": math.nan if oracle.p is None else oracle.p}
