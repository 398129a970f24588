"""The store in good times: what goes in comes out, blocks meet by the prefix rule, merging obeys its laws."""

from __future__ import annotations

import math
import os
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_content import IDS, TASKS, block_of, content, longest, make_store, measured, new_store, pair_of, quick_folder

from pairsim.errors import ParameterError
from pairsim.store import (
    BlockConflict,
    BlockRecord,
    OracleRecord,
    PairRecord,
    Request,
    Run,
    Store,
    StoreError,
    TaskRecord,
    is_store,
    merge_stores,
    store,
    task_id,
)

SLOW_DISK = settings(
    derandomize=True, deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
KEYS = st.tuples(st.sampled_from(IDS[:2]), st.integers(0, 3), st.integers(1, 4))


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """These tests are about content: whether the disk has it is for others to ask."""
    with quick_folder() as folder:
        yield folder


def test_all_that_goes_in_comes_out(tmp_path: Path) -> None:
    path = make_store(tmp_path / "a.store")
    held = content(path)
    assert held == content(path, write=True)
    assert held["tasks"] == TASKS
    assert [request.task for request in held["requests"]] == [IDS[1], IDS[0]]
    assert held["count"] == len(held["all blocks"]) == 50
    assert held["blocks"][IDS[3]][7][:3] == (IDS[3], 7, 107)
    assert len(held["pairs"]) == 5
    assert [row[0] for row in held["oracles"]] == ["beef", "c0de"]
    assert os.listdir(tmp_path) == ["a.store"]


def test_numbers_keep_their_bits(tmp_path: Path) -> None:
    (odd_nan,) = struct.unpack("<d", struct.pack("<Q", 0xFFF8_0000_0000_0123))
    values = (odd_nan, math.inf, -math.inf, -0.0, 5e-324, 0.1 + 0.2)
    path = new_store(tmp_path)
    with Store.create_or_open(path) as opened:
        assert opened.record([BlockRecord(IDS[0], 0, 1, values), BlockRecord(IDS[0], 0, 1, values)]) == 1
        found = opened.blocks(IDS[0])[0].values
        assert struct.pack("<6d", *found) == struct.pack("<6d", *values)
        with pytest.raises(BlockConflict):
            opened.record([BlockRecord(IDS[0], 0, 1, (0.0, *values[1:]))])
        with pytest.raises(BlockConflict):  # 0.0 == -0.0, and yet it is another result
            opened.record([BlockRecord(IDS[0], 0, 1, (*values[:3], 0.0, *values[4:]))])
        counted = (np.int64(3), np.float32(0.5), True, 2**53)
        opened.record([BlockRecord(IDS[0], np.int64(1), np.int64(7), counted)])  # type: ignore[arg-type]
        assert opened.blocks(IDS[0])[1] == BlockRecord(IDS[0], 1, 7, (3.0, 0.5, 1.0, 2.0**53))


@SLOW_DISK
@given(st.lists(KEYS, max_size=12), st.integers(0, 12), st.randoms(use_true_random=False))
def test_the_longest_result_of_a_block_is_kept_in_any_order(tmp_path: Path, keys: Any, cut: int, shuffler: Any) -> None:
    shuffled = list(keys)
    shuffler.shuffle(shuffled)
    path, other = new_store(tmp_path, keys), new_store(tmp_path, shuffled[:cut])
    with Store.create_or_open(other) as opened:
        opened.record(
            (block_of(*key) for key in shuffled[cut:]), (pair_of(*IDS[:2], *key[1:]) for key in shuffled[cut:])
        )
        assert {(block.task, block.block): block.trials for block in opened.all_blocks()} == longest(keys)
    assert measured(path) == measured(other)


def test_record_counts_what_it_wrote_and_contradictions_undo_the_batch(tmp_path: Path) -> None:
    path = new_store(tmp_path)
    with Store.create_or_open(path) as opened:
        assert opened.record([block_of(IDS[0], 0, 5)]) == 1
        assert opened.record([block_of(IDS[0], 0, 5), block_of(IDS[0], 0, 4)]) == 0
        assert opened.record([block_of(IDS[0], 0, 6), block_of(IDS[0], 1, 6)], [pair_of(IDS[0], IDS[2], 0, 6)]) == 3
        before = measured(path)
        wrong = block_of(IDS[0], 1, 6)._replace(values=(1.0,))
        with pytest.raises(
            BlockConflict, match=f"must be in agreement with {path}, which holds other values of block 1"
        ):
            opened.record([block_of(IDS[0], 2, 6), wrong])
        with pytest.raises(BlockConflict, match=f"{IDS[0]} and task {IDS[2]}"):
            opened.record([block_of(IDS[0], 2, 6)], [PairRecord(IDS[0], IDS[2], 0, 6, ())])
    assert measured(path) == before


def test_many_results_at_once_are_those_one_by_one(tmp_path: Path) -> None:
    """More rows than one statement takes, with blocks that come again, longer and shorter, in another statement."""
    rng = np.random.default_rng(0)
    keys = [(IDS[rng.integers(3)], int(rng.integers(90)), int(rng.integers(1, 6))) for _ in range(500)]
    path, other = new_store(tmp_path, keys[:200]), new_store(tmp_path)
    with Store.create_or_open(path) as opened:
        written = opened.record((block_of(*key) for key in keys), (pair_of(*IDS[:2], *key[1:]) for key in keys))
    with Store.create_or_open(other) as opened:
        for key in keys:
            opened.record([block_of(*key)], [pair_of(*IDS[:2], *key[1:])])
    assert measured(path) == measured(other)
    assert 100 < written < 1000
    with Store.read(path) as opened:
        assert {(block.task, block.block): block.trials for block in opened.all_blocks()} == longest(keys)


def test_requests_are_replaced_and_runs_are_kept_once(tmp_path: Path) -> None:
    path = make_store(tmp_path / "a.store")
    with Store.create_or_open(path) as opened:
        opened.put_requests([Request(2, IDS[1], IDS[0], '{"trials":7}')])
        assert opened.requests() == [
            Request(1, IDS[0], IDS[1], '{"trials":100}'),
            Request(2, IDS[1], IDS[0], '{"trials":7}'),
        ]
        runs = opened.runs()
        opened.add_run(runs[0])
        assert opened.runs() == runs
        opened.add_run(runs[0]._replace(host="another"))
        assert [run.host for run in opened.runs()] == ["a machine", "another"]
        opened.add_tasks(TASKS[::-1])
        assert opened.tasks() == TASKS
    assert content(path)["requests"][1].reference == IDS[0]


RECORD = block_of(IDS[0], 0, 10)
BAD_CALLS = {
    "negative block": lambda s: s.record([RECORD._replace(block=-1)]),
    "huge block": lambda s: s.record([RECORD._replace(block=2**63)]),
    "no trials": lambda s: s.record([RECORD._replace(trials=0)]),
    "half a trial": lambda s: s.record([RECORD._replace(trials=0.5)]),
    "inexact count": lambda s: s.record([RECORD._replace(values=(2**53 + 1,))]),
    "huge count": lambda s: s.record([RECORD._replace(values=(10**400,))]),
    "text value": lambda s: s.record([RECORD._replace(values=("1",))]),
    "complex value": lambda s: s.record([RECORD._replace(values=(1j,))]),
    "no values": lambda s: s.record([RECORD._replace(values=None)]),
    "too many values": lambda s: s.record([RECORD._replace(values=(0.0,) * (2**20 + 1))]),
    "unknown task": lambda s: s.record([RECORD._replace(task="ab")]),
    "unknown first": lambda s: s.record([], [PairRecord("ab", IDS[0], 0, 1, ())]),
    "unknown second": lambda s: s.record([], [PairRecord(IDS[0], "ab", 0, 1, ())]),
    "task that is no text": lambda s: s.record([RECORD._replace(task=7)]),
    "request of unknown task": lambda s: s.put_requests([Request(0, "ab", None, "{}")]),
    "request with unknown reference": lambda s: s.put_requests([Request(0, IDS[0], "ab", "{}")]),
    "request without place": lambda s: s.put_requests([Request(-1, IDS[0], None, "{}")]),
    "settings that are no JSON": lambda s: s.put_requests([Request(0, IDS[0], None, "{")]),
    "endless JSON": lambda s: s.put_requests([Request(0, IDS[0], None, "[" * 10**6)]),
    "wrong id": lambda s: s.add_tasks([TaskRecord("ab", "{}")]),
    "definition that is no JSON": lambda s: s.add_tasks([TaskRecord(task_id("x"), "x")]),
    "text beyond UTF-8": lambda s: s.add_run(Run("\udcff", "", "", "")),
    "huge text": lambda s: s.add_run(Run("x" * (2**24 + 1), "", "", "")),
    "array of objects": lambda s: s.add_oracles([OracleRecord("ab", "x", "{}", {"a": np.array([None])})]),
    "array of text": lambda s: s.add_oracles([OracleRecord("ab", "x", "{}", {"a": np.array(["x"])})]),
}


@pytest.mark.parametrize("call", BAD_CALLS.values(), ids=list(BAD_CALLS))
def test_bad_records_are_refused_in_one_line_and_leave_no_trace(tmp_path: Path, call: Any) -> None:
    path = make_store(tmp_path / "a.store", blocks=0)
    before = path.read_bytes()
    with Store.create_or_open(path) as opened, pytest.raises(ParameterError) as refused:
        call(opened)
    assert "\n" not in str(refused.value)
    assert str(refused.value).startswith("The '")
    assert len(str(refused.value)) < 500
    assert path.read_bytes() == before
    with Store.create_or_open(path) as opened:
        assert opened.record([RECORD]) == 1  # the record that the bad ones were made from is good


def test_closed_and_read_only_stores_say_so(tmp_path: Path) -> None:
    path = new_store(tmp_path)
    with Store.read(path) as opened, pytest.raises(StoreError, match=r"read-only here .* stored before is intact"):
        opened.record([RECORD])
    for use in (opened.tasks, lambda: opened.record([]), lambda: list(opened.all_blocks())):
        with pytest.raises(StoreError, match="it was closed"):
            use()
    opened.close()


def test_is_store_looks_and_never_raises(tmp_path: Path) -> None:
    path = new_store(tmp_path, name="a ?#%41 \u00fc.store")
    assert is_store(path)
    with Store.create_or_open(path):
        assert is_store(path)
    text = tmp_path / "text.csv"
    text.write_text("a,b\n")
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    for other in (text, fifo, tmp_path, tmp_path / "none", text / "below", Path("a\0b"), Path("x" * 5000), None):
        assert not is_store(other)  # type: ignore[arg-type]


def test_links_lead_to_one_store(tmp_path: Path) -> None:
    link = tmp_path / "link.store"
    link.symlink_to(tmp_path / "a.store")
    new_store(tmp_path, [(IDS[0], 0, 1)], "link.store")
    assert link.is_symlink()
    assert measured(tmp_path / "a.store") == measured(link)
    assert merge_stores([tmp_path / "a.store"], link).files == 1


def test_threads_share_a_store(tmp_path: Path) -> None:
    path = new_store(tmp_path)
    with Store.create_or_open(path) as opened:

        def work(task: str) -> None:
            for block in range(10):
                opened.record([block_of(task, block, 5)])
                assert len(opened.blocks(task)) == block + 1

        threads = [threading.Thread(target=work, args=(task,)) for task in IDS]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert opened.count_blocks() == 40
    assert len(measured(path)[0]) == 40


def test_long_tables_are_read_in_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_store(tmp_path / "a.store")
    before = content(path)
    for page in (1, 7, 50):
        monkeypatch.setattr(store, "_PAGE", page)
        assert content(path) == before
