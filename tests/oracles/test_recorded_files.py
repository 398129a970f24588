"""Recorded answers on disk: read back as they were, and never anything else."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairsim import MaxWin, ParameterError, Recorded, Uniform, simulate


@pytest.fixture
def recorded(tmp_path):
    answers = Recorded.of(Uniform(9, 0.8), 300, seed=5)
    answers.save(tmp_path / "answers.npz")
    return answers


def test_a_file_is_the_recording(recorded, tmp_path, pairsim_command):
    assert Recorded.load(tmp_path / "answers.npz") == recorded
    oracle = f"recorded:{tmp_path / 'answers.npz'}"
    out = pairsim_command("sweep", "--oracle", oracle, "--decoder", "max-win", "--format", "json").out
    (row,) = json.loads(out)
    assert (row["n"], row["trials"]) == (9, 300)
    assert row["success"] == simulate(recorded, MaxWin()).success
    options = json.loads(pairsim_command("plan", "--oracle", oracle, "--target", 0.5, "--format", "json").out)
    assert all(option["high"] >= 0.5 for option in options)
    (value,) = json.loads(pairsim_command("exact", "--oracle", oracle, "--decoder", "max-win", "--format", "json").out)
    assert value["success"] == pytest.approx(row["success"], abs=0.05)
    refused = pairsim_command("exact", "--oracle", oracle, "--decoder", "halving")
    assert (refused.code, refused.out) == (2, "")
    assert "simulate" in refused.err


def test_an_existing_file_is_not_replaced(recorded, tmp_path):
    with pytest.raises(ParameterError, match="new file"):
        recorded.save(tmp_path / "answers.npz")
    with pytest.raises(ParameterError, match=r"ending in \.npz"):
        recorded.save(tmp_path / "answers.csv")


@pytest.mark.parametrize("arguments", [("--n", 8), ("--p", 0.5), ("--trials", 301)], ids=str)
def test_options_that_do_not_fit_are_refused(recorded, tmp_path, pairsim_command, arguments):
    outcome = pairsim_command("sweep", "--oracle", f"recorded:{tmp_path / 'answers.npz'}", *arguments)
    assert (outcome.code, outcome.out, len(outcome.err.splitlines())) == (2, "", 1)


def test_foreign_and_pickled_files_are_refused(tmp_path, pairsim_command):
    np.savez(tmp_path / "foreign.npz", a=np.arange(3))
    np.savez(tmp_path / "pickled.npz", format=np.array([print, {}], dtype=object))
    (tmp_path / "empty.npz").write_bytes(b"")
    (tmp_path / "text.npz").write_text("hello")
    for name in ("foreign.npz", "pickled.npz", "empty.npz", "text.npz", "nowhere.npz"):
        outcome = pairsim_command("sweep", "--oracle", f"recorded:{tmp_path / name}")
        assert (outcome.code, outcome.out, len(outcome.err.splitlines())) == (2, "", 1)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(st.data())
def test_damaged_files_never_crash(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("damaged")
    Recorded.of(Uniform(5, 0.8), 20).save(folder / "a.npz")
    content = bytearray((folder / "a.npz").read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    (folder / "b.npz").write_bytes(bytes(content[: data.draw(st.integers(0, len(content)))]))
    try:
        loaded = Recorded.load(folder / "b.npz")
    except ParameterError:
        return
    assert loaded.n >= 2
