"""Commands in processes with little memory: `python limited_commands.py` forks one for each, after one import.

What a test learns of each is its exit code, what it wrote, and the most memory that it held.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ADDRESS_SPACE = 6_000_000_000  # bytes: some gigabytes of it are libraries and stacks of threads
LOADED = (
    *("pairsim.cli.main", "pairsim.evaluation", "pairsim.planning", "pairsim.sweeps", "pairsim.bounds"),
    *("pandas", "pyarrow.parquet", "skops.io", "sklearn.datasets", "sklearn.svm", "sklearn.compose"),
    *("sklearn.multiclass", "sklearn.preprocessing", "scipy.special", "scipy.stats"),
)
PATIENCE = 60  # seconds until a command that should have been rejected is taken for hanging


class Ended(NamedTuple):
    """How a command ended; `held` is the most memory in bytes, of which a tenth of a gigabyte or two is the libraries.

    The code is 128 + the number of the signal for one that was killed.
    """

    code: int
    out: str
    err: str
    held: int


class Nursery:
    """A process that has imported pairsim, and forks one with limits for each command."""

    def __init__(self) -> None:
        self._popen = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def run(self, commands: Sequence[Sequence[object]], python: str = "") -> list[Ended]:
        """Run `pairsim *words` for each of the commands, or one piece of Python with `words` for each."""
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        ended = []
        for command in commands:
            given = {"python": python, "words": [str(word) for word in command]}
            self._popen.stdin.write(json.dumps(given) + "\n")
            self._popen.stdin.flush()
            ended.append(Ended(*json.loads(self._popen.stdout.readline())))
        return ended

    def close(self) -> None:
        """End the process."""
        self._popen.communicate()


def _run_one(words: list[str], python: str) -> Ended:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
            signal.alarm(PATIENCE)
            os._exit(_work(words, python))
        _, status, usage = os.wait4(child, 0)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    code = os.waitstatus_to_exitcode(status)
    return Ended(code if code >= 0 else 128 - code, texts[0], texts[1], usage.ru_maxrss * 1024)


def _work(words: list[str], python: str) -> int:
    sys.argv = ["pairsim", *words]
    code: object = 0
    try:
        if python:
            exec(python, {"words": words})
        else:
            from pairsim.cli import run

            run()
    except SystemExit as stop:
        code = stop.code
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return code if isinstance(code, int) else 0


def main() -> None:
    """Run the commands that come as lines of JSON, and write how each ended as such a line."""
    sys.path.insert(0, str(Path(__file__).parent))
    for name in LOADED:  # once, and not in each process
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for line in sys.stdin:
        given = json.loads(line)
        print(json.dumps(_run_one(given["words"], given["python"])), flush=True)


if __name__ == "__main__":
    main()
