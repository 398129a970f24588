"""The decoders, one file each, and the registry that the command line, the laws and the sweeps read."""

from __future__ import annotations

import dataclasses

from pairsim.decoders.adag import Adag
from pairsim.decoders.base import Cost, Decoder
from pairsim.decoders.ddag import Ddag
from pairsim.decoders.max_win import MaxWin
from pairsim.decoders.poll import Poll
from pairsim.decoders.top_k import TopK
from pairsim.errors import refusal

REGISTRY: dict[str, type[Decoder]] = {cls.name: cls for cls in (MaxWin, Poll, TopK, Adag, Ddag)}

PAPER_SPECS = ("max-win", "poll:l=log", "poll:l=3log", "poll:l=5log", "adag", "ddag")

__all__ = ["PAPER_SPECS", "REGISTRY", "Adag", "Cost", "Ddag", "Decoder", "MaxWin", "Poll", "TopK", "decoder"]


def decoder(spec: str, *, ties: str | None = None) -> Decoder:
    """Read a decoder from its spec, `name` or `name:key=value,key=value`.

    Parameters
    ----------
    spec : str
        For example "max-win", "poll:l=5log", "top-k:k=5,l=3log,final=rescore" or "adag:order=given".
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
