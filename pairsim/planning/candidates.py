"""What a plan looks at: families of decoders, each with one number that buys success."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import NamedTuple

from pairsim.decoders import Adag, Champion, Ddag, Decoder, Halving, MaxWin, Poll, Quick, TopK

CANDIDATES = (2, 3, 5, 10, 20)
MOST_ASKED_CLASSES = 1024  # beyond it, decoders that can only be asked question by question take minutes


class Family(NamedTuple):
    """Decoders that differ in one whole number; `grid` holds the settings that are looked at first, ascending."""

    name: str
    decoder: Callable[[int], Decoder]
    grid: list[int]


def sample_sizes(n: int) -> list[int]:
    """Return sample sizes that grow by about a half, up to where a poll asks as much as max-win."""
    sizes = [1]
    while sizes[-1] * 2 < n:
        sizes.append(max(sizes[-1] + 1, sizes[-1] * 3 // 2))
    return sizes


def families(n: int, ties: str) -> Iterator[Family]:
    """Yield the families for n classes; poll before top-k and halving, which are only of use where they are cheaper."""
    yield Family("ddag", lambda _: Ddag(), [1])
    yield Family("adag", lambda _: Adag(), [1])
    yield Family("max-win", lambda _: MaxWin(ties), [1])
    if n <= MOST_ASKED_CLASSES:
        yield Family("quick", lambda _: Quick(ties), [1])
        yield Family("champion", lambda _: Champion(ties), [1])
    yield Family("poll", lambda l: Poll(l, ties), sample_sizes(n))
    for final in ("maxwin", "rescore"):
        for k in CANDIDATES:
            if k < n:
                make = functools.partial(_top_k, k=k, final=final, ties=ties)
                yield Family(f"top-k, k = {k}, {final}", make, sample_sizes(n))
    if n <= MOST_ASKED_CLASSES:
        every = MaxWin().cost(n).queries
        sizes = [l for l in sample_sizes(n) if Halving(l).cost(n).queries < every]
        yield Family("halving", lambda l: Halving(l, ties), sizes)


def fixed(decoder: Decoder) -> Family:
    """Return the family that holds nothing but this decoder."""
    return Family(decoder.spec, lambda _: decoder, [1])


def _top_k(l: int, *, k: int, final: str, ties: str) -> TopK:
    return TopK(k, l, final, ties)
