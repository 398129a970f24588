"""A store as version 0.2.0 wrote it: its records, number by number.

Its quick, champion and radag settled equals by class number, and its ties=first and order=given read the numbers of the
uniform and the ranked oracle. These tasks have other names now.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from pairsim.store import BlockRecord, OracleRecord, PairRecord, Request, Run, Store, TaskRecord, task_id
from pairsim.sweeps.block_results import agreement_key

NAN = math.nan
TRIALS = 200
UNIFORM, RANKED, SIMILARITY = (
    OracleRecord("80c1e512221fbccf698620c54ae15d2b", "uniform", '{"n": 5, "p": 0.8}', {}),
    OracleRecord(
        "e2540672c5fd8d8d07f19e3aae4cd80f", "ranked", '{"difficulty": 0.6, "n": 5, "order": 0.95, "p": 0.8}', {}
    ),
    OracleRecord("f22b120c1c8203b7e494409822cba23e", "similarity", '{"n": 4}', {"r": np.array([0.4, 0.3, 0.2, 0.1])}),
)
FIRST = {"name": "max-win", "ties": "first"}
QUICK = {"name": "quick", "ties": "random"}
GIVEN = {"name": "adag", "order": "given"}
POLL = {"l": 2, "name": "poll", "ties": "random"}
TOP_K = {"final": "rescore", "k": 2, "l": 2, "name": "top-k", "ties": "first"}
LABELS = {
    UNIFORM.digest: "uniform",
    RANKED.digest: "ranked:order=0.95,difficulty=0.6",
    SIMILARITY.digest: "similarity",
}

# id, oracle, decoder, how its row is shown, block, place of the reference, agreements with it
ROWS: list[tuple[str, OracleRecord, dict[str, Any], str, tuple[float, ...], int, float]] = [
    (
        *("8fd22e97431068c49f5d66b03c2b19b0", UNIFORM, {"name": "max-win", "ties": "random"}, "conditional"),
        *((0.0, 0.3692330666666666, 1.2948468312746655, -0.007289825878384191, 2000.0, 2000.0, 200.0), 0, 200.0),
    ),
    (
        *("e6fbe27d4751bd7a2ad99e07bced80e5", UNIFORM, POLL, "conditional"),
        *((0.0, 0.5294900957743327, 8.741461708963934, 0.4502577337513427, 2000.0, 1367.1875, 200.0), 0),
        107.62122217814128,
    ),
    (
        *("47c452f34b3e9cf0e07357f44ce0d40d", UNIFORM, QUICK, "simulated"),
        *((71.0, NAN, NAN, NAN, 1261.0, 1261.0, 1261.0), 0, 200.0),
    ),
    (
        *("78767c94f968a93c7ea48d34eda8d727", UNIFORM, {"name": "champion", "order": "random", "ties": "any"}),
        *("simulated", (64.0, NAN, NAN, NAN, 1207.0, 1207.0, 835.0), 0, 162.0),
    ),
    (
        *("183ada3e598fd249ca961947db4066e6", UNIFORM, {"errors": None, "name": "radag"}, "simulated"),
        *((89.0, NAN, NAN, NAN, 800.0, 800.0, 600.0), 0, 143.0),
    ),
    (
        *("746410ac3dc785733368ad21f4999f51", UNIFORM, FIRST, "conditional"),
        *((0.0, 0.2212479999999999, 0.7502036991999999, -0.00031600221880306433, 2000.0, 2000.0, 200.0), 0, 166.0),
    ),
    (
        *("4f3be735ebaf4443387ef62a287cf8e5", UNIFORM, TOP_K, "conditional"),
        *((45.0, NAN, NAN, NAN, 3600.0, 1725.0, 400.0), 0, 154.0),
    ),
    (
        *("28c49ef47f0bbc675cc4bccf0e0935a5", UNIFORM, GIVEN, "simulated"),
        *((89.0, NAN, NAN, NAN, 800.0, 800.0, 600.0), 0, 143.0),
    ),
    (
        *("b4acf69cac5c4348c95cdd23c298ad0b", UNIFORM, {"name": "adag", "order": "random"}, "exact"),
        *((75.0, NAN, NAN, NAN, 800.0, 800.0, 600.0), 0, 146.0),
    ),
    (
        *("d640cb6669d5461dd82a90105a990a75", SIMILARITY, FIRST, "simulated"),
        *((79.0, NAN, NAN, NAN, 1200.0, 1200.0, 200.0), 9, 200.0),
    ),
    (
        *("c11c8b72485138d1b2ececebbe94a305", SIMILARITY, QUICK, "simulated"),
        *((120.0, NAN, NAN, NAN, 905.0, 905.0, 905.0), 9, 149.0),
    ),
    (
        *("0e043d95bce2a4aafd872b58ccca8389", SIMILARITY, GIVEN, "simulated"),
        *((105.0, NAN, NAN, NAN, 600.0, 600.0, 400.0), 9, 165.0),
    ),
    (
        *("05285c2306f768ba2666a033f2bb2acc", RANKED, POLL, "conditional"),
        *((0.0, 0.588925629933675, 12.91363271322047, 1.4776054742832367, 2000.0, 1367.1875, 200.0), 13),
        124.98156458536788,
    ),
    (
        *("138edf3fe17d6f09b5b4270850f82822", RANKED, FIRST, "simulated"),
        *((86.0, NAN, NAN, NAN, 2000.0, 2000.0, 200.0), 13, 200.0),
    ),
]


def write_old_store(path: Path, rows: tuple[int, ...] = tuple(range(len(ROWS)))) -> None:
    """Write these rows, and the tasks that they are compared with."""
    with Store.create_or_open(path) as store:
        store.add_oracles([UNIFORM, RANKED, SIMILARITY])
        store.add_tasks(TaskRecord(ROWS[at][0], definition_of(at)) for at in (*rows, *{ROWS[at][5] for at in rows}))
        store.put_requests(_request_of(at) for at in rows)
        store.record([BlockRecord(ROWS[at][0], 0, TRIALS, ROWS[at][4]) for at in rows], map(_agreement_of, rows))
        versions = '{"pairsim": "0.2.0", "stream": 1, "python": "3.11.7", "numpy": "2.4.6", "numba": "0.68.1"}'
        store.add_run(Run("2026-11-18T12:00:00.000000+00:00", "from Python", versions, "host (linux)"))


def definition_of(at: int) -> str:
    """Return the definition of a row's task as 0.2.0 wrote it."""
    task, oracle, decoder, _, block, _, _ = ROWS[at]
    n = json.loads(oracle.params)["n"]
    smooth = decoder["name"] == "top-k" or block[1] == block[1]
    method = {"method": "conditional", "digits": 2} if smooth else {"method": "simulated"}
    parts = {"block": 65536, "decoder": decoder, **method, "n": n, "oracle": oracle.digest, "seed": 1, "stream": 1}
    definition = json.dumps(parts, sort_keys=True)
    assert task_id(definition) == task, "not what 0.2.0 wrote"
    return definition


