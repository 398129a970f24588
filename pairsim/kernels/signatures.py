"""Signatures of kernels as text, for those whose machine code may be kept.

The cache is named by a hash of pairsim's own sources. Machine code for a type from elsewhere (a user's decoder, whose
functions are compiled into the kernel) depends on sources that are not in the hash: it is compiled in every process.
"""

from __future__ import annotations

import operator
import sys
from typing import Any

from numba.core import types

PLAIN = (types.Number, types.Boolean, types.NoneType, types.UnicodeType, types.IntegerLiteral, types.BooleanLiteral)


def describe_signature(arguments: Any) -> str | None:
    """Return the types of the arguments as text, different for different types; None when one is not pairsim's own.

    Examples
    --------
    >>> from numba import types
    >>> from pairsim.kernels.signatures import describe_signature
    >>> describe_signature((types.int64, types.UniTuple(types.float64[::1], 2)))
    'int64, builtins.tuple(array(float64, 1d, C), array(float64, 1d, C))'
    """
    described = [_describe(kind) for kind in arguments]
    return None if None in described else ", ".join(map(str, described))


def _describe(kind: Any) -> str | None:
    if isinstance(kind, types.BaseTuple):
        cls = getattr(kind, "instance_class", tuple)
        inside = describe_signature(kind)
        if inside is None or not (cls is tuple or is_ours(cls)):
            return None
        return f"{cls.__module__}.{cls.__qualname__}({inside})"
    if isinstance(kind, types.Omitted):  # left to its default
        return f"omitted({kind.value!r})" if isinstance(kind.value, bool | int | float | str | None) else None
    if isinstance(kind, types.Array):
        return str(kind) if isinstance(kind.dtype, types.Number | types.Boolean) else None
    return str(kind) if isinstance(kind, PLAIN) else None


def is_ours(value: Any) -> bool:
    """Say whether a class or function is part of pairsim: its module is, and has it under its name."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not (isinstance(module, str) and isinstance(name, str)) or module.partition(".")[0] != "pairsim":
        return False
    try:
        return operator.attrgetter(name)(sys.modules[module]) is value
    except (AttributeError, KeyError):
        return False
