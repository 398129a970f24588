"""Ctrl-C and SIGTERM at any moment of any command: the exit code, one line at most, no traceback, no draft left.

What comes before the first line of pairsim (the start of Python itself) is not ours to handle, and not tested.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from sweep_processes import PATIENCE, Ended, Nursery, nursery

from pairsim import MaxWin, Uniform, sweep
from pairsim.store import BlockRecord, Store, TaskRecord, task_id

NAMES = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}
SWEEP = ["sweep", "--p", "0.7", "--n", "8,16", "--trials", "4000000", "--quiet"]
COMMANDS = [
    SWEEP,
    [*SWEEP, "--workers", "2"],
    ["exact", "--n", "12", "--p", "0.7"],
    ["plan", "--n", "64", "--p", "0.9", "--target", "0.99"],
    ["bound", "--n", "64", "--p", "0.9"],
    ["show", "no such file.db"],
    ["decoders"],
    ["--help"],
]


def program(before: str = "pass") -> list[str]:
    return [sys.executable, "-c", f"{before}\nfrom pairsim.cli import run\nprint('>', flush=True)\nrun()"]


def begin(words: list[str], before: str = "pass", **options: object) -> subprocess.Popen[str]:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([*program(before), *words], text=True, start_new_session=True, **pipes, **options)


def end(process: subprocess.Popen[str]) -> Ended:
    try:
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    return Ended(process.returncode, out, err)


def said(ended: Ended) -> list[str]:
    return [line for line in ended.err.splitlines() if "compiling kernels" not in line]


def check_stopped(ended: Ended, sign: signal.Signals) -> str:
    """Check how a program ended that was stopped, and return what it said after that."""
    assert ended.code == 128 + sign, ended.err
    (line,) = said(ended)
    beginning = f"pairsim: stopped by {NAMES[sign]}"
    assert line.startswith(beginning)
    return line.removeprefix(beginning)


@pytest.mark.parametrize(("sign", "tries"), [(signal.SIGINT, 32), (signal.SIGTERM, 12)])
def test_signals_at_random_moments(sign: signal.Signals, tries: int, tmp_path: Path) -> None:
    moments, codes = random.Random(f"moments {sign}"), Counter()
    for place in range(tries):
        process = begin(COMMANDS[place % len(COMMANDS)], cwd=tmp_path)
        assert process.stdout is not None
        assert process.stdout.read(1) == ">"
        time.sleep(0.02 + moments.random() ** 2 * 1.5)  # more often early, while imports are made
        (os.killpg if moments.random() < 0.5 else os.kill)(process.pid, sign)  # not reaped yet, so still its own
        ended = end(process)
        codes[ended.code] += 1
        assert "Traceback" not in ended.err
        assert "Error" not in ended.err
        if ended.code not in (0, 2):  # 2: there is no such file to show
            check_stopped(ended, sign)
    assert codes[128 + sign] >= tries // 3  # the signals came in time
    assert list(tmp_path.iterdir()) == []


AT_IMPORT = """
import os, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), {sign})
sys.meta_path.insert(0, Finder())
"""


@pytest.mark.parametrize("sign", NAMES)
@pytest.mark.parametrize(
    "module", ["pairsim.cli.main", "typer.main", "numpy", "numba.core.types", "pandas", "pairsim.sweeps", "rich.table"]
)
def test_a_signal_in_the_middle_of_an_import(module: str, sign: signal.Signals, tmp_path: Path) -> None:
    words = ["sweep", "--p", "0.7", "--n", "4", "--trials", "64"]
    if module == "pandas":
        (tmp_path / "a.csv").write_text("n,p\n")
        words = ["show", str(tmp_path / "a.csv")]
    ended = end(begin(words, AT_IMPORT.format(module=module, sign=int(sign))))
    assert check_stopped(ended, sign) in (
        "; nothing was written.",
        "; nothing was kept (--store FILE.db keeps finished blocks)",
    )


def test_a_file_that_was_written_is_told_of(tmp_path: Path) -> None:
    """The table is complete when the signal comes, in the middle of the plot."""
    words = ["sweep", "--p", "0.7", "--n", "4", "--trials", "64", "--quiet", "--out", "a.csv", "--plot", "a.png"]
    before = AT_IMPORT.format(module="matplotlib.backends.backend_agg", sign=int(signal.SIGINT))
    ended = end(begin(words, before, cwd=tmp_path))
    assert check_stopped(ended, signal.SIGINT).startswith(" after writing a.csv; ")
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
    assert len((tmp_path / "a.csv").read_text().splitlines()) == 7


LONG_CALL = """
import hashlib, pairsim.cli.main
def never(): hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)  # without Python's lock, as a kernel
pairsim.cli.main.run = never
"""


@pytest.mark.parametrize("sign", NAMES)
def test_a_signal_during_a_long_call(sign: signal.Signals) -> None:
    """No handler of Python's is run while the main thread is in compiled code: another thread ends the program."""
    process = begin([], LONG_CALL)
    assert process.stdout is not None
    assert process.stdout.read(1) == ">"
    time.sleep(0.5)
    process.send_signal(sign)
    assert check_stopped(end(process), sign) == "; nothing was written."


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    """As in a background job of a shell without job control."""
    before = "import os, signal, sys\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    process = begin(["exact", "--n", "6", "--p", "0.7"], before)
    assert process.stdout is not None
    assert process.stdout.read(1) == ">"
    for _ in range(5):
        process.send_signal(signal.SIGINT)
        time.sleep(0.02)
    assert end(process).code == 0


