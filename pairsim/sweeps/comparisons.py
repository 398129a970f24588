"""Paired comparisons: two decoders on the same tournaments, so that the difference is known better than either."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from pairsim.decoders import Decoder
from pairsim.errors import refusal
from pairsim.simulation import Bench
from pairsim.simulation.blocks import play_block
from pairsim.simulation.versus import Versus
from pairsim.stats import Moments, bounded_interval, check_confidence
from pairsim.store import Store
from pairsim.sweeps.cells import Cell
from pairsim.sweeps.ledger import Ledger, stored_versus
from pairsim.sweeps.requests import stored_cells
from pairsim.sweeps.rows import Row


class Comparison(NamedTuple):
    """How much more often the first decoder names the true class than the second, on one oracle.

    `paired` says whether both saw the same tournaments; without that the interval only adds up those of the two.
    """

    oracle: str
    n: int
    p: float
    first: str
    second: str
    trials: int
    difference: float
    low: float
    high: float
    paired: bool


def difference_of(versus: Versus, confidence: float) -> tuple[float, float, float]:
    """Return (difference of success, low, high) of two decoders on the same trials.

    Examples
    --------
    >>> difference_of(Versus(1000, first_only=10, second_only=30), 0.95)[0]
    0.02
    """
    sample = versus.smooth or _moments_of_differences(versus)
    # the interval is for numbers in [0, 1]: (1 + difference) / 2 is one
    halved = Moments(sample.count, (1.0 + sample.mean) / 2.0, sample.second / 4.0, sample.third / 8.0)
    low, high = bounded_interval(halved, confidence)
    difference = 0.0 - sample.mean  # of successes, hence the other way round; 0 has no sign
    return difference, min(difference, 1.0 - 2.0 * high), max(difference, 1.0 - 2.0 * low)


def _moments_of_differences(versus: Versus) -> Moments:
    """Return the moments of first failed - second failed, which is -1, 0 or 1."""
    counts = {
        -1.0: versus.second_only,
        0.0: versus.trials - versus.first_only - versus.second_only,
        1.0: versus.first_only,
    }
    mean = (versus.first_only - versus.second_only) / versus.trials
    second, third = (sum((value - mean) ** k * count for value, count in counts.items()) for k in (2, 3))
    return Moments(versus.trials, mean, second, third)


def compare_in_store(
    store: Store,
    first: Decoder,
    second: Decoder,
    confidence: float = 0.95,
    progress: Callable[[float, str], None] | None = None,
) -> list[Comparison]:
    """Compare two decoders on every oracle (and seed) for which a store has both.

    Blocks in which they were not played side by side are played again.
    """
    confidence = check_confidence("compare", confidence)
    ledger = Ledger(store)
    cells = list(stored_cells(store, ledger))
    matched = list(_matches(cells, first, second))
    found = []
    for one, two in matched:
        known = stored_versus(store, one.task.id, two.task.id)
        total = Versus()
        for block in ledger.blocks_of(one.task.id):
            if block >= min(_end_of(one), _end_of(two)):
                break
            trials = min(one.trials_of(block), two.trials_of(block))
            both = known.get(block)
            if both is None or both.trials != trials:
                if not (_has(one, ledger, block) and _has(two, ledger, block)):
                    continue
                both = _play_again(one, two, block, trials)
            total = total.plus(both)
        if progress:
            progress(1.0 / len(matched), one.label)
        if total.trials:
            found.append(_comparison(one, two, total, confidence))
    if not found:
        raise refusal("compare", "decoder", "two decoders that the store has on the same oracle", _listed(cells))
    return found


def _end_of(cell: Cell) -> int:
    """Return the block before which a task ends; blocks that were played ahead of a rule depend on who played them."""
    return cell.frontier if cell.stop.is_rule else cell.blocks


def _has(cell: Cell, ledger: Ledger, block: int) -> bool:
    return ledger.tally(cell.task.id, block, cell.trials_of(block)) is not None


def _play_again(one: Cell, two: Cell, block: int, trials: int) -> Versus:
    methods = (one.task.method, two.task.method)
    bench = Bench((one.task.oracle,), (one.task.decoder, two.task.decoder), methods, -1, one.task.seed, paired=True)
    return play_block(bench, block * one.size, trials)[0].versus[0, 1]


def _matches(cells: Sequence[Cell], first: Decoder, second: Decoder) -> Iterator[tuple[Cell, Cell]]:
    """Yield the cells of both decoders on the same tournaments."""
    for one in cells:
        for two in cells:
            same = (one.task.oracle_digest, one.task.seed) == (two.task.oracle_digest, two.task.seed)
            if same and one.blocks and two.blocks and (one.task.decoder, two.task.decoder) == (first, second):
                yield one, two


def _comparison(one: Cell, two: Cell, total: Versus, confidence: float) -> Comparison:
    oracle = one.task.oracle
    difference, low, high = difference_of(total, confidence)
    p = math.nan if oracle.p is None else oracle.p
    names = (one.task.decoder.spec, two.task.decoder.spec)
    return Comparison(one.label, oracle.n, p, *names, total.trials, difference, low, high, True)


def _listed(cells: Sequence[Cell]) -> str:
    return "a store with " + (", ".join(dict.fromkeys(cell.task.decoder.spec for cell in cells)) or "nothing")


def compare_in_table(rows: Sequence[Row], first: str, second: str) -> list[Comparison]:
    """Compare two decoders of a table, which does not know what they had in common.

    The interval goes from the one's low to the other's high: it holds when both of theirs do.
    """
    found = []
    for one in rows:
        for two in rows:
            same = (one.oracle, one.n) == (two.oracle, two.n) and (
                one.p == two.p or (one.p != one.p and two.p != two.p)
            )
            if same and (one.decoder, two.decoder) == (first, second):
                difference = one.success - two.success
                interval = (one.low - two.high, one.high - two.low)
                trials = min(one.trials, two.trials)
                found.append(Comparison(*one[:3], first, second, trials, difference, *interval, False))
    if not found:
        there = ", ".join(dict.fromkeys(row.decoder for row in rows))
        raise refusal(
            "compare", "decoder", "two decoders that the table has on the same oracle", f"a table with {there}"
        )
    return found


def as_record(comparison: Comparison) -> dict[str, object]:
    """Return the comparison as a plain dictionary."""
    return {field: value for field, value in comparison._asdict().items() if field != "paired"} | {
        "paired": "yes" if comparison.paired else "no"
    }


def verdict(comparisons: Sequence[Comparison]) -> str:
    """Say in one line who is better."""
    ahead = sum(each.low > 0.0 for each in comparisons)
    behind = sum(each.high < 0.0 for each in comparisons)
    names = (comparisons[0].first, comparisons[0].second)
    return f"{names[0]} is better on {ahead}, {names[1]} on {behind}, undecided on {len(comparisons) - ahead - behind}"


__all__ = ["Comparison", "as_record", "compare_in_store", "compare_in_table", "difference_of", "verdict"]
