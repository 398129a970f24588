"""`pairsim bound`: what can be proven without a trial."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pairsim.cli import options
from pairsim.cli.records import show_records
from pairsim.errors import ParameterError, refusal

if TYPE_CHECKING:
    from pairsim.decoders import Decoder
    from pairsim.oracles import Oracle

BOUNDED_SPECS = ("max-win", "poll:l=log", "poll:l=3log", "poll:l=5log")


def bound_command(
    n: options.ClassesOption = None,
    p: options.ChanceOption = None,
    oracle: options.OracleOption = None,
    r: options.SimilarityOption = None,
    matrix: options.MatrixOption = None,
    order: options.OrderOption = None,
    difficulty: options.DifficultyOption = None,
    decoder: options.DecoderOption = None,
    failure: Annotated[
        str | None,
        typer.Option("--failure", help="Find the certified poll size for this failure probability: 0.001, 1/n, 1/n^2."),
    ] = None,
    ties: options.TiesOption = None,
    format_: options.FormatOption = "table",
) -> None:
    """Bound failure probabilities from both sides: proofs, not estimates.

    With --failure: the smallest certified sample size of a poll, beside the one that the POLL paper's Theorem 2 asks
    for (ties count as failures unless --ties says otherwise). Without it: certified intervals for max-win and poll.

    Example: pairsim bound --n 512 --p 0.9 --failure 1/n
    """
    options.check_format(format_)
    oracles = options.make_oracles(oracle, n, p, r, matrix, order, difficulty)
    if failure is not None:
        if decoder:
            raise refusal("bound", "decoder", "left out with --failure, which is about poll", repr(decoder[0]))
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
        raise refusal("bound", "failure", "a number strictly between 0 and 1, or 1/n, or 1/n^c", repr(text))
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
