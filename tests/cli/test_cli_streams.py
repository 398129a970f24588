"""Standard streams that are closed, full or broken: no file is lost, no traceback, and the right exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from pairsim import Recorded, Uniform

RUN = [sys.executable, "-c", "from pairsim.cli import run; run()"]
SWEEP = ["sweep", "--n", "4,5", "--p", "0.9", "--trials", "20", "--decoder", "max-win", "--decoder", "adag"]
DATA = ["--data", "iris", "--estimator", "linear-svc"]


class Case(NamedTuple):
    """A command, the files that it writes, and whether it prints to stdout."""

    words: list[str]
    files: tuple[str, ...] = ()
    prints: bool = True


CASES = {
    "sweep": Case([*SWEEP, "--out", "s.csv", "--plot", "s.svg", "--store", "s.db"], ("s.csv", "s.svg", "s.db")),
    "sweep for programs": Case([*SWEEP, "--format", "json", "--out", "p.json"], ("p.json",)),
    "dry run": Case([*SWEEP, "--dry-run"]),
    "plan": Case(
        ["plan", "--n", "5", "--p", "0.9", "--target", "0.5", "--decoder", "adag", "--plot", "n.svg"], ("n.svg",)
    ),
    "evaluate": Case(["evaluate", *DATA, "--decoder", "adag", "--out", "e.csv", "--plot", "e.svg"], ("e.csv", "e.svg")),
    "fit-oracle": Case(
        ["fit-oracle", "a.npz", "--decoder", "max-win", "--trials", "50", "--out", "f.csv", "--plot", "f.svg"],
        ("f.csv", "f.svg"),
    ),
    "export": Case(["export", "a.db", "--out", "x.csv"], ("x.csv",), prints=False),
    "merge": Case(["merge", "a.db", "--out", "m.db"], ("m.db",), prints=False),
    "record": Case(["record", *DATA, "--out", "r.npz"], ("r.npz",), prints=False),
    "plot": Case(["plot", "a.db", "--out", "o.svg"], ("o.svg",), prints=False),
    "exact": Case(["exact", "--n", "64", "--p", "0.9"]),
    "bound": Case(["bound", "--n", "64", "--p", "0.9", "--failure", "1/n"]),
    "separation": Case(["separation", "--n", "8", "--p", "0.9", "--trials", "64"]),
    "show": Case(["show", "a.db"]),
    "compare": Case(["compare", "a.db", "max-win", "adag"]),
    "verify": Case(["verify", "a.db"]),
    "decoders": Case(["decoders"]),
    "oracles": Case(["oracles"]),
    "help": Case(["--help"]),
    "help of a command": Case(["sweep", "--help"]),
    "nothing": Case([]),
    "version": Case(["--version"]),
}
STREAMS = {
    "broken": 141,
    "full": 1,
    "closed": 0,
    "closed stderr": 0,
    "both closed": 0,
    "full stderr": 0,
}
FAILING = ("broken", "full")  # tried with every command
# a forked process each: the interpreter ends in each of them, but imports are made once
DRIVER = """
import gc, json, os, sys
import matplotlib.figure, matplotlib.backends.backend_svg, sklearn.svm, pandas
import pairsim.evaluation, pairsim.fitting, pairsim.planning, pairsim.plots, pairsim.sweeps
from pairsim.cli import main

gc.collect()
gc.freeze()  # else every process that ends looks at all objects of the imports: 0.6 s
for folder, words, kind in json.loads(sys.argv[1]):
    child = os.fork()
    if child:
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        continue
    os.chdir(folder)
    reader, writer = os.pipe()
    os.close(reader)
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(writer if kind == "broken" else full, 1)
    os.dup2(os.open("stderr", os.O_CREAT | os.O_WRONLY), 2)
    sys.argv = ["pairsim", *words]
    main.run()
