"""Oracles as plain data: for the store, for other processes, and for the hash that names a task."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsim.errors import ParameterError, refusal
from pairsim.oracles import Matrix, Oracle, Ranked, Recorded, Similarity, Uniform
from pairsim.store import OracleRecord

Arrays = dict[str, NDArray[Any]]


def _of_uniform(oracle: Uniform) -> tuple[dict[str, Any], Arrays]:
    return {"n": oracle.n, "p": oracle.p}, {}


def _of_similarity(oracle: Similarity) -> tuple[dict[str, Any], Arrays]:
    return {"n": oracle.n}, {"r": oracle.r}


def _of_matrix(oracle: Matrix) -> tuple[dict[str, Any], Arrays]:
    return {"n": oracle.n}, {"upper": oracle.chances[np.triu_indices(oracle.n, 1)]}


def _of_ranked(oracle: Ranked) -> tuple[dict[str, Any], Arrays]:
    return {"n": oracle.n, "p": oracle.p, "order": oracle.order, "difficulty": oracle.difficulty}, {}


def _of_recorded(oracle: Recorded) -> tuple[dict[str, Any], Arrays]:
    return {"n": oracle.n}, {"bits": oracle.bits, "truth": oracle.truth(0, oracle.rows)}


def _to_matrix(params: dict[str, Any], arrays: Arrays) -> Matrix:
    n = int(params["n"])
    if arrays["upper"].shape != (n * (n - 1) // 2,):  # before n decides how much memory is taken
        raise ValueError
    upper = np.full((n, n), 0.5)
    upper[np.triu_indices(n, 1)] = arrays["upper"]
    return Matrix(np.where(np.tri(n, k=-1, dtype=bool), 1.0 - upper.T, upper))


def _to_recorded(params: dict[str, Any], arrays: Arrays) -> Recorded:
    pairs = int(params["n"]) * (int(params["n"]) - 1) // 2
    if arrays["bits"].ndim != 2 or arrays["bits"].shape[1] != (pairs + 7) // 8:
        raise ValueError
    answers = np.unpackbits(arrays["bits"], axis=1, count=pairs, bitorder="little")
    return Recorded(answers.astype(np.bool_), arrays["truth"])


TO_RECORD: dict[str, Callable[[Any], tuple[dict[str, Any], Arrays]]] = {
    Uniform.name: _of_uniform,
    Similarity.name: _of_similarity,
    Matrix.name: _of_matrix,
    Ranked.name: _of_ranked,
    Recorded.name: _of_recorded,
}
FROM_RECORD: dict[str, Callable[[dict[str, Any], Arrays], Oracle]] = {
    Uniform.name: lambda params, arrays: Uniform(params["n"], params["p"]),
    Similarity.name: lambda params, arrays: Similarity(arrays["r"]),
    Matrix.name: _to_matrix,
    Ranked.name: lambda params, arrays: Ranked(params["n"], params["p"], params["order"], params["difficulty"]),
    Recorded.name: _to_recorded,
}


def oracle_record(oracle: Oracle) -> OracleRecord:
    """Return the oracle as plain data; the digest covers all that its answers depend on, and no label."""
    params, arrays = TO_RECORD[oracle.name](oracle)
    text = json.dumps(params, sort_keys=True)
    digest = hashlib.blake2b(f"{oracle.name} {text}".encode(), digest_size=16)
    for name, array in sorted(arrays.items()):
        digest.update(f" {name} {array.dtype.str} {array.shape} ".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return OracleRecord(digest.hexdigest(), oracle.name, text, arrays)


def oracle_of(record: OracleRecord) -> Oracle:
    """Return the oracle that `oracle_record` made plain; refuse a record that is not of one."""
    wrong = refusal("store", "oracle", "a description that this version of pairsim can read", repr(record.name))
    try:
        oracle = FROM_RECORD[record.name](json.loads(record.params), record.arrays)
    except (ParameterError, LookupError, TypeError, ValueError, AttributeError, OverflowError, MemoryError):
        raise wrong from None
    if oracle_record(oracle)[:3] != record[:3]:
        raise wrong
    return oracle
