"""The kernel cache: never stale, never needed. And adaptive decoders at 100,000 classes, without any n x n table."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pairsim
from pairsim import Adag, Ddag, Poll, Uniform, simulate

PACKAGE = Path(pairsim.__file__).parent
DIGEST = "from pairsim.kernels.jit import source_digest; print(source_digest())"


def run(program: str, root: Path, **environment: str) -> str:
    variables = os.environ | {"PYTHONPATH": str(root)} | environment
    command = [sys.executable, "-c", program]  # python -c looks in the working directory first
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=variables, cwd=root)
    return done.stdout.strip()


def test_an_edited_callee_in_another_file_means_another_cache(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "pairsim", ignore=shutil.ignore_patterns("__pycache__"))
    before = run(DIGEST, tmp_path)
    assert before == run(DIGEST, tmp_path)
    for name in ("kernels/ties.py", "kernels/protocol.py", "decoders/order.py", "oracles/uniform.py"):
        edited = tmp_path / "pairsim" / name
        edited.write_text(edited.read_text() + "\n# edited\n")
        after = run(DIGEST, tmp_path)
        assert after != before
        before = after
    (tmp_path / "pairsim" / "plots" / "style.py").write_text("# holds no kernel\n")
    assert run(DIGEST, tmp_path) == before


def test_kernels_are_served_from_the_cache_and_work_without_one(tmp_path):
    program = (
        "from pairsim.simulation import watch_compiler\n"
        "watch = watch_compiler()\n"
        "from pairsim import Ddag, Matrix, Uniform, simulate\n"
        "oracle = Matrix(Uniform(6, 0.8).matrix())\n"
        "print(simulate(oracle, Ddag(), 500, method='simulated').success, watch.kernels > 0)"
    )
    first = run(program, PACKAGE.parent, PAIRSIM_CACHE_DIR=str(tmp_path / "made" / "for" / "it"))
    again = run(program, PACKAGE.parent, PAIRSIM_CACHE_DIR=str(tmp_path / "made" / "for" / "it"))
    (tmp_path / "a file").write_text("")
    without = run(program, PACKAGE.parent, PAIRSIM_CACHE_DIR=str(tmp_path / "a file" / "below"))
    assert first.split()[1] == "True"  # compiled
    assert again.split() == [first.split()[0], "False"]  # loaded
    assert without == first


def test_warm_says_what_it_did_or_why_it_cannot(pairsim_command):
    outcome = pairsim_command("warm")
    assert outcome.code == 0
    assert "kernels compiled" in outcome.out


@pytest.mark.parametrize("decoder", [Ddag(), Adag(), Poll(3)], ids=repr)
def test_a_hundred_thousand_classes(decoder):
    """Time and memory follow the queries: a table of pairs would take 625 MB as bits alone."""
    estimate = simulate(Uniform(100_000, 0.999), decoder, 20, method="simulated")
    assert estimate.queries == decoder.cost(100_000).queries
    assert estimate.distinct <= estimate.queries
    if isinstance(decoder, Adag):
        assert estimate.high > 0.999**17
