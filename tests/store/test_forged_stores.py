"""Stores with right checksums whose content no sweep has written: rejected in one line, and never worked through."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import hostile_files
import numpy as np
import pytest

from pairsim import Ddag, Matrix, MaxWin, Recorded, Uniform, sweep
from pairsim.store import BlockRecord, OracleRecord, PairRecord, Request, Store, TaskRecord, task_id
from pairsim.sweeps.block_results import agreement_key

GRID = ["--p", "0.7", "--n", "4", "--trials", "60", "--decoder", "max-win", "--decoder", "ddag"]
COMMANDS = {
    "show": ["show", "STORE"],
    "show tasks": ["show", "STORE", "--tasks"],
    "export": ["export", "STORE", "--out", "NEW.csv"],
    "plot": ["plot", "STORE", "--out", "NEW.svg"],
    "compare": ["compare", "STORE", "max-win", "ddag"],
    "verify": ["verify", "STORE"],
    "replay": ["replay", "STORE", "--task", "TASK", "--trial", "2"],
    "sweep": ["sweep", *GRID, "--quiet", "--store", "STORE"],
}
ORACLES = {
    "uniform": Uniform(4, 0.7),
    "matrix": Matrix([[0.5, 0.9, 0.8], [0.1, 0.5, 0.6], [0.2, 0.4, 0.5]]),
    "recorded": Recorded.of(Uniform(4, 0.7), 50),
}


pytestmark = pytest.mark.usefixtures("commands_built_once")
commands_built_once = hostile_files.commands_built_once


def forge(path: Path, kind: str, what: str, change: Any) -> str:
    """Make a store as a sweep would, but for one thing; return the id of a task in it."""
    source = path.with_name("source.db")
    sweep([ORACLES[kind]], [MaxWin(), Ddag()], trials=50, store=source, method="simulated")
    with Store.read(source) as good, Store.create_or_open(path) as forged:
        (digest,) = good.oracles()
        oracle = good.oracle(digest)
        if what == "oracle":
            oracle = change(oracle)
        forged.add_oracles([oracle])
        new_ids = {}
        for task in good.tasks():
            definition = json.loads(task.definition)
            text = json.dumps(change(definition) if what == "task" else definition, sort_keys=True)
            new_ids[task.id] = task_id(text)
            forged.add_tasks([TaskRecord(task_id(text), text)])
        for request in good.requests():
            settings = json.loads(request.settings)
            text = json.dumps(change(settings) if what == "request" else settings)
            reference = new_ids[request.reference] if request.reference else None
            forged.put_requests([Request(request.place, new_ids[request.task], reference, text)])
        for block in good.all_blocks():
            block = block._replace(task=new_ids[block.task])  # noqa: PLW2901
            forged.record([change(block) if what == "block" else block])
        for pair in good.all_pairs():
            if what != "pair" and (what, kind) != ("task", kind):
                forged.record([], [pair])
        if what == "pair":
            first, second = new_ids.values()
            for key in (agreement_key(first, second), agreement_key(first, first), tuple(sorted((first, second)))):
                forged.record([], [change(PairRecord(*key, 0, 50, (25.0,)))])
    source.unlink()
    return next(iter(new_ids.values()))


def put(**parts: Any) -> Any:
    return lambda record: record | parts


def decoded_by(**settings: Any) -> Any:
    return lambda record: record | {"decoder": settings} if record["decoder"]["name"] == "ddag" else record


def oracle_with(params: dict[str, Any] | None = None, **arrays: Any) -> Any:
    def change(record: OracleRecord) -> OracleRecord:
        text = json.dumps(json.loads(record.params) | params) if params else record.params
        return record._replace(params=text, arrays=record.arrays | arrays)

    return change


def block_with(**parts: Any) -> Any:
    return lambda record: record._replace(**parts)


def values_with(place: int, value: float) -> Any:
    def change(block: BlockRecord) -> BlockRecord:
        values = list(block.values)
        values[place] = value
        return block._replace(values=tuple(values))

    return change


HUGE = 1 << 60
FORGED = {
    "huge request": ("uniform", "request", put(trials=HUGE)),
    "too huge request": ("uniform", "request", put(trials=1 << 80)),
    "wordy request": ("uniform", "request", put(trials="50")),
    "bold request": ("uniform", "request", put(confidence=10**400)),
    "sure request": ("uniform", "request", put(confidence=1)),
    "other request": ("uniform", "request", lambda record: [record]),
    "longer request": ("uniform", "request", put(more=1)),
    "request of more than is recorded": ("recorded", "request", put(trials=10_000)),
    "marked request": ("uniform", "request", put(label="[/red][bold]\n\x1b[31m $\\frac{")),
    "rule that is none": ("uniform", "request", put(half_width=2.0)),
    "rule": ("uniform", "request", put(half_width=1e-9, trials=HUGE)),
    "conditional request": ("uniform", "request", put(shown="conditional")),
    "exact request": ("matrix", "request", put(shown="exact")),
    "negative seed": ("uniform", "task", put(seed=-1)),
    "huge seed": ("uniform", "task", put(seed=1 << 70)),
    "broken seed": ("uniform", "task", put(seed=0.5)),
    "endless seed": ("uniform", "task", put(seed=math.inf)),
    "other n": ("uniform", "task", put(n=5)),
    "other block size": ("uniform", "task", put(block=100)),
    "other stream": ("uniform", "task", put(stream=999)),
    "no such decoder": ("uniform", "task", decoded_by(name="os.system")),
    "odd decoder": ("uniform", "task", decoded_by(name=["max-win"])),
    "odd setting": ("uniform", "task", decoded_by(name="poll", l=1e308)),
    "decoder that does not fit": ("uniform", "task", decoded_by(name="top-k", k=50)),
    "no such method": ("uniform", "task", put(method="magic")),
    "method that is a list": ("uniform", "task", put(method=["simulated"])),
    "method that does not fit": ("matrix", "task", put(method="conditional")),
    "no decoder": ("uniform", "task", decoded_by()),
    "no oracle": ("uniform", "task", put(oracle="00")),
    "matrix that fills the memory": ("matrix", "oracle", oracle_with({"n": 10_000_000})),
    "matrix with n to infinity": ("matrix", "oracle", oracle_with({"n": math.inf})),
    "recording that fills the memory": ("recorded", "oracle", oracle_with({"n": 3_000_000})),
    "recording of another class": ("recorded", "oracle", oracle_with(truth=np.full(50, 77))),
    "recording of one dimension": ("recorded", "oracle", oracle_with(bits=np.zeros(50, np.uint8))),
    "many classes": ("uniform", "oracle", oracle_with({"n": HUGE})),
    "impossible probability": ("uniform", "oracle", oracle_with({"p": 7.0})),
    "oracle that is a list": ("uniform", "oracle", lambda record: record._replace(params="[1]")),
    "oracle of no kind": ("uniform", "oracle", lambda record: record._replace(name="os.system")),
    "block far away": ("uniform", "block", block_with(block=1 << 61)),
    "block beyond what is recorded": ("recorded", "block", block_with(block=3)),
    "block of too many trials": ("uniform", "block", block_with(trials=HUGE)),
    "recorded block of too many trials": ("recorded", "block", block_with(trials=51)),
    "no values": ("uniform", "block", block_with(values=())),
    "many values": ("uniform", "block", block_with(values=(1.0,) * 1000)),
    "more failures than trials": ("uniform", "block", values_with(0, 51.0)),
    "negative failures": ("uniform", "block", values_with(0, -1.0)),
    "endless failures": ("uniform", "block", values_with(0, math.inf)),
    "impossible mean": ("uniform", "block", values_with(1, 1e300)),
    "impossible cost": ("uniform", "block", values_with(4, math.nan)),
    "negative cost": ("uniform", "block", values_with(5, -1.0)),
    "more agreements than trials": ("uniform", "pair", block_with(values=(51.0,))),
    "endless agreements": ("uniform", "pair", block_with(values=(math.inf,))),
    "other agreements": ("uniform", "pair", block_with(values=(1.0, math.nan, 3.0, 4.0, 5.0))),
}
HARMLESS = ("huge request", "marked request", "rule", "conditional request", "exact request", "block far away")


@pytest.mark.parametrize("name", FORGED)
def test_forged_stores(tmp_path: Path, pairsim_command, name: str) -> None:
    path = tmp_path / "a.db"
    task = forge(path, *FORGED[name])
    before = path.read_bytes()
    refused = 0
    for command, words in COMMANDS.items():
        places = {"STORE": str(path), "NEW.csv": str(tmp_path / "new.csv"), "NEW.svg": str(tmp_path / "new.svg")}
        ended = pairsim_command(*(places.get(word, task if word == "TASK" else word) for word in words))
        assert ended.code in (0, 1, 2), (command, ended)
        lines = [line for line in ended.err.splitlines() if " of task " not in line]  # verify tells of each block
        assert ended.code == 0 or len(lines) == 1, (command, ended)
        assert all(line.startswith("pairsim: ") for line in lines), (command, ended)
        refused += ended.code != 0
        if command != "sweep":
            assert path.read_bytes() == before
    assert refused or name in HARMLESS


def test_nothing_forged_is_fine(tmp_path: Path, pairsim_command) -> None:
    """The control: the same stores without the change are read by every command."""
    for kind in ORACLES:
        path = tmp_path / f"{kind}.db"
        task = forge(path, kind, "nothing", None)
        for words in COMMANDS.values():
            places = {"STORE": str(path), "NEW.csv": str(tmp_path / "new.csv"), "NEW.svg": str(tmp_path / "new.svg")}
            ended = pairsim_command(*(places.get(word, task if word == "TASK" else word) for word in words))
            assert ended.code == 0, ended
