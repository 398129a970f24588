"""What a plan looks at: families of decoders, each with one number that buys success."""

from __future__ import annotations

from collections.abc import Iterator

from pairsim.decoders import REGISTRY, Decoder, Family
from pairsim.oracles import Oracle


def families(oracle: Oracle, ties: str) -> Iterator[Family]:
    """Yield the families for an oracle, those of each decoder in the order of `Decoder.plan_order`.

    Cheap ones come first, and poll before top-k and halving, which are only of use where they are cheaper.
    """
    p = oracle.p if oracle.uniform else None
    for cls in sorted(REGISTRY.values(), key=lambda each: (each.plan_order, each.name)):
        yield from cls.candidates(oracle.n, ties)
        if p is not None:
            yield from cls.candidates_knowing(oracle.n, ties, p)


def fixed(decoder: Decoder) -> Family:
    """Return the family that holds nothing but this decoder."""
    return Family(decoder.spec, lambda _: decoder, [1])
