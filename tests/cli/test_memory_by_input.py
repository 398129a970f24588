"""Files and sizes that ask for more memory than there is: one line and exit code 2, before the memory is taken."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from limited_commands import Ended, Nursery

from pairsim import Adag, Matrix, MaxWin, ParameterError, Recorded, Similarity, Uniform, sweep
from pairsim.archives import Limits, check_archive
from pairsim.number_files import read_numbers
from pairsim.store import OracleRecord, Store
from pairsim.store import arrays as store_arrays
from pairsim.store.checksums import sealed
from pairsim.store.schema import ARRAYS, ORACLES
from pairsim.sweeps.oracle_records import oracle_record, sizes_fit

GIGABYTE = 1_000_000_000
HEADER = "oracle,n,p,decoder,method,trials,success,low,high,queries,distinct,rounds,agreement\n"


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    made = Nursery()
    yield made
    made.close()


def check_refused(ended: list[Ended], commands: list[list[Any]]) -> None:
    """Each ended with one line and exit code 2, and took less than the libraries and a few hundred megabytes."""
    for each, command in zip(ended, commands, strict=True):
        lines = [line for line in each.err.splitlines() if "compiling kernels" not in line]
        said = f"{command}: {each.code}, {each.held:,} bytes, {each.err[-600:]}"
        assert each.code == 2, said
        assert len(lines) == 1, said
        assert re.search(r"must be .* Got .* instead\.$|^pairsim: \S+ is damaged: ", lines[0]), said
        assert each.held < GIGABYTE, said


def test_the_limits_of_these_tests_bite(nursery: Nursery) -> None:
    greedy = "import numpy as np; np.ones(int(words[0]), np.uint8)"
    small, large, huge = nursery.run([[1000], [1_200_000_000], [8 * GIGABYTE]], greedy)
    assert small.code == 0
    assert small.held < GIGABYTE < large.held
    assert huge.code == 1
    assert "MemoryError" in huge.err
    with pytest.raises(AssertionError):
        check_refused([large], [["taken"]])


@pytest.fixture
def odd_files(tmp_path: Path) -> dict[str, Path]:
    """What a path may name besides a file: a device without end, a pipe that nobody writes to, a directory."""
    (tmp_path / "zero").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    return {name: tmp_path / name for name in ("zero", "pipe", "folder")}


def reading_commands(path: Path) -> list[list[Any]]:
    """Return every command that reads a file, given this one, under a name that ends as it wants."""
    named = {}
    for ending in (".csv", ".json", ".parquet", ".csv.gz", ".db"):
        link = path.with_name(path.name + "-link" + ending)
        link.symlink_to(path)
        named[ending] = link
    small = ["--trials", 5, "--quiet"]
    commands = [
        ["sweep", "--matrix", path, *small],
        ["sweep", "--r", path, *small],
        ["sweep", "--oracle", f"recorded:{path}", "--quiet"],
        ["sweep", "--p", "0.7", "--n", 4, "--decoder", f"radag:errors={path}", *small],
        ["sweep", "--p", "0.7", "--n", 4, "--decoder", f"learned:answers={path}", *small],
        ["exact", "--matrix", path],
        ["fit-oracle", path],
        ["record", "--data", named[".csv"], "--estimator", "linear-svc", "--out", path.with_name("new.npz")],
        ["record", "--data", named[".csv.gz"], "--estimator", "linear-svc", "--out", path.with_name("new.npz")],
        ["record", "--data", "iris", "--libsvm", path, "--out", path.with_name("new.npz")],
        ["record", "--data", "iris", "--skops", path, "--out", path.with_name("new.npz")],
    ]
    commands += [["show", named[ending]] for ending in (".csv", ".json", ".parquet", ".db")]
    commands += [["plot", named[".csv"], "--out", path.with_name("new.svg")]]
    commands += [["compare", named[".json"], "max-win", "ddag"]]
    commands += [["replay", named[".db"], "--task", "abcd", "--trial", 0], ["verify", named[".db"]]]
    return [*commands, ["merge", named[".db"], "--out", path.with_name("new.db")]]


@pytest.mark.parametrize("kind", ["zero", "pipe", "folder"])
def test_only_regular_files_are_read(nursery: Nursery, kind: str, odd_files: dict[str, Path]) -> None:
    commands = reading_commands(odd_files[kind])
    check_refused(nursery.run(commands), commands)


def test_sizes_that_cannot_be_are_refused(nursery: Nursery) -> None:
    decoders = [
        "max-win",
        "quick",
        "champion",
        "poll:l=5log",
        "top-k:k=5,l=3",
        "halving:l=2log",
        "radag",
    ]
    commands: list[list[Any]] = [
        ["sweep", "--p", "0.7", "--n", 10**9, "--decoder", each, "--trials", 1, "--quiet"] for each in decoders
    ]
    simulated = ["--decoder", "adag", "--method", "simulated", "--trials", 1, "--quiet"]
    commands += [["sweep", "--p", "0.7", "--n", 10**9, *simulated]]
    for oracle in (["--r", "zipf:1"], ["--r", "geometric:0.9"], ["--r", "uniform-rest:0.3"]):
        commands += [[name, *oracle, "--n", 10**9] for name in ("sweep", "exact", "bound")]
    commands += [["plan", "--n", 10**8, "--p", "0.7", "--target", "0.9"]]
    commands += [["plan", "--n", 10**9, "--r", "zipf:1", "--target", "0.9"]]
    commands += [["sweep", "--oracle", "ranked", "--p", "0.7", "--n", 10**9, "--decoder", "adag"]]
    commands += [["sweep", "--p", "0.7", "--n", 16, "--decoder", "poll:l=1000000000", "--method", "conditional"]]
    commands += [["sweep", "--p", "0.7", "--n", 1000, "--decoder", "poll:l=1000000"]]
    commands += [["sweep", "--p", "0.7", "--n", ",".join(map(str, range(2, 20_000))), "--dry-run"]]
    commands += [["sweep", "--p", "0..0.99:0.0001", "--n", "2..9001:1", "--dry-run"]]
    check_refused(nursery.run(commands), commands)


def test_sizes_that_can_be_are_not_refused(nursery: Nursery) -> None:
    commands = [
        ["exact", "--p", "0.9", "--n", 10**9, "--decoder", "adag"],
        ["sweep", "--p", "0.7", "--n", 10**9, "--decoder", "adag", "--quiet"],
        ["sweep", "--r", "zipf:1", "--n", 10**6, "--dry-run", "--decoder", "adag"],
    ]
    for each in nursery.run(commands):
        assert each.code == 0, each.err


def test_huge_sessions_are_refused(nursery: Nursery) -> None:
    python = """
