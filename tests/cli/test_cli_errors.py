"""Errors name the command that ran, notes are grouped, and no command at all is not an error."""

from __future__ import annotations

from pathlib import Path

import hostile_files
import pytest

from pairsim.cli.main import COMMANDS
from pairsim.errors import ParameterError, parameter_error, with_owner

pytestmark = pytest.mark.usefixtures("commands_built_once")
commands_built_once = hostile_files.commands_built_once

GRID = ("sweep", "exact", "bound", "plan")
TARGET = {"plan": ("--target", "0.9")}
POINT = ("--n", "8", "--p", "0.9")
# options that commands share, each with a value that is rejected
SHARED = {
    "no n": ("--p", "0.9"),
    "no p": ("--n", "8"),
    "n that is none": ("--n", "8.5", "--p", "0.9"),
    "n going down": ("--n", "64..16", "--p", "0.9"),
    "n twice": ("--n", "8,8", "--p", "0.9"),
    "too many n": ("--n", "2..1000000:1", "--p", "0.9"),
    "p without a step": ("--n", "8", "--p", "0.5..0.9"),
    "unknown oracle": (*POINT, "--oracle", "delphi"),
    "p with a matrix": ("--matrix", "nowhere.csv", "--p", "0.9"),
    "no matrix": ("--oracle", "matrix"),
    "no similarities": ("--n", "8", "--oracle", "similarity"),
    "unknown similarities": ("--n", "8", "--r", "pareto:1"),
    "similarities without n": ("--r", "zipf:1"),
    "unknown ties": (*POINT, "--ties", "win"),
    "unknown format": (*POINT, "--format", "xml"),
    "decoder twice": (*POINT, "--decoder", "adag", "--decoder", "adag:order=random"),
}
OWN = {
    "sweep with another ending": ("sweep", *POINT, "--out", "a.xlsx"),
    "sweep with a picture elsewhere": ("sweep", *POINT, "--plot", "a.gif"),
    "sweep with a table for a store": ("sweep", *POINT, "--store", "a.csv"),
    "sweep with no threads": ("sweep", *POINT, "--threads", "0"),
    "sweep with no trials": ("sweep", *POINT, "--trials", "0"),
    "exact with odd confidence": ("exact", *POINT, "--confidence", "2"),
    "bound with odd failure": ("bound", *POINT, "--failure", "2"),
    "plan with odd confidence": ("plan", *POINT, "--target", "0.9", "--confidence", "2"),
    "plan with odd seed": ("plan", *POINT, "--target", "0.9", "--seed", "-1"),
    "plan with a picture elsewhere": ("plan", *POINT, "--target", "0.9", "--plot", "a.gif"),
    "plan of many": ("plan", "--n", "8,9", "--p", "0.9", "--target", "0.9"),
    "evaluate with unknown format": ("evaluate", "--data", "iris", "--format", "xml"),
    "evaluate with unknown ties": ("evaluate", "--data", "iris", "--ties", "win"),
    "evaluate with another ending": ("evaluate", "--data", "iris", "--out", "a.xlsx"),
    "evaluate with a picture elsewhere": ("evaluate", "--data", "iris", "--plot", "a.gif"),
    "evaluate with a table for a store": ("evaluate", "--data", "iris", "--store", "a.csv"),
    "evaluate with unknown data": ("evaluate", "--data", "nowhere.csv"),
    "evaluate with a decoder twice": ("evaluate", "--data", "iris", "--decoder", "adag", "--decoder", "adag"),
    "record with unknown data": ("record", "--data", "nowhere.csv", "--estimator", "linear-svc", "--out", "a.npz"),
    "record with another ending": ("record", "--data", "iris", "--estimator", "linear-svc", "--out", "a.txt"),
    "fit-oracle with unknown format": ("fit-oracle", "a.npz", "--format", "xml"),
    "fit-oracle with unknown ties": ("fit-oracle", "a.npz", "--ties", "win"),
    "fit-oracle with another ending": ("fit-oracle", "a.npz", "--out", "a.txt"),
    "fit-oracle with a picture elsewhere": ("fit-oracle", "a.npz", "--plot", "a.gif"),
    "show of nothing": ("show", "nowhere.csv"),
    "show of something else": ("show", "other.csv"),
    "show with unknown format": ("show", "other.csv", "--format", "xml"),
    "export to another ending": ("export", "other.csv", "--out", "a.txt"),
    "compare of something else": ("compare", "other.csv", "adag", "ddag"),
    "compare with unknown format": ("compare", "other.csv", "adag", "ddag", "--format", "xml"),
    "plot of something else": ("plot", "other.csv", "--out", "a.svg"),
    "plot to another ending": ("plot", "other.csv", "--out", "a.gif"),
    "verify of no block": ("verify", "a.db", "--blocks", "0"),
    "replay in another format": ("replay", "a.db", "--task", "abcd", "--trial", "0", "--format", "csv"),
}