@pytest.fixture(scope="module")
def cradle() -> Iterator[Nursery]:
    with nursery() as opened:
        yield opened


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return two stores that take a while to merge."""
    folder = tmp_path_factory.mktemp("stores")
    paths = [folder / "one.db", folder / "two.db"]
    for place, path in enumerate(paths):
        tasks = [TaskRecord(task_id(f'{{"task": {number}}}'), f'{{"task": {number}}}') for number in range(20)]
        with Store.create_or_open(path) as store:
            store.add_tasks(tasks)
            store.record(
                [BlockRecord(task.id, 2 * block + place, 100, (50.0,)) for task in tasks for block in range(500)]
            )
    return paths


@pytest.mark.parametrize("into", ["new", "old"])
def test_a_merge_that_is_stopped_leaves_nothing_behind(
    into: str, cradle: Nursery, stores: list[Path], tmp_path: Path
) -> None:
    moments, codes = random.Random(f"merge {into}"), Counter()
    whole = tmp_path / "whole.db"
    begun = time.monotonic()
    cradle.wait(cradle.start(["merge", *map(str, stores), "--out", str(whole)], tmp_path), tmp_path)
    takes = time.monotonic() - begun  # a signal at a random moment of that, on a fast machine or a busy one
    with Store.read(whole) as store:
        everything = store.count_blocks()
    place = 0
    while place < 12 or (codes[130] + codes[143] < 4 and place < 60):
        place += 1
        sign = (signal.SIGINT, signal.SIGTERM)[place % 2]
        folder = tmp_path / str(place)
        folder.mkdir()
        out = folder / "out.db"
        before = 0
        if into == "old":
            out.write_bytes(stores[0].read_bytes())
            before = everything // 2
        number = cradle.start(["merge", *map(str, stores), "--out", str(out)], folder)
        time.sleep(moments.random() * takes)
        os.kill(number, sign)  # not reaped yet, so still its own
        ended = cradle.wait(number, folder)
        codes[ended.code] += 1
        if ended.code:
            check_stopped(ended, sign)
        names = {path.name for path in folder.iterdir()} - {"stdout", "stderr"}
        assert names <= {"out.db"}, names
        if names:
            with Store.read(out) as store:
                assert store.count_blocks() in (before, everything)
    assert codes[130] + codes[143] >= 4, codes


def drafts(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.name.startswith(".pairsim-")}


def test_drafts_of_killed_processes_are_removed_by_the_next_one(
    cradle: Nursery, stores: list[Path], tmp_path: Path
) -> None:
    for _ in range(20):
        number = cradle.start(["merge", *map(str, stores), "--out", str(tmp_path / "out.db")], tmp_path)
        patience = time.monotonic() + PATIENCE
        while not drafts(tmp_path) and time.monotonic() < patience and not (tmp_path / "out.db").exists():
            time.sleep(0.002)
        os.kill(number, signal.SIGKILL)
        cradle.wait(number, tmp_path)
        if drafts(tmp_path):
            break
        (tmp_path / "out.db").unlink(missing_ok=True)
    left = drafts(tmp_path)
    assert left  # a process that is killed cannot clean up
    (name,) = left
    other = name.split("-")
    strangers = {  # what only looks like one of ours stays
        ".pairsim-0123456789abcdef",
        f".pairsim-{'0' * 12}-{'-'.join(other[2:])}",  # of another start of the system
        f".pairsim-{other[1]}-{os.getpid()}-{started()}-{other[4]}",  # of a process that is running
        f"{name}.tar.gz.old",
        name.removeprefix("."),
    }
    for stranger in strangers:
        (tmp_path / stranger).write_text("precious")
    directory, link = name[:-4] + "aaaa", name[:-4] + "bbbb"
    (tmp_path / directory).mkdir()
    (tmp_path / link).symlink_to("stdout")
    sweep([Uniform(4, 0.9)], [MaxWin()], 64, store=tmp_path / "b.db")
    assert drafts(tmp_path) == {each for each in strangers if each[0] == "."} | {directory, link}
    assert all((tmp_path / stranger).read_text() == "precious" for stranger in strangers)


def started() -> str:
    return Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]


@pytest.mark.parametrize("suffix", [".pdf", ".png", ".svg"])
def test_a_full_disk_for_the_plot(cradle: Nursery, tmp_path: Path, suffix: str) -> None:
    words = ["sweep", "--p", "0.7,0.9", "--n", "4", "--trials", "64", "--quiet", "--format", "csv"]
    ended = cradle.run([*words, "--plot", str(tmp_path / f"a{suffix}")], tmp_path, most_bytes=2000)
    assert ended.code == 1, ended.err
    assert ended.err == "pairsim: File too large\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["stderr", "stdout"]