def write_with_old_quick(source: Path, target: Path) -> None:
    """Copy a store to a new one in which quick is named as in 0.2.0: without an order and without a version."""
    with Store.read(source) as new, Store.create_or_open(target) as old:
        names = {record.id: _with_old_quick(record) for record in new.tasks()}
        old.add_oracles(map(new.oracle, new.oracles()))
        old.add_tasks(names.values())
        old.put_requests(
            request._replace(task=names[request.task].id, reference=names[request.reference].id)
            for request in new.requests()
        )
        old.record(record._replace(task=names[record.task].id) for record in new.all_blocks())


def _with_old_quick(record: TaskRecord) -> TaskRecord:
    parts = json.loads(record.definition)
    if parts["decoder"]["name"] == "quick":
        parts["decoder"] = QUICK
    definition = json.dumps(parts, sort_keys=True)
    return TaskRecord(task_id(definition), definition)


def _request_of(at: int) -> Request:
    task, oracle, _, shown, _, reference, _ = ROWS[at]
    rule = {"failures": None, "half_width": None, "relative": False, "trials": TRIALS}
    settings = {"confidence": 0.95, "label": LABELS[oracle.digest], "shown": shown, **rule}
    return Request(at, task, ROWS[reference][0], json.dumps(settings, sort_keys=True))


def _agreement_of(at: int) -> PairRecord:
    reference, agreements = ROWS[at][5:]
    return PairRecord(*agreement_key(ROWS[at][0], ROWS[reference][0]), 0, TRIALS, (agreements,))
