"""Arrays and oracles in a store: back as they were, and never more than they can be."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from store_content import (
    make_store,
    quick_folder,
)

from pairsim.errors import ParameterError
from pairsim.store import (
    Store,
    store,
)
from pairsim.store.arrays import packed, unpacked


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """These tests are about content: whether the disk has it is for others to ask."""
    with quick_folder() as folder:
        yield folder


@pytest.mark.parametrize(
    "array",
    [
        np.arange(24, dtype=">i2").reshape(2, 3, 4),
        np.asfortranarray(np.random.default_rng(1).random((40, 500))),
        np.array(3.5),
        np.zeros((0, 7), dtype="u1"),
        np.zeros(3_000_000, dtype="u1"),
        np.array([True, False]),
        np.arange(100)[::7],
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)
def test_arrays_come_back_as_they_were(array: Any) -> None:
    back = unpacked(packed(array))
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    assert back.flags.writeable
    assert back.tobytes() == array.tobytes()


def _claiming(header: str, data: bytes = b"") -> bytes:
    return zlib.compress(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data)


@pytest.mark.parametrize(
    "blob",
    [
        _claiming("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}\n"),
        _claiming("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4294967296)}\n"),
        _claiming("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}\n"),
        _claiming("{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}\n", bytes(15)),
        _claiming("{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}\n", bytes(17)),
        _claiming("{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}\n", bytes(16))[:-3],
        _claiming("{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}\n", bytes(16)) + b"more",
        _claiming("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}\n", b"cos\nsystem\n."),
        _claiming("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}\n", bytes(8)),
        _claiming("{'descr': ('<f8', (2,)), 'fortran_order': False, 'shape': (1,)}\n", bytes(16)),
        _claiming("[" * 5000),
        _claiming("{'descr': '''"),
        _claiming("\x00"),
        zlib.compress(bytes(10_000_000)),
        zlib.compress(b""),
        b"",
        b"not compressed",
    ],
)
def test_arrays_that_lie_are_refused(blob: bytes) -> None:
    with pytest.raises(ValueError, match=r"array"):
        unpacked(blob)
    honest = _claiming("{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}\n", bytes(16))
    assert unpacked(honest).tolist() == [0.0, 0.0]  # so it is the lie that is rejected, not the way it is told


def test_one_digest_means_one_oracle(tmp_path: Path) -> None:
    path = make_store(tmp_path / "a.store")
    with Store.create_or_open(path) as opened:
        record = opened.oracle("c0de")
        opened.add_oracles([record])
        for other in (
            record._replace(name="other"),
            record._replace(params="{}"),
            record._replace(arrays={}),
            record._replace(arrays=record.arrays | {"more": np.zeros(1)}),
            record._replace(arrays=record.arrays | {"P": record.arrays["P"] + 1}),
        ):
            with pytest.raises(ParameterError, match=r"one and the same wherever the digest is the same\. Got c0de"):
                opened.add_oracles([other])
        repacked = zlib.compress(zlib.decompress(packed(record.arrays["P"])), 9)
        assert repacked != packed(record.arrays["P"])  # another packer's work, of the same array
        with opened.writing("test") as transaction:
            rows = [row if row[1] != "P" else (*row[:2], repacked, b"") for row in opened.rows(store.ARRAYS)]
            transaction.put_oracle(opened.rows(store.ORACLES, "WHERE digest = 'c0de'")[0], rows)
        with pytest.raises(ParameterError, match=r"must be of an oracle in .* Got 'dead' instead"):
            opened.oracle("dead")
