"""Oracles as plain data: for the store, for other processes, and for the hash that names a task."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

import numpy as np

from pairsim.decoders import SupersededError
from pairsim.errors import parameter_error
from pairsim.oracles import REGISTRY, Oracle
from pairsim.oracles.base import Arrays, Shapes
from pairsim.oracles.not_loaded import NotLoaded
from pairsim.specs import find_class, names_user_class
from pairsim.store import OracleRecord

MOST_UNKNOWN_BYTES = 1 << 26  # of the arrays of an oracle whose class is not loaded, and cannot say what fits


def sizes_fit(name: str, params: str, shapes: Shapes) -> bool:
    """Say whether arrays of these shapes and dtypes are what such an oracle has; asked before they are made.

    Examples
    --------
    >>> sizes_fit("similarity", '{"n": 3}', {"r": ((3,), np.dtype(float))})
    True
    >>> sizes_fit("similarity", '{"n": 3}', {"r": ((100_000_000,), np.dtype(float))})
    False
    """
    try:
        n = int(json.loads(params)["n"])
        cls = _class_of(name)
        if cls is None:
            return names_user_class(name) and _bytes_of(shapes) <= MOST_UNKNOWN_BYTES
        return cls.arrays_fit(n, shapes)
    except (LookupError, TypeError, ValueError, OverflowError, RecursionError):
        return False


def _bytes_of(shapes: Shapes) -> int:
    return sum(math.prod(shape) * dtype.itemsize for shape, dtype in shapes.values())


def _class_of(name: str) -> type[Oracle] | None:
    """Return the class that a stored name stands for; None where it is not registered, and not loaded."""
    return REGISTRY.get(name) or find_class(Oracle, name)  # type: ignore[type-abstract]


def oracle_record(oracle: Oracle) -> OracleRecord:
    """Return the oracle as plain data; the digest covers all that its answers depend on, and no label."""
    params, arrays = oracle.to_plain()
    name = oracle.stored_name()
    if names_user_class(name):  # with what a table needs, so that it can be shown where the class is not loaded
        params = {"n": oracle.n, "p": oracle.p, "rows": oracle.rows, "code": oracle.code(), "settings": params}
    text = json.dumps(params, sort_keys=True)
    return OracleRecord(_digest(name, text, arrays), name, text, arrays)


def _digest(name: str, text: str, arrays: Arrays) -> str:
    digest = hashlib.blake2b(f"{name} {text}".encode(), digest_size=16)
    for key, array in sorted(arrays.items()):
        digest.update(f" {key} {array.dtype.str} {array.shape} ".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def oracle_of(record: OracleRecord) -> Oracle:
    """Return the oracle that `oracle_record` made plain; reject a record that is not of one.

    Raises
    ------
    SupersededError
        When the code of a user's oracle has changed since.
    """
    wrong = parameter_error("store", "oracle", "a description that this version of pairsim can read", repr(record.name))
    try:
        params: dict[str, Any] = json.loads(record.params)
        cls = _class_of(record.name)
        if cls is None and names_user_class(record.name):
            if _digest(*record[1:]) != record.digest:
                raise ValueError
            return NotLoaded(record.name, record.digest, params)
        if cls is None:
            raise LookupError
        if names_user_class(record.name):
            if params["code"] != cls.code():
                must_be = "computed by the code that is loaded now (run it again)"
                raise SupersededError(str(parameter_error("store", "task", must_be, f"{record.name}, by other code,")))
            params = params["settings"]
        oracle = cls.from_plain(params, record.arrays)
    except SupersededError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, MemoryError, RecursionError):
        raise wrong from None
    if oracle_record(oracle)[:3] != record[:3]:
        raise wrong
    return oracle
