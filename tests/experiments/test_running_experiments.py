"""`python -m experiments`: the list, quick runs that need no data from outside, and what is said without data."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

pytest.importorskip("sklearn")

from experiments import __main__ as command
from experiments import frame, results_table
from experiments.catalogue import EXPERIMENTS, HERE, Experiment, catalogue

QUICK = {  # needs no data from outside: the tables that a quick run writes
    "poll_figures": {"poll_curves"},
    "poll_claims": {
        "poll_top_k",
        "poll_sample_sizes",
        "poll_separation",
        "poll_formulas",
        "poll_against_posterior",
    },
    "perceptron_updates": {"perceptron_updates"},
    "notes_examples": {"notes_decoding", "notes_sectors"},
    "sdt_convergence": {"sdt_convergence"},
    "sbc_ranks": {"sbc_ranks"},
}
NEED_DATA = [each.name for each in EXPERIMENTS if each.data and each.name != "sbc_defaults"]  # it draws sets, too


@pytest.fixture(autouse=True)
def same_folder(monkeypatch):
    """Put the folder of error tables back after each test: `--results` changes it."""
    monkeypatch.setattr(results_table, "FOLDER", results_table.FOLDER)


def test_the_list_has_every_script(capsys):
    assert command.main(["list"]) == 0
    printed = capsys.readouterr().out
    scripts = {
        path.stem
        for path in HERE.glob("*.py")
        if not path.stem.startswith("__")
        and any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in ast.parse(path.read_text()).body)
    }
    assert scripts == {line.split()[0] for line in printed.splitlines()}
    assert scripts == {each.name for each in catalogue()}
    assert {each.name for each in EXPERIMENTS} <= scripts  # nothing is listed that is not there
    for each in EXPERIMENTS:
        assert each.shows in printed
        assert each.takes in printed
        assert all(name in printed for name in each.data)


def test_a_name_that_is_not_there_and_no_name(capsys):
    assert command.main(["poll"]) == 2
    assert "no experiment 'poll'" in capsys.readouterr().err
    assert command.main([]) == 2
    assert "usage" in capsys.readouterr().out


@pytest.mark.parametrize("name", QUICK)
def test_quick_runs_write_their_tables_with_versions(name, tmp_path):
    assert command.main([name, "--quick", "--results", str(tmp_path), "--figures", str(tmp_path)]) == 0
    assert {path.stem for path in tmp_path.glob("*.csv")} == QUICK[name]
    assert list(tmp_path.glob("*.png"))
    for path in tmp_path.glob("*.csv"):
        table, kept = pd.read_csv(path), pd.read_csv(frame.RESULTS / path.name)
        assert set(table["versions"]) == {frame.versions()}
        assert list(table.columns) == list(kept.columns)  # the committed table is of the same script


def test_a_table_that_was_deleted_comes_back_to_the_same_bytes(tmp_path):
    words = ["--results", str(tmp_path), "--figures", str(tmp_path), "--format", "svg"]
    for name in ("poll_figures", "notes_examples"):
        assert command.main([name, "--quick", *words]) == 0
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert {path.suffix for path in before} == {".csv", ".svg"}
    for path in before:
        path.unlink()
    for name in ("poll_figures", "notes_examples"):
        assert command.main([name, "--quick", *words]) == 0
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_committed_tables_of_exact_examples_come_back_to_the_same_numbers(tmp_path):
    assert command.main(["notes_examples", "--results", str(tmp_path), "--figures", str(tmp_path)]) == 0
    for name in QUICK["notes_examples"]:
        ours, kept = (
            pd.read_csv(folder / f"{name}.csv").drop(columns="versions") for folder in (tmp_path, frame.RESULTS)
        )
        pd.testing.assert_frame_equal(ours, kept, rtol=1e-5)


def test_a_sweep_goes_on_from_its_store(tmp_path):
    words = ["--quick", "--results", str(tmp_path), "--figures", str(tmp_path), "--store", str(tmp_path / "kept.db")]
    assert command.main(["poll_figures", *words]) == 0
    first = (tmp_path / "poll_curves.csv").read_bytes()
    size = (tmp_path / "kept.db").stat().st_size
    assert command.main(["poll_figures", *words]) == 0
    assert (tmp_path / "poll_curves.csv").read_bytes() == first
    assert (tmp_path / "kept.db").stat().st_size == size


@pytest.mark.parametrize("name", NEED_DATA)
def test_without_the_data_one_line_says_what_is_needed(name, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PAIRSIM_DATA", str(tmp_path / "absent"))
    assert command.main([name, "--quick", "--results", str(tmp_path), "--figures", str(tmp_path)]) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1
    assert "PAIRSIM_DATA" in said[0]
    assert any(each in said[0] for each in next(one.data for one in EXPERIMENTS if one.name == name))
    assert not list(tmp_path.iterdir())


def test_quick_runs_do_not_touch_what_full_runs_have_measured():
    made = frame.parse(frame.parser("x"), ["--quick"])
    assert made.results == made.figures == frame.QUICK
    assert frame.parse(frame.parser("x"), []).results == frame.RESULTS
    plain = Experiment("x", "", "", quick=("--trials", "5"), figures="--folder", results="")
    assert command.translated(plain, ["--quick"]) == ["--trials", "5", "--folder", str(frame.QUICK)]
    assert command.translated(plain, ["--quick", "--figures", "here"]) == ["--trials", "5", "--folder", "here"]
    assert command.translated(plain, ["--results", "here", "--n", "3"]) == ["--n", "3"]


def test_unknown_sets_are_an_error_of_the_command(capsys):
    assert command.main(["linear_errors", "irs"]) == 2
    assert "unknown set 'irs'" in capsys.readouterr().err


def test_it_is_a_command_and_so_is_each_script(tmp_path):
    for words in (["experiments", "list"], ["experiments.notes_examples", "--help"]):
        done = subprocess.run(
            [sys.executable, "-m", *words], capture_output=True, text=True, cwd=Path(HERE).parent, check=True
        )
        assert "notes" in done.stdout
