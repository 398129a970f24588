"""Merging stores: the laws that it obeys, what becomes of the rest, and what it rejects."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_content import (
    IDS,
    TASKS,
    content,
    fresh_numbers,
    longest,
    make_store,
    measured,
    new_store,
    quick_folder,
)

from pairsim.errors import ParameterError
from pairsim.store import (
    BlockConflict,
    BlockRecord,
    MergeReport,
    OracleRecord,
    Request,
    Run,
    Store,
    merge_stores,
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


def merged(tmp_path: Path, *paths: Path) -> Path:
    out = tmp_path / f"{next(fresh_numbers)}.merged"
    merge_stores(paths, out)
    return out


FILES = st.lists(st.lists(KEYS, max_size=6), min_size=3, max_size=3)


@SLOW_DISK
@given(FILES)
def test_merging_is_commutative_associative_and_idempotent(tmp_path: Path, files: Any) -> None:
    a, b, c = (new_store(tmp_path, keys) for keys in files)
    expected = measured(new_store(tmp_path, [key for keys in files for key in keys]))
    for order in itertools.permutations((a, b, c)):
        assert measured(merged(tmp_path, *order)) == expected
    assert measured(merged(tmp_path, merged(tmp_path, a, b), c)) == expected
    assert measured(merged(tmp_path, a, merged(tmp_path, b, c))) == expected
    assert measured(merged(tmp_path, a, a)) == measured(merged(tmp_path, a)) == measured(a)
    # into a store that is there, which may be named as an input too
    report = merge_stores([b, c, a], a)
    assert measured(a) == expected
    held = [set(longest(keys)) for keys in files]
    repeated = {key for one, other in itertools.combinations(held, 2) for key in one & other}
    assert report == MergeReport(3, len(expected[0]), len(repeated), len(TASKS))


def test_merging_a_store_with_itself_changes_not_one_byte(tmp_path: Path) -> None:
    path = make_store(tmp_path / "a.store")
    before = content(path)
    data = path.read_bytes()
    assert merge_stores([path, path], path) == MergeReport(1, 50, 0, 4)
    assert path.read_bytes() == data
    out = merged(tmp_path, path)
    assert content(out) == before
    assert sorted(os.listdir(tmp_path)) == sorted([path.name, out.name])


def test_merging_unites_requests_runs_tasks_and_oracles(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    oracle = OracleRecord("c0de", "matrix", "{}", {"P": np.eye(2)})
    with Store.create_or_open(a) as opened:
        opened.add_tasks([TASKS[2], TASKS[0]])
        opened.add_oracles([oracle])
        opened.put_requests([Request(5, IDS[2], None, '{"trials":10,"from":"a"}'), Request(6, IDS[0], None, '"a"')])
        opened.add_run(Run("1", "a", "", ""))
        opened.add_run(Run("2", "both", "", ""))
    with Store.create_or_open(b) as opened:
        opened.add_tasks([TASKS[1], TASKS[0], TASKS[2]])
        opened.add_oracles([oracle, OracleRecord("beef", "uniform", "{}", {})])
        longer = '{"from":"b","trials":11}'
        opened.put_requests([Request(7, IDS[2], IDS[1], longer), Request(3, IDS[0], None, '{"trials":9}')])
        opened.add_run(Run("2", "both", "", ""))
    held = content(merged(tmp_path, a, b))
    assert held["tasks"] == [TASKS[2], TASKS[0], TASKS[1]]
    assert held["requests"] == [Request(3, IDS[0], None, '"a"'), Request(5, IDS[2], IDS[1], longer)]
    assert [run.command for run in held["runs"]] == ["a", "both"]
    assert [row[0] for row in held["oracles"]] == ["beef", "c0de"]
    back = content(merged(tmp_path, b, a))
    assert back["requests"] == [Request(3, IDS[0], None, '{"trials":9}'), Request(5, IDS[2], IDS[1], longer)]
    with Store.create_or_open(b) as opened:
        opened.put_requests([Request(7, IDS[2], None, '{"trials":true}')])
    assert content(merged(tmp_path, b, a))["requests"][1].settings == '{"trials":true}'


@pytest.mark.parametrize("out", ["new", "old"])
def test_a_contradiction_names_block_and_both_files_and_leaves_all_as_it_was(tmp_path: Path, out: str) -> None:
    paths = [new_store(tmp_path, [(IDS[0], 0, 5)], name) for name in ("a", "b", "c", "old")]
    for path, values in zip(paths[1:3], [(1.0,), (2.0,)], strict=True):
        with Store.create_or_open(path) as opened:
            opened.record([BlockRecord(IDS[1], 3, 8, values)])
    before = {path: path.read_bytes() for path in paths}
    with pytest.raises(BlockConflict) as refused:
        merge_stores(paths[:3], tmp_path / out)
    assert str(refused.value) == (
        f"The 'paths' parameter of merge_stores must be in agreement with {paths[1]}, which holds other values of "
        f"block 3 of task {IDS[1]} (8 trials). Got {paths[2]} instead."
    )
    assert {path: path.read_bytes() for path in paths} == before
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "c", "old"]


def test_merging_refuses_what_it_cannot_use(tmp_path: Path) -> None:
    path = new_store(tmp_path)
    text = tmp_path / "text"
    text.write_text("no store")
    for paths, out in (
        ([], path),
        ([path], text),
        ([text], tmp_path / "out"),
        ([path, tmp_path / "none"], tmp_path / "out"),
        ([path], tmp_path / "none" / "out"),
        ([path], tmp_path),
    ):
        with pytest.raises(ParameterError, match=r"^The '.*' parameter of .* must be .*\. Got .* instead\.$"):
            merge_stores(paths, out)
    assert text.read_text() == "no store"
    assert sorted(os.listdir(tmp_path)) == sorted([path.name, "text"])
