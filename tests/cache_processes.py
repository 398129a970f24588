"""Commands as processes of their own, with a kernel cache of their own."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pairsim

ROOT = Path(pairsim.__file__).parents[1]
PATIENCE = 300.0  # seconds until a process that should have ended is taken for hanging
COMPILING = "compiling kernels"
SWEEP = ["sweep", "--p", "0.7", "--n", "8", "--decoder", "ddag", "--method", "simulated", "--format", "csv"]


def environment(cache: Path | None, **changes: str) -> dict[str, str]:
    """Return an environment with this pairsim, this cache and no fallback that outlives the test."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("PAIRSIM_", "XDG_"))}
    chosen = {} if cache is None else {"PAIRSIM_CACHE_DIR": str(cache)}
    return plain | {"PYTHONPATH": str(ROOT)} | chosen | changes


def run_pairsim(cache: Path | None, *words: str, **changes: str) -> subprocess.CompletedProcess[str]:
    """Run `pairsim *words`."""
    return run_python("from pairsim.cli import run; run()", cache, *words, **changes)


def run_python(program: str, cache: Path | None, *words: str, **changes: str) -> subprocess.CompletedProcess[str]:
    """Run a program, from a directory without any module."""
    return subprocess.run(
        [sys.executable, "-P", "-c", program, *words],
        env=environment(cache, **changes),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


def entries(cache: Path) -> list[Path]:
    """Return the files that hold machine code, or lead to it, the smallest first."""
    found = [path for path in cache.glob("kernels-*/*") if path.suffix in (".nbc", ".nbi")]
    return sorted(found, key=lambda path: path.stat().st_size)


def copy_cache(cache: Path, target: Path) -> Path:
    """Copy a cache with the modes of its files."""
    shutil.copytree(cache, target)
    return target


class Planted:
    """An object whose pickle makes a file when it is read."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.marker,)


def planted_pickle(marker: Path) -> bytes:
    """Return a pickle that makes the file `marker` when it is read."""
    return pickle.dumps(Planted(marker))
