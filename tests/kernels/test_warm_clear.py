"""`pairsim warm --clear`: the caches of all versions go, and nothing else does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cache_processes import run_pairsim


def make(root: Path, version: str, *names: str) -> Path:
    path = root / f"kernels-{version}"
    path.mkdir(parents=True)
    for name in names:
        (path / name).write_bytes(b"x" * 1_000_000)
    return path


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PAIRSIM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "cache").mkdir()
    return tmp_path / "cache"


def test_caches_of_all_versions_are_removed(cache, pairsim_command):
    make(cache, "0" * 20, "a.nbc", "key", "a.nbc.0123456789abcdef.tmp")
    make(cache, "0123456789abcdef0123", "a-1.py311.nbi", "a-1.py311.1.nbc", "a-1.py311.nbi.tmp.0123456789abcdef")
    make(cache.parent / "runtime" / "pairsim", "1" * 20, "a.nbc")  # a fallback
    make(cache, "2" * 20)  # not worth a word
    outcome = pairsim_command("warm", "--clear")
    where = f"{cache}, {cache.parent / 'runtime' / 'pairsim'}"
    assert outcome == (0, f"removed 3 kernel caches (7.0 MB) from {where}\n", "")
    assert list(cache.iterdir()) == []
    assert pairsim_command("warm", "--clear") == (0, "no kernel cache to remove\n", "")


def test_nothing_else_is_removed(cache, tmp_path, pairsim_command):
    elsewhere = make(tmp_path / "elsewhere", "2" * 20, "a.nbc")
    (cache / ("kernels-" + "3" * 20)).symlink_to(elsewhere)
    (cache / ("kernels-" + "4" * 20)).write_text("a file")
    make(cache, "source", "a.nbc")
    make(cache, "5" * 20 + "0", "a.nbc")
    inside = make(cache, "6" * 20, "a.nbc", "notes.txt", "x.nbc.bak")
    (inside / "b.nbc").mkdir()
    (inside / "c.nbc").symlink_to(elsewhere / "a.nbc")
    (cache / "a.nbc").write_text("beside")
    gone = {inside / "a.nbc", inside / "c.nbc"}
    before = set(tmp_path.rglob("*"))
    outcome = pairsim_command("warm", "--clear")
    assert outcome.code == 0
    assert outcome.out == "no kernel cache to remove\n"
    assert (
        outcome.err
        == f"pairsim: '{inside}' was kept: it belongs to another user, or holds a file that pairsim did not write\n"
    )
    assert set(tmp_path.rglob("*")) == before - gone
    assert (elsewhere / "a.nbc").exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_nor_is_what_belongs_to_somebody_else(cache, pairsim_command):
    theirs = make(cache, "7" * 20, "a.nbc")
    os.chown(theirs, 12345, 12345)
    outcome = pairsim_command("warm", "--clear")
    assert (outcome.code, outcome.out) == (0, "no kernel cache to remove\n")
    assert (theirs / "a.nbc").exists()


def test_as_a_process_with_help(tmp_path):
    make(tmp_path / "cache", "8" * 20, "a.nbc")
    done = run_pairsim(tmp_path / "cache", "warm", "--clear", TMPDIR=str(tmp_path))
    assert done.stdout.startswith("removed 1 kernel cache (1.0 MB) from ")
    assert "pairsim warm --clear" in run_pairsim(tmp_path / "cache", "warm", "--help").stdout


def test_warm_refuses_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    done = run_pairsim(tmp_path / "file" / "below", "warm")
    assert done.returncode == 2
    assert done.stderr.startswith("pairsim: The 'cache directory' parameter of warm must be a directory that can be ")