from pairsim import *
import pairsim
decoder = pairsim.decoder(words[0])
for call in (lambda: pick(lambda i, j: True, 10**9, decoder), lambda: Session(10**9, decoder)):
    try:
        call()
    except ParameterError as error:
        assert "\\n" not in str(error) and "'n' parameter" in str(error), error
    else:
        raise SystemExit(3)
"""
    decoders = ["adag", "max-win", "poll:l=3", "quick", "champion", "halving", "radag", "ddag", "top-k"]
    decoders += ["posterior"]
    for decoder, each in zip(decoders, nursery.run([[name] for name in decoders], python), strict=True):
        assert (each.code, each.err) == (0, ""), decoder
        assert each.held < GIGABYTE, decoder


def test_matrices_of_too_many_classes_are_refused(nursery: Nursery) -> None:
    python = """
from pairsim import ParameterError, Ranked, Similarity, Uniform
n = int(words[0])
for oracle in (Uniform(n, 0.9), Ranked(n, 0.9), Similarity.profile("zipf:1", n)):
    try:
        assert oracle.matrix().shape == (n, n)
    except ParameterError as error:
        assert "\\n" not in str(error) and f"'n' parameter of {type(oracle).__name__}" in str(error), error
        raised = True
    else:
        raised = False
    assert raised == (n > 10)
