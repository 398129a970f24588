"""Running a sweep: every decoder on every oracle, point after point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pairsim.errors import refusal
from pairsim.simulation import check_trials, simulate
from pairsim.sweeps.rows import Row, make_row, to_frame

if TYPE_CHECKING:
    import pandas as pd

    from pairsim.decoders import Decoder
    from pairsim.oracles import Oracle


def sweep(
    oracles: Sequence[Oracle],
    decoders: Sequence[Decoder],
    trials: int | None = None,
    seed: int = 0,
    confidence: float = 0.95,
    *,
    threads: int | None = None,
    progress: Callable[[Oracle, int], None] | None = None,
) -> pd.DataFrame:
    """Simulate every decoder on every oracle and return one row for each.

    Parameters
    ----------
    oracles, decoders : sequences
        The grid. All decoders see the same tournaments of an oracle.
    trials, seed, confidence, threads
        As in `simulate`.
    progress : callable, optional
        Called with the oracle and the number of trials just finished.

    Returns
    -------
    pandas.DataFrame
        Columns oracle, n, p, decoder, method, trials, success, low, high, queries, distinct, rounds, agreement.

    Examples
    --------
    >>> from pairsim import Adag, MaxWin, Uniform, sweep
    >>> rows = sweep([Uniform(n, 1.0) for n in (4, 8)], [MaxWin(), Adag()], trials=100)
    >>> rows[["n", "decoder", "success", "queries"]]
       n  decoder  success  queries
    0  4  max-win      1.0      6.0
    1  4     adag      1.0      3.0
    2  8  max-win      1.0     28.0
    3  8     adag      1.0      7.0
    """
    check_grid(oracles, decoders, trials)
    rows: list[Row] = []
    for oracle in oracles:
        tell = None if progress is None else lambda count, oracle=oracle: progress(oracle, count)
        estimates = simulate(oracle, list(decoders), trials, seed, confidence, threads=threads, progress=tell)
        rows += [make_row(oracle, estimate) for estimate in estimates]
    return to_frame(rows)


def check_grid(oracles: Sequence[Oracle], decoders: Sequence[Decoder], trials: int | None) -> None:
    """Refuse a grid with an empty side, or with a decoder that does not fit a number of classes, before any work."""
    if not oracles:
        raise refusal("sweep", "oracles", "at least one oracle", "none")
    if not decoders:
        raise refusal("sweep", "decoders", "at least one decoder", "none")
    for oracle in oracles:
        check_trials("sweep", trials, oracle)
        for decoder in decoders:
            decoder.cost(oracle.n)
