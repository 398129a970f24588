"""`pairsim decoders` and `pairsim oracles`: what is available, one line each."""

from __future__ import annotations

from pairsim.cli.console import say_entries


def decoders_command() -> None:
    """List the decoders with their cost.

    Each spec shows its defaults; the cost is queries and rounds at n = 512.

    Example: pairsim decoders
    """
    from pairsim.decoders import REGISTRY

    entries = []
    for cls in REGISTRY.values():
        example = cls()
        cost = example.cost(512)
        bound = "at most " if cls.adaptive else ""
        shown = f"{bound}{cost.queries:,} queries, {cost.rounds:,} round{'s' if cost.rounds > 1 else ''}"
        entries.append((example.spec, f"{cls.summary} (n = 512: {shown})"))
    say_entries(entries)


def oracles_command() -> None:
    """List the oracles and the named similarity profiles.

    Example: pairsim oracles
    """
    from pairsim.oracles import PROFILES, REGISTRY

    profiles = [
        (f"  --r {name}:NUMBER", f"{each.summary}; NUMBER is {each.must_be}") for name, each in PROFILES.items()
    ]
    say_entries([(cls.name, cls.summary) for cls in REGISTRY.values()] + profiles)
