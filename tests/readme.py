"""README's console examples: `python tests/readme.py --write` runs them and writes their output anew."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

README = Path(__file__).resolve().parents[1] / "README.md"
BOX = re.compile(r"```console\n(.*?)```", re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
SECONDS = re.compile(r"  +[\d.e-]+  +[\d.e-]+$", re.MULTILINE)  # the last two columns of an evaluation


def boxes() -> list[list[tuple[str, str]]]:
    """Return the commands of each box with the output that the README shows."""
    return [COMMAND.findall(box) for box in BOX.findall(README.read_text(encoding="utf-8"))]


def run(command: str, directory: Path) -> str:
    """Run a command on a terminal of 100 columns and return what it prints, but for the seconds of evaluations."""
    name, *arguments = command.split()
    assert name == "pairsim"
    program = [sys.executable, "-c", "from pairsim.cli import run; run()", *arguments]
    environment = {**os.environ, "COLUMNS": "100"}
    done = subprocess.run(program, capture_output=True, text=True, cwd=directory, check=True, env=environment)
    return SECONDS.sub("  ...  ...", done.stdout) if "predict s" in done.stdout else done.stdout


def rewrite() -> None:
    """Run all boxes, the commands of each in one directory, and write their output into the README."""

    def box(match: re.Match[str]) -> str:
        with tempfile.TemporaryDirectory() as directory:
            commands = [command for command, _ in COMMAND.findall(match[1])]
            shown = "".join(f"$ {command}\n{run(command, Path(directory))}" for command in commands)
        return f"```console\n{shown}```"

    README.write_text(BOX.sub(box, README.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python tests/readme.py --write")
    rewrite()
