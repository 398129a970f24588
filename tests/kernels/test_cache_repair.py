"""A damaged kernel cache: the right numbers, one line, and it is whole again afterwards."""

from __future__ import annotations

import errno
import os
import random
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from cache_processes import COMPILING, ROOT, SWEEP, copy_cache, entries, planted_pickle, run_pairsim, run_python

from pairsim.kernels.sealed_files import KEY_NAME, SealedFiles

PASCAL = (
    "from pairsim.simulation import watch_compiler\n"
    "watch = watch_compiler()\n"
    "from pairsim.exact_values.exchangeable import pascal\n"
    "print(pascal(4)[4].tolist(), watch.kernels > 0)\n"
)
ROW = "[1, 4, 6, 4, 1]"  # what PASCAL prints, and whether it was compiled


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A cache that has what `SWEEP` needs, and what that prints."""
    cache = tmp_path_factory.mktemp("swept") / "cache"
    done = run_pairsim(cache, *SWEEP)
    assert done.returncode == 0, done.stderr
    assert COMPILING in done.stderr
    return cache, done.stdout


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with one small kernel."""
    cache = tmp_path_factory.mktemp("tiny") / "cache"
    done = run_python(PASCAL, cache)
    assert (done.stdout, done.stderr) == (f"{ROW} True\n", "")
    return cache


def flip_bit(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place // 8] ^= 1 << place % 8
    path.write_bytes(data)


def flip(path: Path) -> None:
    flip_bit(path, path.stat().st_size * 4)


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def empty(path: Path) -> None:
    os.truncate(path, 0)


def plant(path: Path) -> None:
    path.write_bytes(planted_pickle(path.parents[2] / "marker"))


def seal_nonsense(path: Path) -> None:
    """It verifies, but cannot be loaded."""
    SealedFiles(path.parent).write(path.name, b"nonsense")


def seal_nothing(path: Path) -> None:
    """It verifies and is a pickle, but of nothing that numba knows."""
    SealedFiles(path.parent).write(path.name, b"\x80\x04N.")


def damage_key(path: Path) -> None:
    flip(path.parent / KEY_NAME)


def test_a_sweep_with_flipped_bits_is_right_says_so_once_and_repairs(swept, tmp_path):
    cache = copy_cache(swept[0], tmp_path / "cache")
    assert len(entries(cache)) >= 2
    for path in entries(cache):
        flip(path)
    repaired = run_pairsim(cache, *SWEEP)
    assert (repaired.returncode, repaired.stdout) == (0, swept[1])
    lines = [line for line in repaired.stderr.splitlines() if COMPILING not in line]
    assert len(lines) == 1
    assert lines[0].startswith("pairsim: a file of the kernel cache is damaged; removed and compiled again: ")
    again = run_pairsim(cache, *SWEEP)
    assert (again.returncode, again.stdout, again.stderr) == (0, swept[1], "")


@pytest.mark.parametrize("damage", [empty, damage_key], ids=lambda each: each.__name__)
def test_the_next_process_finds_it_whole_again(tiny, tmp_path, damage: Callable[[Path], None]):
    cache = copy_cache(tiny, tmp_path / "cache")
    damage(entries(cache)[0])
    repaired = run_python(PASCAL, cache)
    assert (repaired.returncode, repaired.stdout) == (0, f"{ROW} True\n")
    (line,) = repaired.stderr.splitlines()
    assert line.startswith("pairsim: a file of the kernel cache is damaged")
    again = run_python(PASCAL, cache)
    assert (again.stdout, again.stderr) == (f"{ROW} False\n", "")


def damage_and_repair(cache: Path) -> None:
    """Damage a cache in many ways; after each, print what a kernel gives and whether it was compiled, twice."""
    from pairsim.exact_values.exchangeable import pascal
    from pairsim.kernels.jit import jit
    from pairsim.simulation import watch_compiler

    watch = watch_compiler()
    places = random.Random(5).sample(range(entries(cache)[0].stat().st_size * 8), 12)
    damages = [partial(flip_bit, place=place) for place in places]
    for damage in (*damages, cut, empty, plant, seal_nonsense, seal_nothing):
        (entry,) = entries(cache)
        damage(entry)
        for _ in range(2):
            before = watch.kernels
            row = jit(pascal.py_func)(4)[4].tolist()  # a new dispatcher: it has nothing but the cache
            print(row, watch.kernels > before)


def test_whatever_the_damage(tiny, tmp_path):
    cache = copy_cache(tiny, tmp_path / "cache")
    program = (
        f"from pathlib import Path; import test_cache_repair as here; here.damage_and_repair(Path({str(cache)!r}))"
    )
    done = run_python(
        program,
        cache,
        PYTHONPATH=os.pathsep.join([str(ROOT), str(Path(__file__).parents[1]), str(Path(__file__).parent)]),
    )
    assert (done.returncode, done.stdout) == (0, f"{ROW} True\n{ROW} False\n" * 17)
    assert done.stderr.count("\n") == 1  # one line for all of it
    assert not (tmp_path / "marker").exists()


def test_a_full_disk_costs_the_cache_only(tmp_path):
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
    ignore = "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    done = run_python(limit + ignore + PASCAL, tmp_path / "cache")
    assert (done.returncode, done.stdout) == (0, f"{ROW} True\n")
    assert done.stderr.count("\n") == 1
    assert os.strerror(errno.EFBIG) in done.stderr
    assert entries(tmp_path / "cache") == []
    assert list((tmp_path / "cache").rglob("*.tmp")) == []


def test_code_that_was_edited_under_a_process_is_not_kept_as_the_new_one(tmp_path):
    """The directory is named by the sources; what was imported before an edit must not be found after it."""
    shutil.copytree(ROOT / "pairsim", tmp_path / "pairsim", ignore=shutil.ignore_patterns("__pycache__"))
    edit = (
        "import pairsim.exact_values.exchangeable\n"
        f"with open({str(tmp_path / 'pairsim' / 'kernels' / 'ties.py')!r}, 'a') as file:\n"
        "    file.write('# edited\\n')\n"
    )
    first = run_python(edit + PASCAL, tmp_path / "cache", PYTHONPATH=str(tmp_path))
    assert (first.stdout, first.stderr) == (f"{ROW} True\n", "")
    assert entries(tmp_path / "cache") == []
    second = run_python(PASCAL, tmp_path / "cache", PYTHONPATH=str(tmp_path))
    assert (second.stdout, len(entries(tmp_path / "cache"))) == (f"{ROW} True\n", 1)
