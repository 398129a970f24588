"""`pairsim exact`: success probabilities that need no trial."""

from __future__ import annotations

import math

from pairsim.cli import options
from pairsim.cli.console import note
from pairsim.cli.records import show_records


def exact_command(
    n: options.ClassesOption = None,
    p: options.ChanceOption = None,
    oracle: options.OracleOption = None,
    r: options.SimilarityOption = None,
    matrix: options.MatrixOption = None,
    order: options.OrderOption = None,
    difficulty: options.DifficultyOption = None,
    decoder: options.DecoderOption = None,
    ties: options.TiesOption = None,
    confidence: options.ConfidenceOption = 0.95,
    format_: options.FormatOption = "table",
) -> None:
    """Compute exact success probabilities: closed forms, dynamic programming, enumeration.

    Without --decoder: those of max-win, poll, adag and ddag that have an exact value at this n. Of recorded answers it
    is the mean over the rows, with an interval for other rows of the kind.

    Example: pairsim exact --n 1000000 --p 0.9 --decoder adag
    """
    options.check_format(format_)
    oracles = options.make_oracles(oracle, n, p, r, matrix, order, difficulty)
    decoders = options.make_decoders(decoder, ties)

    from pairsim.exact_values import ExactUnavailable, exact

    records, refused = [], []
    for each in oracles:
        for one in decoders:
            try:
                value = exact(each, one, confidence)
            except ExactUnavailable as error:
                if decoder:  # it was asked for by name
                    raise
                refused.append(error)
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
    for why in refused:
        note(str(why))
    show_records(records, format_)