"""
    for each in nursery.run([[10], [10**6]], python):
        assert (each.code, each.err) == (0, "")
        assert each.held < GIGABYTE


def npy(shape: str, data: bytes = b"", descr: str = "<f8") -> bytes:
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


def bomb(content: dict[str, bytes | int]) -> bytes:
    """Return a zip archive; a number stands for an array that claims so many bytes, as does the directory."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in content.items():
            with archive.open(name, "w", force_zip64=True) as member:
                if isinstance(data, bytes):
                    member.write(data)
                    continue
                member.write(npy(f"({data},)", descr="|u1"))
            if isinstance(data, int):
                archive.getinfo(name).file_size += data
    return file.getvalue()


def array(values: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, np.asarray(values))
    return file.getvalue()


def test_archives_that_are_larger_inside_than_outside_are_refused(nursery: Nursery, tmp_path: Path) -> None:
    parts = {"format.npy": array("pairsim recorded answers 1"), "n.npy": array(4), "truth.npy": array([0, 1])}
    recorded = {
        "lying": bomb({**parts, "bits.npy": npy("(1000000000000, 1)", b"\0\0", "|u1")}),
        "large": bomb({**parts, "bits.npy": 3 << 29}),
        "large rows": bomb({**parts, "bits.npy": npy(f"({3 << 29}, 1)", bytes(100), "|u1")}),
        "large format": bomb({**parts, "format.npy": 1 << 28, "bits.npy": array(np.zeros((2, 1), np.uint8))}),
        "many": bomb({f"{number}.npy": b"" for number in range(5000)}),
    }
    schema = json.dumps({"__class__": "SVC", "__module__": "sklearn.svm._classes", "__loader__": "ObjectNode"}).encode()
    skops = {
        "lying": bomb({"schema.json": schema, "a.npy": npy("(1000000000000,)", bytes(24))}),
        "large": bomb({"schema.json": schema, "a.npy": 1 << 29, "b.npy": 1 << 30, "c.npy": 1 << 30}),
        "deep": bomb({"schema.json": b"[" * 100_000}),
        "long": bomb({"schema.json": b" " * (1 << 27)}),
        "nested": bomb({"schema.json": schema, "a.npz": bomb({"a.npy": npy("(1000000000000,)", bytes(24))})}),
    }
    commands: list[list[Any]] = []
    for name, content in recorded.items():
        (tmp_path / f"{name}.npz").write_bytes(content)
        commands.append(["sweep", "--oracle", f"recorded:{tmp_path / name}.npz", "--quiet"])
    for name, content in skops.items():
        (tmp_path / f"{name}.skops").write_bytes(content)
        commands.append(
            ["record", "--data", "iris", "--skops", tmp_path / f"{name}.skops", "--out", tmp_path / "new.npz"]
        )
    (tmp_path / "lying.npy").write_bytes(npy("(1000000000, 1000000000)", bytes(24)))
    (tmp_path / "wide.txt").write_bytes(b"0.5," * (1 << 24))
    commands += [["sweep", "--matrix", tmp_path / "lying.npy"], ["sweep", "--r", tmp_path / "lying.npy"]]
    commands += [["sweep", "--matrix", tmp_path / "wide.txt"]]
    check_refused(nursery.run(commands), commands)


