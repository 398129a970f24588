"""What a plan looks at: families of decoders, each with one number that buys success."""

from __future__ import annotations

from collections.abc import Iterator

from pairsim.decoders import REGISTRY, Decoder, Family


def families(n: int, ties: str) -> Iterator[Family]:
    """Yield the families for n classes, those of each decoder in the order of `Decoder.plan_order`.

    Cheap ones come first, and poll before top-k and halving, which are only of use where they are cheaper.
    """
    for cls in sorted(REGISTRY.values(), key=lambda each: (each.plan_order, each.name)):
        yield from cls.candidates(n, ties)


def fixed(decoder: Decoder) -> Family:
    """Return the family that holds nothing but this decoder."""
    return Family(decoder.spec, lambda _: decoder, [1])