@pytest.mark.parametrize("case", SHARED)
@pytest.mark.parametrize("command", GRID)
def test_shared_options_name_the_command(
    pairsim_command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, case: str
) -> None:
    monkeypatch.chdir(tmp_path)
    _check(pairsim_command(command, *TARGET.get(command, ()), *SHARED[case]), command)


@pytest.mark.parametrize("case", OWN)
def test_every_error_names_the_command(
    pairsim_command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    command, *words = OWN[case]
    _check(pairsim_command(command, *words), command)


def _check(outcome, command: str) -> None:
    """One line that names this command and no other."""
    (line,) = outcome.err.splitlines()
    assert (outcome.code, outcome.out) == (2, "")
    assert f" parameter of {command} must be " in line
    for other in set(COMMANDS) - {command}:
        assert f" of {other} " not in line


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in ("decoders", "oracles", "warm")])
def test_a_command_without_its_parameters_is_one_line(pairsim_command, command: str) -> None:
    outcome = pairsim_command(command)
    (line,) = outcome.err.splitlines()
    assert (outcome.code, outcome.out) == (2, "")
    assert f"'pairsim {command} --help'" in line or f" parameter of {command} must be " in line


def test_things_that_the_user_named_keep_their_names(pairsim_command) -> None:
    assert "'p' parameter of Uniform" in pairsim_command("plan", "--n", "8", "--p", "2", "--target", "0.9").err
    assert "'k' parameter of TopK" in pairsim_command("exact", *POINT, "--decoder", "top-k:k=9").err


def test_no_command_prints_the_help(pairsim_command) -> None:
    bare, asked = pairsim_command(), pairsim_command("--help")
    assert bare == asked
    assert bare.code == 0
    assert all(f"\n  {name} " in bare.out for name in COMMANDS)


@pytest.mark.parametrize(
    ("n", "wanted"),
    [
        ("512", "at n = 512 for max-win, poll:l=log, poll:l=3log, poll:l=5log"),
        ("4,32,64", "at n = 32, 64 for max-win, poll:l=log, poll:l=3log, poll:l=5log"),
    ],
)
def test_exact_values_that_there_are_not_are_one_note(pairsim_command, n: str, wanted: str) -> None:
    outcome = pairsim_command("exact", "--n", n, "--p", "0.9,0.95")
    assert outcome.code == 0
    assert outcome.err == f"pairsim: no exact value {wanted} (too many cases; use sweep or bound)\n"
    assert "adag" in outcome.out


def test_no_exact_value_at_all_is_refused(pairsim_command) -> None:
    for words in (("--n", "8", "--p", "0.9", "--order", "0.9"), (*POINT[2:], "--n", "512", "--decoder", "max-win")):
        outcome = pairsim_command("exact", *words)
        assert (outcome.code, outcome.out, len(outcome.err.splitlines())) == (2, "", 1)


def test_an_error_of_another_form_keeps_its_message() -> None:
    assert with_owner(ParameterError("something else"), "plan") == "something else"
    assert parameter_error("sweep", "n", "given", "nothing").owner == "sweep"
