"""The README tells the truth: its commands run and print what it shows, and the gate runs its test command."""

from __future__ import annotations

import doctest
import os
import re
from pathlib import Path

import pytest
from readme import boxes, run

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
SHELL = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
COMMANDS = boxes()


def test_there_is_something_to_check():
    assert sum(map(len, COMMANDS)) >= 7
    assert all(COMMANDS)
    assert len(SHELL) == 2


@pytest.mark.parametrize("commands", COMMANDS, ids=[commands[0][0] for commands in COMMANDS])
def test_commands_print_what_the_readme_shows(commands, tmp_path):
    for command, output in commands:  # those of one box follow each other in one directory
        assert_same_text(run(command, tmp_path), output)


def assert_same_text(got: str, shown: str) -> None:
    """Compare word by word; numbers to 9 digits, as the last ones may differ from processor to processor."""
    got_words, shown_words = (re.split(r"([,\s]+)", re.sub(" +", " ", text)) for text in (got, shown))
    assert len(got_words) == len(shown_words)
    for mine, theirs in zip(got_words, shown_words, strict=True):
        if re.fullmatch(r"-?\d+\.\d+(e-?\d+)?", theirs):
            assert float(mine) == pytest.approx(float(theirs), rel=1e-9)
        elif set(theirs) != {"─"}:
            assert mine == theirs


def test_the_comparison_can_fail():
    assert_same_text("a,0.1234567890123 b", "a,0.1234567890124 b")
    assert_same_text("a   b\n────", "a b\n──")
    for other in ("a,0.12345 b", "a,0.1234567890123 c", "a,0.1234567890123"):
        with pytest.raises(AssertionError):
            assert_same_text("a,0.1234567890123 b", other)


def test_python_examples_give_what_the_readme_shows():
    blocks = "\n".join(re.findall(r"```python\n(.*?)```", README, re.DOTALL))
    example = doctest.DocTestParser().get_doctest(blocks, {}, "README", None, 0)
    assert len(example.examples) >= 6
    runner = doctest.DocTestRunner()
    runner.run(example)
    assert runner.failures == 0


def test_the_gate_runs_the_readmes_test_command_literally():
    gate = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert SHELL[1].strip() in gate
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_the_main_job_of_the_readme_is_the_one_that_is_promised():
    assert SHELL[0].strip().endswith("pairsim sweep --p 0.7 --n 16..512 --plot curve.png")


@pytest.mark.parametrize("name", re.findall(r"\]\(([^)#:]+)\)", README))
def test_linked_files_exist(name):
    assert (ROOT / name).exists()
