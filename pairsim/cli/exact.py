"""`pairsim exact`: success probabilities without simulation."""

from __future__ import annotations

import math
from typing import Any

from pairsim.cli import options
from pairsim.cli.console import note
from pairsim.cli.oracle_options import Grid, with_oracles
from pairsim.cli.records import show_records

MOST_LISTED = 8


@with_oracles
def exact_command(
    grid: Grid,
    decoder: options.DecoderOption = None,
    ties: options.TiesOption = None,
    confidence: options.ConfidenceOption = 0.95,
    format_: options.FormatOption = "table",
) -> None:
    """Compute exact success probabilities without simulation.

    By closed forms, dynamic programming or enumeration.

    Default decoders: those of max-win, poll, adag and ddag that have an exact value at this n. For recorded answers it
    is the mean over the rows, with a confidence interval for new rows.

    Example: pairsim exact --n 1000000 --p 0.9 --decoder adag
    """
    options.check_format(format_)
    oracles = grid()
    decoders = options.make_decoders(decoder, ties)

    from pairsim.exact_values import ExactUnavailable, exact

    records: list[dict[str, Any]] = []
    missing: dict[int, list[str]] = {}
    refused: list[ExactUnavailable] = []
    for each in oracles:
        for one in decoders:
            try:
                value = exact(each, one, confidence)
            except ExactUnavailable as error:
                if decoder:  # it was asked for by name
                    raise
                refused.append(error)
                if one.spec not in missing.setdefault(each.n, []):
                    missing[each.n].append(one.spec)
                continue
            records.append(
                {
                    "oracle": each.label,
                    "n": each.n,
                    "p": math.nan if each.p is None else each.p,
                    "decoder": one.spec,
                    "success": value.success,
                    "failure": value.failure,
                    **({} if value.low is None else {"low": value.low, "high": value.high}),
                    "queries": value.queries,
                    "distinct": value.distinct,
                    "rounds": value.rounds,
                    "how": value.how,
                }
            )
    if not records:
        raise refused[0]
    if missing:
        note(f"no exact value {without_value(missing)} (too many cases; use sweep or bound)")
    show_records(records, format_)


def without_value(missing: dict[int, list[str]]) -> str:
    """Say which decoders have no exact value at which n, in one phrase; n with the same decoders are joined.

    Examples
    --------
    >>> without_value({20: ["poll:l=log"], 32: ["max-win", "poll:l=log"], 64: ["max-win", "poll:l=log"]})
    'at n = 20 for poll:l=log; at n = 32, 64 for max-win, poll:l=log'
    """
    grouped: dict[tuple[str, ...], list[int]] = {}
    for n, specs in missing.items():
        grouped.setdefault(tuple(specs), []).append(n)
    return "; ".join(f"at n = {_listed(sizes)} for {', '.join(specs)}" for specs, sizes in grouped.items())


def _listed(sizes: list[int]) -> str:
    if len(sizes) > MOST_LISTED:
        return f"{', '.join(map(str, sizes[: MOST_LISTED - 1]))}, ..., {sizes[-1]}"
    return ", ".join(map(str, sizes))