def test_tables_that_no_sweep_wrote_are_refused_unread(nursery: Nursery, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    names = [f"c{number}" for number in range(100_000)]
    row = HEADER.strip().split(",")
    tables = {
        "wide.csv": (",".join(names) + "\n" + ",".join("1" * len(names)) + "\n").encode(),
        "same.csv": (",".join(["n"] * 100_000) + "\n").encode(),
        "long.csv": (HEADER + "x" * 3_000_000).encode(),
        "wide.json": json.dumps([dict.fromkeys(names, 1)]).encode(),
        "rows.json": json.dumps([{f"a{number}": number} for number in range(20_000)]).encode(),
        "brackets.json": b"[" + b"[]," * 5_000_000 + b"[]]",
        "deep.json": b"[" * 200_000 + b"]" * 200_000,
    }
    for name, content in tables.items():
        (tmp_path / name).write_bytes(content)
    parquet.write_table(pyarrow.table({name: [1] for name in names[:3000]}), tmp_path / "wide.parquet")
    repeated = pyarrow.DictionaryArray.from_arrays(np.zeros(30_000, np.int32), ["x" * 100_000])
    parquet.write_table(pyarrow.table(dict.fromkeys(row, repeated)), tmp_path / "repeated.parquet")
    zeros = gzip.compress(bytes(1 << 24)) * 96  # parts of a gzip file, one after the other, are one file
    (tmp_path / "bomb.csv.gz").write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 1000) + zeros)
    commands: list[list[Any]] = []
    for name in [*tables, "wide.parquet", "repeated.parquet"]:
        commands += [["show", tmp_path / name], ["compare", tmp_path / name, "max-win", "ddag"]]
    check_refused(nursery.run(commands), commands)
    data = [["record", "--data", tmp_path / "bomb.csv.gz", "--estimator", "linear-svc", "--out", tmp_path / "new.npz"]]
    data += [["record", "--data", tmp_path / "wide.csv", "--estimator", "linear-svc", "--out", tmp_path / "new.npz"]]
    ended = nursery.run(data)
    assert [each.code for each in ended] == [2, 2]
    assert ended[0].held < 3 * GIGABYTE  # a data set may be a gigabyte, and that is where inflating it ends
    assert ended[1].held < GIGABYTE


