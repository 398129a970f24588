"""Every command that reads a file, given files that are damaged, forged or made to do harm.

The outcome is always a result or one line; never a traceback, a changed input, or code from the file that runs.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import hostile_files as files
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pairsim.store import Store

pytestmark = pytest.mark.usefixtures("commands_built_once")
commands_built_once = files.commands_built_once

# by kind of file: the commands that read one, {} being the file and {new} a name that is free
TABLE = [
    "show {}",
    "export {} --out {new}.csv",
    "compare {} max-win ddag",
    "show {} --format json",
    "plot {} --out {new}.svg",
    "export {} --out {new}.json",
    "compare {} ddag max-win --format json",
]
SMALL = "--trials 10 --decoder max-win --decoder ddag --quiet"
COMMANDS: dict[str, list[str]] = {
    ".db": [
        *TABLE,
        "show {} --tasks",
        "verify {} --seed 1",
        "merge {} --out {new}.db",
        "sweep --p 0.7 --n 4 --store {} " + SMALL,
        "replay {} --task TASK --trial 3",
        "compare {} poll:l=2 max-win",
        "sweep --p 0.7 --n 4 --store {} --dry-run",
    ],
    ".csv": TABLE,
    ".json": TABLE,
    ".parquet": TABLE,
    "-matrix.npy": ["sweep --matrix {} " + SMALL],
    "-matrix.txt": ["sweep --matrix {} " + SMALL],
    "-r.npy": ["sweep --r {} " + SMALL],
    "-r.txt": ["sweep --r {} " + SMALL],
    ".npz": ["sweep --oracle recorded:{} " + SMALL.replace("10", "3"), "sweep --oracle recorded:{} --quiet"],
}
MUTATIONS = {".db": 400, ".csv": 170, ".json": 130, ".parquet": 50, "-matrix.npy": 60, "-r.npy": 60, ".npz": 90}
MUTATIONS |= {"-matrix.txt": 30, "-r.txt": 30}


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return files.good_files(tmp_path_factory.mktemp("good"))


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory, good: dict[str, bytes]) -> str:
    path = tmp_path_factory.mktemp("task") / "a.db"
    path.write_bytes(good[".db"])
    with Store.read(path) as store:
        return store.tasks()[0].id


@pytest.fixture
def give(tmp_path: Path, pairsim_command, task: str) -> Callable[[str, bytes, str], int]:
    """Give a file to a command, look at how it ends, and return the exit code."""
    count = 0

    def run(kind: str, content: bytes, command: str) -> int:
        nonlocal count
        count += 1
        folder = tmp_path / str(count)
        folder.mkdir()
        path = folder / f"file{kind}"
        path.write_bytes(content)
        names = {"{}": str(path), "{new}": str(folder / "new"), "TASK": task}
        words = []
        for word in command.split():
            for name, value in names.items():
                word = word.replace(name, value)  # noqa: PLW2901
            words.append(word)
        ended = pairsim_command(*words)
        assert ended.code in (0, 1, 2), (command, ended)
        lines = ended.err.splitlines()
        assert all(line.startswith("pairsim: ") for line in lines), (command, ended)
        notes = [line for line in lines if "compiling" in line or "a table does not say" in line or "of task" in line]
        assert ended.code == 0 or len(lines) - len(notes) == 1, (command, ended)
        if "--store" not in command or ended.code == 2:
            assert path.read_bytes() == content, (command, ended)
        for left in folder.iterdir():
            assert left == path or (ended.code == 0 and left.stem == "new"), (command, ended, left)
        return ended.code

    return run


@pytest.mark.parametrize("kind", COMMANDS)
def test_good_files_are_read(good: dict[str, bytes], give, kind: str) -> None:
    """The control: what is rejected below is rejected for what was done to it."""
    for command in COMMANDS[kind]:
        assert give(kind, good[kind], command) == 0


@pytest.mark.parametrize("kind", MUTATIONS)
def test_mutated_files(good: dict[str, bytes], give, kind: str) -> None:
    probability = random.Random(kind)
    codes = []
    for number in range(MUTATIONS[kind]):
        command = COMMANDS[kind][number % len(COMMANDS[kind])]
        codes.append(give(kind, files.mutated(good[kind], probability), command))
    assert codes.count(2) > len(codes) / 4
    assert sum(MUTATIONS.values()) >= 1000


@pytest.mark.parametrize("kind", sorted(files.harmful_files()))
def test_harmful_files(give, kind: str) -> None:
    for number, content in enumerate(files.harmful_files()[kind]):
        give(kind, content, COMMANDS[kind][number % len(COMMANDS[kind])])


def test_pickles_are_never_loaded(tmp_path: Path, give, good: dict[str, bytes]) -> None:
    import numpy as np

    marker = tmp_path / "marker"
    pickled = files.pickled_files(marker)
    probability = random.Random("pickles")
    for kind, content in pickled.items():
        for command in COMMANDS[kind.removeprefix("2")]:
            assert give(kind, content, command) == 2
            for _ in range(10):
                give(kind, files.mutated(content, probability), command)
        for name in (".csv", ".json", ".db", ".parquet", "-matrix.txt"):  # under a name that it does not go by
            assert give(name, content, COMMANDS[name][0]) == 2
    assert not marker.exists()
    path = tmp_path / "control.npy"
    path.write_bytes(pickled["-r.npy"])
    np.load(path, allow_pickle=True)
    assert marker.exists()  # the control: loaded, it would have been seen


def test_one_kind_of_file_for_another(good: dict[str, bytes], give) -> None:
    for kind, commands in COMMANDS.items():
        for other, content in good.items():
            if other != kind and {other[-4:], kind[-4:]} not in ({".npy", ".txt"}, {".npy"}, {".txt"}):
                # a store is known by its content, whatever its name
                assert give(kind, content, commands[0]) == (0 if commands is TABLE and other == ".db" else 2)


KINDS = st.sampled_from(sorted(COMMANDS))


@settings(
    derandomize=True, deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(kind=KINDS, content=st.binary(max_size=400), place=st.integers(0, 20), start=st.booleans())
def test_random_bytes(good: dict[str, bytes], give, kind: str, content: bytes, place: int, start: bool) -> None:
    if start:  # what every file of the kind begins with, so that the look at it goes on
        content = good[kind][: 5 * place] + content
    give(kind, content, COMMANDS[kind][place % len(COMMANDS[kind])])
