"""The decoders, one file each, and the registry that the command line, the laws and the sweeps read."""

from __future__ import annotations

import dataclasses

from pairsim.decoders.adag import Adag
from pairsim.decoders.base import Cost, Decoder
from pairsim.decoders.champion import Champion
from pairsim.decoders.ddag import Ddag
from pairsim.decoders.halving import Halving
from pairsim.decoders.max_win import MaxWin
from pairsim.decoders.poll import Poll
from pairsim.decoders.quick import Quick
from pairsim.decoders.radag import Radag
from pairsim.decoders.top_k import TopK
from pairsim.errors import refusal

REGISTRY: dict[str, type[Decoder]] = {
    cls.name: cls for cls in (MaxWin, Quick, Champion, Poll, TopK, Halving, Adag, Radag, Ddag)
}

PAPER_SPECS = ("max-win", "poll:l=log", "poll:l=3log", "poll:l=5log", "adag", "ddag")

__all__ = [
    "PAPER_SPECS",
    "REGISTRY",
    "Adag",
    "Champion",
    "Cost",
    "Ddag",
    "Decoder",
    "Halving",
    "MaxWin",
    "Poll",
    "Quick",
    "Radag",
    "TopK",
    "as_max_win",
    "decoder",
]


def decoder(spec: str, *, ties: str | None = None) -> Decoder:
    """Read a decoder from its spec, `name` or `name:key=value,key=value`.

    Parameters
    ----------
    spec : str
        For example "max-win", "poll:l=5log", "top-k:k=5,l=3log,final=rescore", "halving:l=2log" or "adag:order=given".
    ties : {"random", "lose", "first"}, optional
        Tie rule for a decoder that has one and whose spec does not say.

    Examples
    --------
    >>> from pairsim import decoder
    >>> decoder("poll:l=3log", ties="lose")
    Poll(l='3log', ties='lose')
    """
    name, _, tail = spec.strip().partition(":")
    if name not in REGISTRY:
        raise refusal("decoder", "name", "one of " + ", ".join(REGISTRY), repr(name))
    cls = REGISTRY[name]
    keys = {field.name for field in dataclasses.fields(cls)}
    values: dict[str, str | int] = {}
    for part in filter(None, tail.split(",")):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if key not in keys or not equals or key in values:
            must_be = "key=value, each once, with key one of " + ", ".join(sorted(keys))
            raise refusal(f"decoder {name}", "options", must_be, repr(part))
        values[key] = int(value) if key == "k" and value.isascii() and value.isdigit() else value
    if ties is not None and "ties" in keys:
        values.setdefault("ties", ties)
    return cls(**values)


def as_max_win(decoder: Decoder) -> MaxWin | None:
    """Return the `MaxWin` that names the same class in every trial, or None where there is none.

    Examples
    --------
    >>> from pairsim.decoders import Champion, Poll, Quick, as_max_win
    >>> as_max_win(Champion("lose"))
    MaxWin(ties='lose')
    >>> as_max_win(Poll()), as_max_win(Quick("any"))
    (None, None)
    """
    # by exact type: a subclass may have other rules
    if isinstance(decoder, Quick | Champion) and type(decoder) in (Quick, Champion) and decoder.ties != "any":
        return MaxWin(decoder.ties)
    return decoder if type(decoder) is MaxWin else None
