"""Good files of every kind that pairsim reads, files that mean harm, and mutations of both."""

from __future__ import annotations

import functools
import io
import random
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.main import get_command

from pairsim import Ddag, Matrix, MaxWin, Poll, Recorded, Similarity, Uniform, sweep
from pairsim.cli import main
from pairsim.sweeps.files import write_table
from pairsim.sweeps.results import read_rows

ORACLES = [Uniform(4, 0.7), Uniform(5, 0.7), Similarity([0.5, 0.3, 0.2]), Matrix(np.full((4, 4), 0.5))]
HEADER = "oracle,n,p,decoder,method,trials,success,low,high,queries,distinct,rounds,agreement\n"


@functools.cache
def _built() -> Any:
    return get_command(main.app)


@pytest.fixture
def commands_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Build the command line once: it takes longer than to reject a file."""
    monkeypatch.setattr(main, "app", _built())


class Payload:
    """What a pickle of this does when it is loaded: make a file."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.marker,)


def good_files(folder: Path) -> dict[str, bytes]:
    """Return the bytes of a file of each kind, by an ending that says which."""
    store = folder / "good.db"
    sweep(ORACLES, [MaxWin(), Poll(2), Ddag()], trials=100, store=store)
    sweep([Recorded.of(Uniform(4, 0.7), 30)], [MaxWin(), Ddag()], store=store)
    rows = read_rows(store)
    for ending in (".csv", ".json", ".parquet"):
        write_table(rows, folder / f"good{ending}")
    np.save(folder / "good-matrix.npy", np.array([[0.5, 0.7, 0.9], [0.3, 0.5, 0.6], [0.1, 0.4, 0.5]]))
    np.savetxt(folder / "good-matrix.txt", np.full((3, 3), 0.5), delimiter=",")
    np.save(folder / "good-r.npy", np.array([0.5, 0.3, 0.2]))
    np.savetxt(folder / "good-r.txt", np.array([0.5, 0.3, 0.2]))
    Recorded.of(Uniform(4, 0.7), 30).save(folder / "good.npz")
    return {path.name.removeprefix("good"): path.read_bytes() for path in sorted(folder.glob("good*"))}


def pickled_files(marker: Path) -> dict[str, bytes]:
    """Return arrays whose content is a pickle that makes the marker, for readers that would load it."""
    payload = np.empty(3, object)
    payload[:] = [Payload(marker)] * 3
    bare = io.BytesIO()
    np.save(bare, payload, allow_pickle=True)
    packed = io.BytesIO()
    np.savez(packed, allow_pickle=True, format=payload, n=payload, bits=payload, truth=payload)
    part = io.BytesIO()
    good = {"format": np.array("pairsim recorded answers 1"), "n": np.array(4), "truth": np.zeros(3, np.int64)}
    np.savez(part, allow_pickle=True, **good, bits=payload)
    arrays = {"-r.npy": bare.getvalue(), "-matrix.npy": bare.getvalue()}
    return arrays | {".npz": packed.getvalue(), "2.npz": part.getvalue()}


def harmful_files() -> dict[str, list[bytes]]:
    """Return files that are made to trip a reader: deep, huge, not finite, or something else altogether."""
    deep = b"[" * 100_000 + b"]" * 100_000
    row = '{"oracle": "u", "n": %s, "p": 0.5}'
    objects = [deep, b"[%s]" % deep, b'{"a": 1}', b"[]", b"[1]", b"null", b"NaN", b'[{"n": 1e999}]', b"\xff\xfe"]
    objects += [row.encode() % b"1", ("[" + row % "null" + "]").encode(), b'"' * 1000, b"1" * 10_000]
    shapes = ["9" * 25, "(3, -1)", "(3,)" * 3, "-" * 5000 + "1", "(" * 150 + "3" + ")" * 150, "(1000000000000,)", "(3"]
    types = ("|O", "|S5", "<c16", ">f8", "|V8", "<m8")
    arrays = [_npy(shape) for shape in shapes] + [_npy("(3,)", descr) for descr in types]
    arrays += [_npy("(0,)"), _npy("()"), _npy("(3,)", data=b"\xff" * 24), _npy("(1, 3)")]
    arrays += [b"\x93NUMPY", b"\x93NUMPY\x09\x00"]
    texts = [b"", b"\n", b"nan,nan\n", b"1e999,0\n0,1\n", b"0.5\n0.5,0.5\n", b"-1\n2\n", b"0x1p3\n", b"a,b\n"]
    return {
        ".csv": [*_tables(), b"", deep, b"\x00" * 100, HEADER.encode(), HEADER.encode() * 3, b'"' * 999],
        ".json": objects,
        "-r.npy": arrays,
        "-matrix.npy": arrays,
        "-r.txt": [*texts, b"1" * 5000],
        "-matrix.txt": [*texts, b"1" * 5000],
        ".npz": [_npz(array) for array in arrays] + [_bomb()],
    }


def _tables() -> list[bytes]:
    """Return results tables in which one cell is wrong."""
    good = ["uniform", "4", "0.7", "max-win", "simulated", "100", "0.5", "0.4", "0.6", "6", "6", "1", "1"]
    numbers = ["", "nan", "inf", "-inf", "-1", "0", "1e308", "1e400", "9" * 30]
    names = ["[/red]", "[bold]", "\\", "$\\frac{", "_", "😀", "a\0b", "\x1b[31m"]
    return [
        (HEADER + ",".join([*good[:place], wrong, *good[place + 1 :]]) + "\n").encode()
        for place in range(len(good))
        for wrong in numbers + (names if good[place].isidentifier() or "-" in good[place] else names[:1])
    ]


def _npy(shape: str, descr: str = "<f8", data: bytes = bytes(24)) -> bytes:
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


def _npz(array: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in (("format", None), ("n", np.array(4)), ("truth", np.zeros(3, np.int64)), ("bits", array)):
            if isinstance(content, bytes):
                archive.writestr(f"{name}.npy", content)
                continue
            part = io.BytesIO()
            np.save(part, np.array("pairsim recorded answers 1") if content is None else content)
            archive.writestr(f"{name}.npy", part.getvalue())
    return file.getvalue()


def _bomb() -> bytes:
    """Return a small file that says it is a large one."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("format.npy", _npy("(1000000,)", "<f8", bytes(8_000_000)))
    return file.getvalue()


def mutated(content: bytes, probability: random.Random) -> bytes:
    """Return a file with one to four changes: bits, runs of bytes, length, or the order of its parts."""
    data = bytearray(content)
    for _ in range(probability.choice((1, 1, 1, 2, 4))):
        if not data:
            break
        at = probability.randrange(len(data))
        end = min(len(data), at + probability.choice((1, 2, 4, 8, 64, 512)))
        kind = probability.randrange(8)
        if kind == 0:
            data[at] ^= 1 << probability.randrange(8)
        elif kind == 1:
            data[at:end] = probability.randbytes(end - at)
        elif kind == 2:
            del data[at:]
        elif kind == 3:
            del data[at:end]
        elif kind == 4:
            data[at:at] = data[at:end]
        elif kind == 5:
            data[at:end] = bytes(end - at)
        elif kind == 6:
            data[at:end] = probability.choice((b"nan", b"inf", b"-1", b"9" * 20, b"[/x]", b"\xff" * 8, b",", b"\n"))
        else:
            data += probability.randbytes(probability.choice((1, 100, 4096)))
    return bytes(data)
