"""`pairsim bound`: proven bounds, without simulation."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pairsim.cli import options
from pairsim.cli.floor_rows import budget_rows, point_of, target_rows
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
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            help="The queries that every decoder needs for this success, as a budget and on average: 0.99, 0.9,0.99 or "
            "0.5..0.95:0.05.",
        ),
    ] = None,
    queries: Annotated[
        str | None,
        typer.Option(
            "--queries", help="The most success of any decoder with this budget: 1000, 1000,2000 or 1000..16000."
        ),
    ] = None,
    ties: options.TiesOption = None,
    format_: options.FormatOption = "table",
) -> None:
    """Prove bounds on failure and floors that no decoder can beat.

    With --failure: the smallest certified sample size of a poll, beside the one that the POLL paper's Theorem 2
    requires; with --ties lose every tie is a failure, as there. With --alpha: that paper's Lemma 1 and Theorems 2
    and 3, corrected and as printed: l, the queries per class with which one given rival (less than 1/(n-1)^c) or any of
    them (less than 1/n^c) overtakes, and the probability (failure) of a smaller separation, which pairsim separation
    measures. Without any of these: certified intervals for max-win and poll.

    With --target: the floor for every decoder, adaptive or not, to which class numbers mean nothing. least_budget is
    for the most queries that it may ask, least_mean for its mean; inf where all pairs are not enough. With --queries:
    the most success that such a decoder can have when it never asks more.

    Examples: pairsim bound --n 512 --p 0.9 --failure 1/n; pairsim bound --n 512 --p 0.9 --alpha 1.5;
    pairsim bound --n 512 --p 0.9 --target 0.99; pairsim bound --n 512 --p 0.7,0.9 --queries 1000..16000
    """
    options.check_format(format_)
    _check_alone(alpha=alpha, target=target, queries=queries, failure=failure, decoder=decoder, ties=ties)
    oracles = grid()
    if target is not None:
        records = target_rows(oracles, target)
    elif queries is not None:
        records = budget_rows(oracles, queries)
    elif alpha is not None:
        records = [row for each in oracles for row in theorem_rows(each, alpha, power)]
    elif failure is not None:
        options.check_ties(ties)
        records = [_sample_size(each, read_failure(failure, each.n), ties or "random") for each in oracles]
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


def _check_alone(**given: Any) -> None:
    """Reject options of two of the command's uses at once; only --failure and the intervals know --ties."""
    named = {name: value for name, value in given.items() if value is not None and value != []}
    for first, rest in (
        ("alpha", ("target", "queries", "failure", "decoder", "ties")),
        ("target", ("queries", "failure", "decoder", "ties")),
        ("queries", ("failure", "decoder", "ties")),
        ("failure", ("decoder",)),
    ):
        for name in rest:
            if first in named and name in named:
                got = named[name][0] if name == "decoder" else named[name]
                must_be = f"omitted: --{name} cannot be combined with --{first}"
                raise parameter_error("bound", name, must_be, repr(got))


def _sample_size(oracle: Oracle, failure: float, ties: str) -> dict[str, Any]:
    from pairsim.bounds import certified_sample_size, paper_sample_size

    size = certified_sample_size(oracle, failure=failure, ties=ties)
    try:
        paper = paper_sample_size(oracle.n, c=-math.log(failure) / math.log(oracle.n), p=oracle.p, printed=True)
    except ParameterError:
        paper = None  # the theorem speaks of uniform-p above 1/2 only
    return point_of(oracle) | {
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
    return point_of(oracle) | {
        "decoder": decoder.spec,
        "failure_low": found.failure_low,
        "failure_high": found.failure_high,
        "success": 1.0 - found.failure_high,
        "how": found.how,
    }