def claiming(shape: tuple[int, ...], dtype: type) -> bytes:
    """Return a packed array of zeros that takes as little as it can, made without ever being whole."""
    packer = zlib.compressobj(1)
    start = io.BytesIO()
    np.lib.format.write_array_header_1_0(start, {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": shape})
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    parts = [packer.compress(start.getvalue())]
    parts += [packer.compress(bytes(1 << 22)) for _ in range(size >> 22)]
    return b"".join([*parts, packer.compress(bytes(size & ((1 << 22) - 1))), packer.flush()])


def forge(path: Path, oracle: Any, arrays: dict[str, bytes]) -> Path:
    """Make a store whose oracle has other arrays than its sweep gave it, all checksums being right."""
    sweep([oracle], [MaxWin(), Adag()], trials=5, store=path, method="simulated")
    digest = oracle_record(oracle).digest
    with Store.create_or_open(path) as opened, opened.writing("forge") as transaction:
        stored = transaction.find(ORACLES, digest)
        assert stored is not None
        for name, data in arrays.items():
            row = sealed(ARRAYS, (digest, name, data))
            transaction.put(ARRAYS, row, transaction.find(ARRAYS, digest, name))
    return path


def test_a_forged_store_takes_no_memory(nursery: Nursery, tmp_path: Path) -> None:
    huge = claiming((1 << 26,), np.float64)  # half a gigabyte
    rows = claiming((1 << 26, 8), np.uint8)
    recorded, matrix = Recorded.of(Uniform(4, 0.7), 50), Matrix([[0.5, 0.9], [0.1, 0.5]])
    stores = [
        forge(tmp_path / "r.db", Similarity([0.5, 0.3, 0.2]), {"r": huge}),
        forge(tmp_path / "matrix.db", matrix, {"upper": huge}),
        forge(tmp_path / "bits.db", recorded, {"bits": rows}),
        forge(tmp_path / "truth.db", recorded, {"truth": claiming((1 << 26,), np.int64)}),
        forge(tmp_path / "both.db", recorded, {"bits": rows, "truth": claiming((1 << 26,), np.int64)}),
        forge(tmp_path / "many.db", recorded, {f"a{number}": huge for number in range(10)}),
        forge(tmp_path / "more.db", Uniform(4, 0.7), {"a": huge}),
    ]
    assert max(path.stat().st_size for path in stores) < 50_000_000
    commands: list[list[Any]] = []
    for path in stores:
        commands += [["show", path], ["export", path, "--out", path.with_suffix(".csv")], ["verify", path]]
    check_refused(nursery.run(commands), commands)


def test_sizes_follow_from_the_oracle() -> None:
    for oracle in (Uniform(4, 0.7), Similarity([0.5, 0.3, 0.2]), Matrix([[0.5, 0.9], [0.1, 0.5]])):
        record = oracle_record(oracle)
        shapes = {name: (each.shape, each.dtype) for name, each in record.arrays.items()}
        assert sizes_fit(record.name, record.params, shapes)
        assert not sizes_fit(record.name, record.params, shapes | {"more": ((1,), np.dtype(float))})
        for name, (shape, dtype) in shapes.items():
            assert not sizes_fit(record.name, record.params, shapes | {name: ((*shape, 1), dtype)})
            assert not sizes_fit(record.name, record.params, shapes | {name: (shape, np.dtype("f4"))})
    for params in ('{"n": 1e999}', "[]", "{}", '{"n": null}', "[" * 100_000):
        assert not sizes_fit("similarity", params, {"r": ((3,), np.dtype(float))})


def test_a_store_takes_no_more_arrays_than_it_can_be_opened_with(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("pairsim.store.transaction.ARRAYS_LIMIT", 100)
    with Store.create_or_open(tmp_path / "a.db") as opened:
        opened.add_oracles([OracleRecord("one", "x", "{}", {"a": np.zeros(8)})])
        with pytest.raises(ParameterError, match=r"at most 100 bytes in all.* Got 128 bytes instead"):
            opened.add_oracles([OracleRecord("two", "x", "{}", {"a": np.zeros(8)})])
        assert opened.oracles() == ["one"]
    assert store_arrays.claimed_bytes(store_arrays.packed(np.zeros((3, 4)))) == 96


def test_numbers_are_read_as_before(tmp_path: Path) -> None:
    table = np.random.default_rng(0).random((7, 7))
    for name, content in {
        "a.csv": "\n".join(",".join(map(repr, row)) for row in table.tolist()),
        "b.csv": "\r\n".join(", ".join(map(repr, row)) for row in table.tolist()) + "\r\n\r\n",
    }.items():
        (tmp_path / name).write_text(content, newline="")
        assert (read_numbers("test", "x", tmp_path / name) == table).all()
    np.save(tmp_path / "a.npy", np.asfortranarray(table))
    assert (read_numbers("test", "x", tmp_path / "a.npy") == table).all()
    with pytest.raises(ParameterError, match=r"at most 48 numbers"):
        read_numbers("test", "x", tmp_path / "a.npy", most=48)
    with pytest.raises(ParameterError, match=r"at most 48 numbers"):
        read_numbers("test", "x", tmp_path / "a.csv", most=48)
    with pytest.raises(ParameterError, match=r"of at most 32 bytes\. Got .* with \d+ bytes instead"):
        read_numbers("test", "x", tmp_path / "a.csv", most=1)


def test_good_archives_pass() -> None:
    inner = bomb({"data.npy": array(np.zeros(10))})
    good = bomb({"schema.json": b"{}", "a.npy": array(np.arange(1000.0)), "b.npz": inner})
    limits = Limits(members=10, total=1 << 20, text=1000)
    assert check_archive(io.BytesIO(good), limits) > 8000
    for tight in (limits._replace(members=2), limits._replace(total=8000), limits._replace(text=1)):
        with pytest.raises(ValueError, match=r"too many|more than|too long"):
            check_archive(io.BytesIO(good), tight)
