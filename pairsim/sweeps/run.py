"""Running a sweep: every decoder on every oracle, point after point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pairsim.errors import refusal
from pairsim.oracles import Uniform
from pairsim.simulation import check_trials, simulate_together
from pairsim.sweeps.rows import Row, make_row, to_frame

if TYPE_CHECKING:
    import pandas as pd

    from pairsim.decoders import Decoder
    from pairsim.oracles import Oracle
    from pairsim.stats import Estimate


def sweep(
    oracles: Sequence[Oracle],
    decoders: Sequence[Decoder],
    trials: int | None = None,
    seed: int = 0,
    confidence: float = 0.95,
    *,
    method: str = "auto",
    threads: int | None = None,
    progress: Callable[[Oracle, int], None] | None = None,
) -> pd.DataFrame:
    """Simulate every decoder on every oracle and return one row for each.

    Parameters
    ----------
    oracles, decoders : sequences
        The grid. All decoders see the same tournaments of an oracle.
    trials, seed, confidence, method, threads
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
    return to_frame(
        sweep_rows(oracles, decoders, trials, seed, confidence, method=method, threads=threads, progress=progress)
    )


def sweep_rows(
    oracles: Sequence[Oracle],
    decoders: Sequence[Decoder],
    trials: int | None = None,
    seed: int = 0,
    confidence: float = 0.95,
    *,
    method: str = "auto",
    threads: int | None = None,
    progress: Callable[[Oracle, int], None] | None = None,
) -> list[Row]:
    """Do as `sweep` does, and return plain rows: the command line can do without pandas."""
    check_grid(oracles, decoders, trials)
    estimates: dict[int, list[Estimate]] = {}
    for places in group_oracles(oracles):
        group = [oracles[place] for place in places]
        tell = None if progress is None else lambda count, group=group: progress(group[0], count * len(group))
        found = simulate_together(
            group, decoders, trials, seed, confidence, method=method, threads=threads, progress=tell
        )
        estimates.update(zip(places, found, strict=True))
    return [make_row(oracle, each) for place, oracle in enumerate(oracles) for each in estimates[place]]


def group_oracles(oracles: Sequence[Oracle]) -> list[list[int]]:
    """Return the places of oracles that can be simulated together: uniform ones with the same n share tournaments."""
    groups: dict[object, list[int]] = {}
    for place, oracle in enumerate(oracles):
        groups.setdefault(oracle.n if isinstance(oracle, Uniform) else f"alone {place}", []).append(place)
    return list(groups.values())


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
