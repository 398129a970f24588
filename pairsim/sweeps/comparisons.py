"""Paired comparisons: two decoders on the same tournaments, so that the difference is known better than either.

Where a task was counted until so many failures (or of the rarer outcome) were seen, the plain difference over the
trials that both have is biased: those trials end on a run of bad luck for one of the two. The estimates that the rule
has for such counts have no bias, and neither has their difference. Its interval adds up an interval of each, at
confidences that hold together. Where both tasks ended in the first block, these estimates are the plain ones, and the
paired interval of the first block may be used. Luck decides which of the two intervals it is: each is allowed half of
the probability to miss.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from pairsim.decoders import Decoder
from pairsim.errors import parameter_error
from pairsim.simulation import BlockSimulator
from pairsim.simulation.blocks import run_block
from pairsim.simulation.paired import PairedTally
from pairsim.stats import Moments, bounded_interval, check_confidence
from pairsim.store import Store
from pairsim.sweeps.block_results import BlockResults, stored_versus
from pairsim.sweeps.progress import TaskProgress
from pairsim.sweeps.requests import stored_cells
from pairsim.sweeps.rows import Row


class Comparison(NamedTuple):
    """How much more often the first decoder names the true class than the second, on one oracle.

    `paired` says whether the interval uses that both saw the same tournaments; else it only adds up those of the two.
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


class Difference(NamedTuple):
    """What `Comparison` says of the difference."""

    trials: int
    difference: float
    low: float
    high: float
    paired: bool


def difference_of(versus: PairedTally, confidence: float) -> tuple[float, float, float]:
    """Return (difference of success, low, high) of two decoders on the same trials.

    Examples
    --------
    >>> difference_of(PairedTally(1000, first_only=10, second_only=30), 0.95)[0]
    0.02
    """
    sample = versus.smooth or _moments_of_differences(versus)
    # the interval is for numbers in [0, 1]: (1 + difference) / 2 is one
    halved = Moments(sample.count, (1.0 + sample.mean) / 2.0, sample.second / 4.0, sample.third / 8.0)
    low, high = bounded_interval(halved, confidence)
    difference = 0.0 - sample.mean  # of successes, hence the other way round; 0 has no sign
    return difference, min(difference, 1.0 - 2.0 * high), max(difference, 1.0 - 2.0 * low)


def _moments_of_differences(versus: PairedTally) -> Moments:
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
    left_out: list[str] | None = None,
) -> list[Comparison]:
    """Compare two decoders on every oracle (and seed) for which a store has both.

    Blocks in which they were not run side by side are recomputed. `left_out` is that of `stored_cells`.
    """
    confidence = check_confidence("compare", confidence)
    results = BlockResults(store)
    cells = list(stored_cells(store, results, left_out))
    matched = list(_matches(cells, first, second))
    found = []
    for one, two in matched:
        by_luck = ends_by_luck(one, two)
        level = (1.0 + confidence) / 2.0 if by_luck else confidence
        difference: Difference | None
        if by_luck and not _both_ended_at_once(one, two):
            difference = difference_apart(one, two, results, level)
        else:
            total = _side_by_side(store, one, two, results)
            difference = Difference(total.trials, *difference_of(total, level), True) if total.trials else None
        if progress:
            progress(1.0 / len(matched), one.label)
        if difference is not None:
            found.append(_comparison(one, two, difference))
    if not found:
        raise parameter_error(
            "compare", "decoder", "two decoders that the store has on the same oracle", _listed(cells)
        )
    return found


def ends_by_luck(one: TaskProgress, two: TaskProgress) -> bool:
    """Say whether counted outcomes decide how many trials two tasks have in common."""
    fixed = [cell.blocks if cell.counts_to_stop else _end_of(cell) for cell in (one, two)]
    return (one.counts_to_stop or two.counts_to_stop) and min(fixed) > 1  # one block is always there


def _both_ended_at_once(one: TaskProgress, two: TaskProgress) -> bool:
    return all(cell.counts_to_stop and cell.frontier == 1 for cell in (one, two))


def difference_apart(
    one: TaskProgress, two: TaskProgress, results: BlockResults, confidence: float
) -> Difference | None:
    """Return the difference of two estimates, each made of all that its task has; None while either has nothing.

    The interval holds when those of both do, each of which misses with half of the probability that is allowed.
    """
    first, second = (cell.estimate(results, (1.0 + confidence) / 2.0) for cell in (one, two))
    if first is None or second is None:
        return None
    difference = second.failure - first.failure  # and not of successes, which have fewer digits
    interval = (first.low - second.high, first.high - second.low)
    return Difference(min(first.trials, second.trials), difference, *interval, False)


def _side_by_side(store: Store, one: TaskProgress, two: TaskProgress, results: BlockResults) -> PairedTally:
    """Return two tasks on the trials that both have, in all blocks up to the end of either."""
    known = stored_versus(store, one.task.id, two.task.id)
    total = PairedTally()
    for block in results.blocks_of(one.task.id):
        if block >= min(_end_of(one), _end_of(two)):
            break
        trials = min(one.trials_of(block), two.trials_of(block))
        both = known.get(block)
        if both is None or both.trials != trials:
            if not (_has(one, results, block) and _has(two, results, block)):
                continue
            both = _recompute(one, two, block, trials)
        total = total.plus(both)
    return total


def _end_of(cell: TaskProgress) -> int:
    """Return the block before which a task ends; blocks that ran ahead of a rule depend on who ran them."""
    return cell.frontier if cell.stop.is_rule else cell.blocks


def _has(cell: TaskProgress, results: BlockResults, block: int) -> bool:
    return results.tally(cell.task.id, block, cell.trials_of(block)) is not None


def _recompute(one: TaskProgress, two: TaskProgress, block: int, trials: int) -> PairedTally:
    methods = (one.task.method, two.task.method)
    simulator = BlockSimulator(
        (one.task.oracle,), (one.task.decoder, two.task.decoder), methods, -1, one.task.seed, paired=True
    )
    return run_block(simulator, block * one.size, trials)[0].versus[0, 1]


def _matches(
    cells: Sequence[TaskProgress], first: Decoder, second: Decoder
) -> Iterator[tuple[TaskProgress, TaskProgress]]:
    """Yield the cells of both decoders on the same tournaments."""
    for one in cells:
        for two in cells:
            same = (one.task.oracle_digest, one.task.seed) == (two.task.oracle_digest, two.task.seed)
            if same and one.blocks and two.blocks and (one.task.decoder, two.task.decoder) == (first, second):
                yield one, two


def _comparison(one: TaskProgress, two: TaskProgress, difference: Difference) -> Comparison:
    oracle = one.task.oracle
    p = math.nan if oracle.p is None else oracle.p
    names = (one.task.decoder.spec, two.task.decoder.spec)
    trials, gap, low, high, paired = difference
    return Comparison(one.label, oracle.n, p, *names, trials, gap, low, high, paired)


def _listed(cells: Sequence[TaskProgress]) -> str:
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
        raise parameter_error(
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
