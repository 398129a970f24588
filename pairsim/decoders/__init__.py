"""The decoders, one file each, and the registry that the command line, the laws and the sweeps read."""

from __future__ import annotations

import dataclasses
import functools
import json
import typing
from collections.abc import Mapping
from typing import Any

from pairsim.decoders.adag import Adag
from pairsim.decoders.base import Cost, Decoder, Family, SupersededError
from pairsim.decoders.champion import Champion
from pairsim.decoders.ddag import Ddag
from pairsim.decoders.halving import Halving
from pairsim.decoders.learned import Learned
from pairsim.decoders.max_win import MaxWin
from pairsim.decoders.not_loaded import NotLoaded
from pairsim.decoders.poll import Poll
from pairsim.decoders.posterior import Posterior
from pairsim.decoders.quick import Quick
from pairsim.decoders.radag import Radag
from pairsim.decoders.top_k import TopK
from pairsim.errors import parameter_error
from pairsim.registries import classes_in
from pairsim.specs import find_class, names_user_class, not_loaded, read_pairs, read_value, split_spec

LISTED = (
    "max-win",
    "quick",
    "champion",
    "posterior",
    "poll",
    "top-k",
    "halving",
    "adag",
    "radag",
    "ddag",
    "learned",
)  # then others by name
REGISTRY: dict[str, type[Decoder]] = classes_in(__name__, list(__path__), Decoder, LISTED)  # type: ignore[type-abstract]

PAPER_SPECS = ("max-win", "poll:l=log", "poll:l=3log", "poll:l=5log", "adag", "ddag")

globals().update({cls.__name__: cls for cls in REGISTRY.values()})

__all__ = [
    "PAPER_SPECS",
    "REGISTRY",
    "Adag",
    "Champion",
    "Cost",
    "Ddag",
    "Decoder",
    "Family",
    "Halving",
    "Learned",
    "MaxWin",
    "Poll",
    "Posterior",
    "Quick",
    "Radag",
    "SupersededError",
    "TopK",
    "as_max_win",
    "decoder",
    "decoder_of",
    "superseded",
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
    must_be = "text such as 'max-win' or 'poll:l=5log'"
    name, tail = split_spec("decoder", spec, REGISTRY, must_be)
    cls = REGISTRY.get(name) or find_class(Decoder, name)  # type: ignore[type-abstract]
    if cls is None:
        raise not_loaded("decoder", "name", name)
    fields = {field.name: field for field in dataclasses.fields(cls) if field.init}
    kinds = _annotations_of(cls)
    values = {
        key: read_value(f"decoder {name}", key, text, kinds.get(key, Any))
        for key, text in read_pairs(f"decoder {name}", tail, fields).items()
    }
    if ties is not None and "ties" in fields:
        values.setdefault("ties", ties)
    try:
        return cls(**values)
    except TypeError:
        needed = [key for key, field in fields.items() if field.default is field.default_factory is dataclasses.MISSING]
        raise parameter_error(f"decoder {name}", "options", f"given: {', '.join(needed)}", repr(tail)) from None


@functools.lru_cache(maxsize=64)  # read in every prediction, and ten times as long as one of a row
def _annotations_of(cls: type) -> dict[str, Any]:
    """Return the types of the fields; none where they cannot be read."""
    try:
        return typing.get_type_hints(cls)
    except Exception:  # whatever an annotation of a user's raises
        return {}


def decoder_of(definition: Mapping[str, Any]) -> Decoder:
    """Return the decoder that `Decoder.definition` made plain; what a file holds is to be compared with its definition.

    Raises
    ------
    SupersededError
        When its rules have changed since.

    Examples
    --------
    >>> from pairsim.decoders import Champion, decoder_of
    >>> decoder_of(Champion("lose").definition())
    Champion(ties='lose', order='random', budget=None)
    """
    settings = dict(definition)
    name, version = settings.pop("name"), settings.pop("version", 1)
    if names_user_class(name):
        return _users_decoder(name, definition)
    found = REGISTRY[name](**settings)
    if type(version) is int and version < found.version:
        raise superseded(found)
    return found


def _users_decoder(name: str, definition: Mapping[str, Any]) -> Decoder:
    """Return a user's decoder: of its class where that is loaded, else one that can only be listed."""
    cls = find_class(Decoder, name)  # type: ignore[type-abstract]
    if cls is None:
        if not isinstance(definition["spec"], str) or set(definition) != {"name", "settings", "code", "spec"}:
            raise ValueError
        return NotLoaded(json.dumps(definition, sort_keys=True))
    found = cls(**definition["settings"])
    if found.code != definition["code"]:
        raise superseded(found)
    return found


def superseded(decoder: Decoder) -> SupersededError:
    """Return the error for a stored task that this decoder does not compute any more.

    Examples
    --------
    >>> from pairsim.decoders import Quick, superseded
    >>> print(superseded(Quick()))
    The 'task' parameter of store must be computed by the rules of this version (run it again). Got quick, by rules \
of an earlier version, instead.
    """
    must_be, got = (
        "computed by the rules of this version (run it again)",
        f"{decoder.spec}, by rules of an earlier version,",
    )
    error = SupersededError(str(parameter_error("store", "task", must_be, got)))
    error.spec = decoder.spec
    return error


def as_max_win(decoder: Decoder) -> Decoder | None:
    """Return the reference (`MaxWin`) that names the same class in every trial, or None where there is none.

    Examples
    --------
    >>> from pairsim.decoders import Champion, Poll, Quick, as_max_win
    >>> as_max_win(Champion("lose"))
    MaxWin(ties='lose')
    >>> as_max_win(Poll()), as_max_win(Quick("any"))
    (None, None)
    """
    return decoder.equivalent
