"""The kernels as plain Python: without the compiler they decide the same, so a debugger and coverage can see them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from decisions import decide
from strategies import every_decoder

import pairsim
from pairsim import Matrix, Oracle, Ranked, Recorded, Similarity, Uniform
from pairsim.decoders import REGISTRY as DECODERS
from pairsim.oracles import REGISTRY as ORACLES

SEED, FIRST, COUNT = 2**63 + 5, 62, 4  # a seed with the top bit set, and trials on both sides of a word's border
Decisions = dict[str, list[object]]

# numpy tells of every overflow of a scalar; wrapping round is what the generator's arithmetic is made of
QUIET = "ignore:overflow encountered:RuntimeWarning"


def oracles() -> list[Oracle]:
    probabilities = [[0.5, 0.7, 0.4, 1 / 3], [0.3, 0.5, 0.9, 0.55], [0.6, 0.1, 0.5, 0.25], [2 / 3, 0.45, 0.75, 0.5]]
    rows = [[bool(row * 37 >> pair & 1) for pair in range(6)] for row in range(FIRST + COUNT)]
    own = [Uniform(4, 0.7), Similarity([0.4, 0.3, 0.3, 0.0]), Matrix(probabilities), Ranked(4, 0.8), Recorded(rows)]
    return own + [cls.example(4) for name, cls in ORACLES.items() if name not in {each.name for each in own}]


def every_decision() -> Decisions:
    """Return winners and cost of each decoder on each oracle, as JSON knows them."""
    return {
        f"{decoder.spec} on {oracle.name}": [winners, list(spent)]
        for oracle in oracles()
        for decoder in every_decoder(4)
        for winners, spent in [decide(oracle, decoder, COUNT, SEED, FIRST)]
    }


def decide_without_compiler(cache: Path) -> subprocess.CompletedProcess[str]:
    script = (
        "import json, numba, test_jit_off as here\n"
        "assert numba.config.DISABLE_JIT\n"
        "print(json.dumps(here.every_decision()))"
    )
    homes = [str(Path(__file__).parent), str(Path(__file__).parents[1]), str(Path(pairsim.__file__).parents[1])]
    env = os.environ | {
        "NUMBA_DISABLE_JIT": "1",
        "PAIRSIM_CACHE_DIR": str(cache),
        "PYTHONPATH": os.pathsep.join(homes),
    }
    command = [sys.executable, "-W", QUIET, "-c", script]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=300)


def test_decisions_do_not_depend_on_the_compiler(tmp_path: Path) -> None:
    assert {oracle.name for oracle in oracles()} == set(ORACLES)
    ran = decide_without_compiler(tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    interpreted: Decisions = json.loads(ran.stdout)
    compiled = every_decision()
    assert interpreted.keys() == compiled.keys()
    assert len(compiled) == len(ORACLES) * len(every_decoder(4))
    assert {name.split(":")[0].split(" ")[0] for name in compiled} == set(DECODERS)
    assert [name for name in compiled if compiled[name] != interpreted[name]] == []
    for oracle in oracles():
        for rule in ("", ":ties=lose", ":ties=first"):  # who names whom max-win names does so without the compiler too
            winners = interpreted[f"max-win{rule} on {oracle.name}"][0]
            assert interpreted[f"quick{rule} on {oracle.name}"][0] == winners
            assert interpreted[f"champion{rule} on {oracle.name}"][0] == winners


def test_a_difference_would_show() -> None:
    """Negative control: the decisions compared are not all alike."""
    found = every_decision()
    assert len({json.dumps(decision) for decision in found.values()}) > len(found) // 3
