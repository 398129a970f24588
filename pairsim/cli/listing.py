"""`pairsim decoders` and `pairsim oracles`: what there is, one line each."""

from __future__ import annotations

import typer


def decoders_command() -> None:
    """List the decoders: spec with its defaults, questions and rounds at n = 512, and what it does.

    Example: pairsim decoders
    """
    from pairsim.decoders import REGISTRY

    for cls in REGISTRY.values():
        example = cls()
        cost = example.cost(512)
        bound = "at most " if cls.adaptive else ""
        price = f"{bound}{cost.queries:,} queries, {cost.rounds:,} round{'s' if cost.rounds > 1 else ''}"
        typer.echo(f"{example.spec:<32} {cls.summary} (n = 512: {price})")


def oracles_command() -> None:
    """List the oracles and the named similarity profiles.

    Example: pairsim oracles
    """
    from pairsim.oracles import PROFILES, REGISTRY

    for cls in REGISTRY.values():
        typer.echo(f"{cls.name:<32} {cls.summary}")
    for name, profile in PROFILES.items():
        typer.echo(f"  --r {name + ':NUMBER':<26} {profile.summary}; NUMBER is {profile.must_be}")
