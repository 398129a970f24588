"""In a worker that others share: the contexts of the runs it helps with, each read once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

from pairsim.engines.base import Work
from pairsim.engines.packing import Reply, in_words, pack, perform_packed, unpack
from pairsim.errors import parameter_error

KEPT = 4
"""How many runs one worker serves by turns without reading a context again."""

_kept: OrderedDict[str, tuple[Work, Any]] = OrderedDict()
_one_reader = threading.Lock()  # workers may have several threads


def pack_context(owner: str, work: Work, context: Any) -> bytes:
    """Pack the work and its context, or reject in the name of the engine.

    Examples
    --------
    >>> pack_context("ProcessEngine", lambda context, unit: unit, None)
    Traceback (most recent call last):
        ...
    pairsim.errors.ParameterError: The 'context' parameter of ProcessEngine must be made of ...
    """
    try:
        return pack((work, context))
    except Exception as caught:
        must_be = "made of things that can be sent to another process, with a module's function to work on it"
        raise parameter_error(owner, "context", must_be, in_words(caught)) from caught


def recall(key: str, packed: bytes | None) -> tuple[Work, Any] | None:
    """Return the work and context of a run, read from `packed` the first time; None when there is no way to know."""
    with _one_reader:
        if key in _kept:
            _kept.move_to_end(key)
        elif packed is None:
            return None
        else:
            _kept[key] = unpack(packed)
            while len(_kept) > KEPT:
                _kept.popitem(last=False)
        return _kept[key]


def perform_recalled(key: str, packed_context: bytes | None, packed_unit: bytes) -> Reply | str | None:
    """Run a unit where the context may not have arrived yet.

    None asks for the same call with the context; a string says why the context cannot be read.
    """
    try:
        known = recall(key, packed_context)
    except BaseException as caught:
        return in_words(caught)
    return None if known is None else perform_packed(*known, packed_unit)