"""


def prepare(folder: Path) -> None:
    """Put what the commands read into a folder."""
    Recorded.of(Uniform(5, 0.8), 60).save(folder / "a.npz")
    subprocess.run([*RUN, *SWEEP, "--quiet", "--store", "a.db"], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], tuple[int, Path]]:
    """Exit code and folder of each command with each kind of streams."""
    source = tmp_path_factory.mktemp("source")
    prepare(source)
    jobs = {}
    for name, case in CASES.items():
        for kind in FAILING:
            folder = tmp_path_factory.mktemp("case")
            for path in source.iterdir():
                os.link(path, folder / path.name)
            jobs[name, kind] = (str(folder), case.words, kind)
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, json.dumps(list(jobs.values()))],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    codes = map(int, done.stdout.split())
    return {key: (code, Path(job[0])) for (key, job), code in zip(jobs.items(), codes, strict=True)}


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name in CASES for kind in FAILING])
def test_no_file_is_lost(ended: dict[tuple[str, str], tuple[int, Path]], name: str, kind: str) -> None:
    case = CASES[name]
    code, folder = ended[name, kind]
    _check(case, kind, code, folder)


def _check(case: Case, kind: str, code: int, folder: Path) -> None:
    told = (folder / "stderr").read_text() if (folder / "stderr").exists() else ""
    assert code == (STREAMS[kind] if case.prints else 0), told
    assert "Traceback" not in told
    assert "Exception ignored" not in told
    for file in case.files:
        content = (folder / file).read_bytes()
        assert content.endswith(b"\n") if file.endswith((".csv", ".svg", ".json")) else content
    if kind == "full" and case.prints:
        assert [
            line for line in told.splitlines() if "No space left on device" in line and line.startswith("pairsim: ")
        ]
    if kind in ("closed stderr", "full stderr") and case.prints:
        assert (folder / "stdout").stat().st_size > 0
    assert not list(folder.glob(".pairsim-*"))


REAL = {
    "broken": "{} | true; exit ${{PIPESTATUS[0]}}",
    "full": "{} > /dev/full",
    "closed": "{} >&-",
    "closed stderr": "{} 2>&-",
    "both closed": "{} >&- 2>&-",
    "full stderr": "{} 2> /dev/full",
}


@pytest.mark.parametrize("kind", REAL)
def test_a_shell_sees_the_same(tmp_path: Path, kind: str) -> None:
    """The same with a real shell: the pipe's reader has long left when the sweep is done."""
    program = f"{sys.executable} -c 'from pairsim.cli import run; run()'"
    command = REAL[kind].format(f"{program} {' '.join([*SWEEP, '--store', 's.db', '--out', 's.csv'])}")
    done = subprocess.run(["bash", "-c", command], check=False, cwd=tmp_path, capture_output=True, text=True)
    (tmp_path / "stderr").write_text(done.stderr)
    (tmp_path / "stdout").write_text(done.stdout or "nothing")
    _check(Case(SWEEP, ("s.csv", "s.db")), kind, done.returncode, tmp_path)


def test_large_output_into_a_pipe_that_closes(tmp_path: Path) -> None:
    """The pipe breaks in the middle of a write that is larger than it holds."""
    program = f"{sys.executable} -c 'from pairsim.cli import run; run()'"
    words = "sweep --n 2..1500:1 --p 0.9 --decoder adag --method exact --out big.csv"
    for format_, setting in (
        ("csv", "PYTHONUNBUFFERED="),
        ("csv", "PYTHONUNBUFFERED=1"),
        ("table", "PYTHONUNBUFFERED=1"),
    ):
        command = f"{setting} {program} {words} --format {format_} | head -c 100 > /dev/null; exit ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", command], check=False, cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode, "Traceback" in done.stderr) == (141, False), done.stderr
        assert len((tmp_path / "big.csv").read_text().splitlines()) == 1499 + 1
        (tmp_path / "big.csv").unlink()


def test_a_file_that_fails_does_not_lose_the_screen(tmp_path: Path) -> None:
    """The disk is full: the table is shown all the same, and one line says what failed."""
    limit = "ulimit -f 0; trap '' XFSZ"
    program = f"{sys.executable} -c 'from pairsim.cli import run; run()'"
    command = f"{limit}; {program} {' '.join(SWEEP)} --out s.csv | cat; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], check=False, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert "max-win" in done.stdout
    assert [line for line in done.stderr.splitlines() if "compiling" not in line] == ["pairsim: File too large"]


@pytest.mark.parametrize("words", [[*SWEEP, "--plot", "q.svg", "--out", "q.csv"], ["record", *DATA, "--out", "q.npz"]])
def test_quiet_is_quiet(tmp_path: Path, pairsim_command, monkeypatch, words: list[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert pairsim_command(*words, "--quiet").err == ""
    for path in tmp_path.iterdir():
        path.unlink()
    assert "q." in pairsim_command(*words).err  # the control: without it, it tells what it wrote
