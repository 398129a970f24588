"""Commands run in a real terminal of a given width, and tables read back from what they printed."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from rich.cells import cell_len

# one process for many commands: importing the package takes longer than most of them
DRIVER = """
import fcntl, json, struct, sys, termios
from pairsim.cli import main
for width, words in json.loads(sys.argv[1]):
    fcntl.ioctl(sys.stdout, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    sys.argv = ["pairsim", *words]
    code = 0
    try:
        main.run()
    except SystemExit as end:
        code = end.code or 0
    print(f"=== {code}", flush=True)
    print(f"=== {code}", file=sys.stderr, flush=True)
"""


class Shown(NamedTuple):
    """What one command printed in a terminal, without colours, and its exit code."""

    code: int
    out: list[str]
    err: str


class Table(NamedTuple):
    """A table as it stood in the terminal: folded cells are joined again."""

    header: list[str]
    rows: list[dict[str, str]]
    below: str


def run_in_terminal(commands: list[tuple[int, list[str]]], folder: Path) -> list[Shown]:
    """Run commands one after the other, with stdout in a terminal that has the width given with each."""
    ours, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    with (folder / "stderr").open("w+") as errors:
        process = subprocess.Popen(
            [sys.executable, "-c", DRIVER, json.dumps(commands)],
            stdin=theirs,
            stdout=theirs,
            stderr=errors,
            cwd=folder,
            env=environment | {"TERM": "xterm-256color"},
        )
        os.close(theirs)
        text = _read_all(ours)
        assert process.wait(timeout=300) == 0
        errors.seek(0)
        notes = re.split(r"^=== \d+\n", errors.read(), flags=re.MULTILINE)
    parts = re.split(r"^=== (\d+)\r?\n", re.sub(r"\x1b\[[\d;]*m", "", text), flags=re.MULTILINE)
    return [
        Shown(int(parts[2 * k + 1]), parts[2 * k].replace("\r\n", "\n").splitlines(), notes[k])
        for k in range(len(commands))
    ]


def _read_all(terminal: int) -> str:
    content = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the other side is closed
            part = b""
        if not part:
            os.close(terminal)
            return content.decode()
        content += part


def read_table(lines: list[str], text_columns: set[str]) -> Table:
    """Read the first table: blanks in all its lines separate columns, and a line without a figure continues a row."""
    rule = next(place for place, line in enumerate(lines) if line and set(line) == {"─"})
    width = len(lines[rule])
    end = next((k for k in range(rule + 1, len(lines)) if _ends_table(lines, k)), len(lines))
    body = [line.ljust(width) for line in lines[:rule] + lines[rule + 1 : end]]
    blank = [all(line[place] == " " for line in body) for place in range(width)]
    spans = [(found.start(), found.end()) for found in re.finditer(r"#+(?:-#+)*", _marks(blank))]
    heads = ["".join(line[a:b].strip() for line in body[:rule]) for a, b in spans]
    rows: list[dict[str, str]] = []
    for line in body[rule:]:
        cells = {head: line[a:b].strip() for head, (a, b) in zip(heads, spans, strict=True)}
        if not any(cells.values()):
            continue
        figures = [cell for head, cell in cells.items() if head not in text_columns] or [cells[heads[0]]]
        if rows and not any(figures):
            for head, cell in cells.items():
                rows[-1][head] += cell
        else:
            rows.append(cells)
    return Table(heads, rows, " ".join(lines[end:]))


def _marks(blank: list[bool]) -> str:
    return "".join("-" if is_blank else "#" for is_blank in blank)


def _ends_table(lines: list[str], place: int) -> bool:
    """Say whether the blank line is the last one of the table: what follows it is prose."""
    if lines[place]:
        return False
    following = lines[place + 1] if place + 1 < len(lines) else ""
    return not re.search(r"\S  +\S", following)


def widest(lines: list[str]) -> int:
    return max(map(cell_len, lines))
