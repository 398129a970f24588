"""Cutting trials: blocks, the unit of storage and of resuming, and pieces of them, the unit of work of a thread."""

from __future__ import annotations

from collections.abc import Iterator

from pairsim.kernels.bits import SLAB_TRIALS
from pairsim.kernels.stream import TRIALS_PER_WORD
from pairsim.simulation.methods import MOST_SCORED_CLASSES
from pairsim.simulation.simulator import BlockSimulator
from pairsim.simulation.tally import BlockResult

QUERIES_PER_PIECE = 2_000_000  # about 20 ms of work: long against scheduling, short against Ctrl-C
MOST_BLOCK_TRIALS = 64 * SLAB_TRIALS  # a tenth of a second where scores are added up, seconds where all is asked
BLOCK_SCORES = 8192 * SLAB_TRIALS  # classes x trials of a block


def block_trials(n: int) -> int:
    """Return the number of trials of a block.

    It depends on n alone, so that decoders and points that are added to a sweep later share the blocks of those that
    are there; where tournaments can be scored it is an integer of slabs.

    Examples
    --------
    >>> [block_trials(n) for n in (2, 512, 1000, 8192, 100_000)]
    [65536, 16384, 8192, 1024, 64]
    """
    if n > MOST_SCORED_CLASSES:
        return TRIALS_PER_WORD
    slabs = BLOCK_SCORES // (n * SLAB_TRIALS)
    return min(MOST_BLOCK_TRIALS, max(1, slabs) * SLAB_TRIALS)


def cut_blocks(n: int, trials: int) -> Iterator[tuple[int, int, int]]:
    """Yield (block, first trial, trials) of all blocks; the last one may be cut short."""
    size = block_trials(n)
    for block, first in enumerate(range(0, trials, size)):
        yield block, first, min(size, trials - first)


def cut_pieces(simulator: BlockSimulator, first: int, count: int) -> Iterator[tuple[int, int]]:
    """Yield (first, count) of the pieces of a block: whole slabs where tournaments are scored, else some 20 ms."""
    size = SLAB_TRIALS
    if not simulator.scored:
        queries = sum(each.cost(simulator.n).queries for each in simulator.decoders) * len(simulator.oracles)
        size = TRIALS_PER_WORD * max(1, min(1024, QUERIES_PER_PIECE // max(1, queries * TRIALS_PER_WORD)))
        if queries > QUERIES_PER_PIECE:
            size = max(1, TRIALS_PER_WORD * QUERIES_PER_PIECE // queries)
    for start in range(first, first + count, size):
        yield start, min(size, first + count - start)


def join(total: list[BlockResult] | None, more: list[BlockResult]) -> list[BlockResult]:
    """Return both together, oracle by oracle; `total` comes first, or is None when there is nothing yet."""
    return more if total is None else [old.plus(new) for old, new in zip(total, more, strict=True)]


def run_block(simulator: BlockSimulator, first: int, count: int) -> list[BlockResult]:
    """Play a block piece by piece on this thread; the pieces are merged in order, as on any number of threads."""
    total: list[BlockResult] | None = None
    for piece in cut_pieces(simulator, first, count):
        total = join(total, simulator.run(*piece))
    assert total is not None
    return total
