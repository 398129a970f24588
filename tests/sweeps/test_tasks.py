"""Tasks: the name of a result covers all that determines it, and nothing else; oracles travel as plain data."""

from __future__ import annotations

import dataclasses
import itertools
import json
import pickle

import numpy as np
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st

from pairsim import Adag, Ddag, Matrix, MaxWin, ParameterError, Poll, Recorded, Similarity, TopK, Uniform
from pairsim.decoders import REGISTRY as DECODERS
from pairsim.oracles import REGISTRY as ORACLES
from pairsim.simulation import BlockSimulator
from pairsim.store import Store, TaskRecord, task_id
from pairsim.sweeps import Sweep, make_request, work
from pairsim.sweeps.oracle_records import oracle_of, oracle_record
from pairsim.sweeps.tasks import make_task, task_of
from pairsim.sweeps.work import Context, Unit, play_unit

ROWS = np.random.default_rng(0).integers(0, 2, (10, 3)).astype(bool)
TABLE = [[0.5, 0.9, 0.8], [0.1, 0.5, 0.7], [0.2, 0.3, 0.5]]


def named(oracle, decoder, method="simulated", seed=0):
    return make_task(oracle, oracle_record(oracle), decoder, method, seed).id


def ids(oracles, decoders, **asked):
    """Return the ids of a sweep's rows by (oracle's place, spec)."""
    cells = Sweep(make_request(oracles, decoders, **asked)).cells()
    places = itertools.product(range(len(oracles)), decoders)
    return {(place, decoder.spec): cell.task.id for (place, decoder), cell in zip(places, cells, strict=True)}


def changed(array, place, value):
    copy = np.array(array)
    copy[place] = value
    return copy


def test_everything_that_determines_a_result_changes_its_name():
    r = np.array([0.5, 0.3, 0.2])
    oracles = [
        Uniform(3, 0.9),
        Uniform(4, 0.9),
        Uniform(3, np.nextafter(0.9, 1)),
        Similarity(r),
        *(Similarity(changed(changed(r, a, r[a] + 2**-20), b, r[b] - 2**-20)) for a, b in ((0, 1), (0, 2), (1, 2))),
        Matrix(TABLE),
        *(Matrix(changed(changed(TABLE, (i, j), 0.6), (j, i), 0.4)) for i, j in ((0, 1), (0, 2), (1, 2))),
        *(Recorded(changed(ROWS, (row, pair), ~ROWS[row, pair])) for row in (0, 9) for pair in range(3)),
        Recorded(ROWS),
        Recorded(ROWS[:9]),
        Recorded(ROWS, changed(np.zeros(10, int), 9, 1)),
    ]
    settings_ = [
        decoder for cls in DECODERS.values() for decoder in strategies.every_decoder(3) if type(decoder) is cls
    ]
    seen = [named(oracle, MaxWin()) for oracle in oracles]
    seen += [named(oracles[0], decoder) for decoder in settings_ if decoder != MaxWin()]
    seen += [named(oracles[0], MaxWin(), method="conditional"), named(oracles[0], MaxWin(), method="exact")]
    seen += [named(oracles[0], MaxWin(), seed=seed) for seed in (1, 2**63, 2**64 - 1)]
    assert len(set(seen)) == len(seen)


def test_nothing_else_changes_the_name(tmp_path):
    oracles, decoders = [Similarity([0.5, 0.3, 0.2]), Uniform(5, 0.9)], [MaxWin(), Poll(2), Adag()]
    base = ids(oracles, decoders)
    for other in (
        ids(oracles, decoders, trials=777),
        ids(oracles, decoders, confidence=0.5),
        ids(oracles, decoders, half_width=0.01),
        ids([Similarity([0.5, 0.3, 0.2], label="another"), Uniform(5, 0.9)], decoders),
        ids(oracles, decoders, shard="2/3"),
    ):
        assert other == base
    assert ids(oracles, decoders, seed=1).keys() == base.keys()
    assert not set(ids(oracles, decoders, seed=1).values()) & set(base.values())
    mixed = ids(oracles, [Ddag(), *reversed(decoders), TopK(k=2)])
    assert base.items() <= mixed.items()
    swapped = ids(oracles[::-1], decoders)
    assert {(1 - place, spec): name for (place, spec), name in swapped.items()} == base


def test_names_are_pinned():
    """A change here makes every store that is out there useless: it needs a reason and a word in the changelog."""
    golden = {
        named(Uniform(16, 0.9), MaxWin(), "conditional"): "08bb062346f01d8f3dcd6fdfe3527ca3",
        named(Uniform(512, 0.7), Poll("5log"), "conditional", seed=7): "a01d2cbcb420398c7882cf54012a72a9",
        named(Similarity([0.5, 0.3, 0.2]), TopK(k=2, l=3, final="maxwin")): "7358116770808a7b01072381e99c8dee",
        named(Matrix(TABLE), Adag(order="given"), "exact"): "4d4df151972417e77505c8183961b594",
        named(
            Recorded([[True, True, False], [False, False, True]], [0, 1]), Ddag(), seed=2**64 - 1
        ): "8ca3e7def9d83014b1e38c33976e2531",
    }
    assert list(golden) == list(golden.values())


def test_every_oracle_can_be_kept():
    for cls in ORACLES.values():
        example = cls.example(6)
        assert oracle_of(oracle_record(example)) == example


@pytest.mark.parametrize("name", sorted(ORACLES))
@settings(derandomize=True, deadline=None, max_examples=40)
@given(data=st.data())
def test_oracles_come_back_equal(name, data):
    oracle = data.draw(strategies.oracle_cases(name, data.draw(st.integers(2, 6)))).oracle
    record = oracle_record(oracle)
    again = oracle_of(record)
    assert again == oracle
    assert oracle_record(again).digest == record.digest
    assert named(again, MaxWin()) == named(oracle, MaxWin())
    simulator, twin = (
        BlockSimulator((each,), (MaxWin(), Adag()), ("simulated",) * 2, 0, 3) for each in (oracle, again)
    )
    assert simulator.run(0, 64) == twin.run(0, 64)
    other = data.draw(strategies.oracle_cases(name, oracle.n)).oracle
    assert (oracle_record(other).digest == record.digest) == (other == oracle)


RECORDS = [oracle_record(each) for each in (Uniform(3, 0.9), Similarity([0.6, 0.4]), Matrix(TABLE), Recorded(ROWS))]
BAD_PARAMS = ("", "[]", "null", "{}", "3", '{"n": "x", "p": []}', '{"n": 1e999, "p": 0.5}', '{"n": 1000000000, "p": 2}')
BAD_ARRAYS = (np.zeros(0), np.zeros((2, 2, 2)), np.full(3, np.nan), np.full((10, 1), 9, np.uint8), np.zeros(3, "S3"))


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_hostile_oracles_are_refused(record):
    def refused(**parts):
        with pytest.raises(ParameterError, match="The 'oracle' parameter of store must be"):
            oracle_of(record._replace(**parts))

    refused(name="stranger")
    refused(digest="0" * 32)
    for text in BAD_PARAMS:
        refused(params=text)
    for name, array in itertools.product(record.arrays, BAD_ARRAYS):
        refused(arrays={**record.arrays, name: array})
    for name in record.arrays:
        refused(arrays={key: value for key, value in record.arrays.items() if key != name})
    assert oracle_of(record) is not None  # the record itself is good


@pytest.fixture
def store(tmp_path):
    with Store.create_or_open(tmp_path / "results.db") as opened:
        opened.add_oracles([oracle_record(Uniform(3, 0.9))])
        yield opened


def test_tasks_come_back_equal_and_strangers_do_not(store):
    oracle = Uniform(3, 0.9)
    for decoder in strategies.every_decoder(3):
        task = make_task(oracle, oracle_record(oracle), decoder, "simulated", 5)
        assert task_of(task.record, store) == task
    good = json.loads(make_task(oracle, oracle_record(oracle), Poll(3), "simulated", 5).definition)
    changes = (
        {"decoder": {"name": "stranger"}},
        {"decoder": {"name": "poll", "l": 3}},
        {"decoder": {"name": "poll", "l": -3, "ties": "random"}},
        {"decoder": {"name": "poll", "l": 3, "ties": "random", "more": 1}},
        {"decoder": None},
        {"oracle": "0" * 32},
        {"n": 4},
        {"method": "guessed"},
        {"seed": -1},
        {"seed": 1e999},
        {"seed": "x"},
        {"block": 7},
        {"stream": 0},
        {"more": 1},
    )
    for change in changes:
        text = json.dumps({**good, **change}, sort_keys=True)
        with pytest.raises(ParameterError, match="can compute again"):
            task_of(TaskRecord(task_id(text), text), store)
    for text in ("", "[]", "null", "{}"):
        with pytest.raises(ParameterError, match="can compute again"):
            task_of(TaskRecord(task_id(text), text), store)
    text = json.dumps(good, sort_keys=True)
    with pytest.raises(ParameterError, match="can compute again"):
        task_of(TaskRecord("0" * 32, text), store)  # not its name
    assert task_of(TaskRecord(task_id(text), text), store).decoder == Poll(3)


SIMULATORS = [
    BlockSimulator(
        (Uniform(4, 0.9), Uniform(4, 0.7)), (MaxWin(), Poll(2), Adag()), ("conditional",) * 2 + ("simulated",), 0, 9
    ),
    BlockSimulator((Similarity([0.5, 0.3, 0.2]),), (Ddag(), MaxWin()), ("simulated",) * 2, 1, 2**64 - 1, paired=True),
    BlockSimulator((Recorded(ROWS),), (TopK(k=2),), ("simulated",), -1, 0),
]


def test_a_context_travels_and_arrives_equal():
    context = Context(SIMULATORS)
    again = pickle.loads(pickle.dumps(context))
    for group, simulator in enumerate(SIMULATORS):
        oracles, places = tuple(range(len(simulator.oracles))), tuple(range(len(simulator.decoders)))
        assert again.simulator(group, oracles, places) == simulator
        unit = Unit(1, group, oracles[-1:], places, ((0, 5), (5, 5)), True)
        assert play_unit(again, unit) == play_unit(context, unit)
    part = again.simulator(0, (1,), (0, 2))
    assert part == dataclasses.replace(
        SIMULATORS[0], oracles=(Uniform(4, 0.7),), decoders=(MaxWin(), Adag()), methods=("conditional", "simulated")
    )
    assert again.simulator(0, (0,), (1,)).reference == -1


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("pairsim", "0.0.1", r"pairsim 0\.0\.1, the sweep has pairsim \S+"),
        ("stream", -1, r"pairsim \S+ \(stream -1\), the sweep has pairsim \S+ \(stream \d+\)"),
        ("digits", 99, r"pairsim \S+ \(digits 99\), the sweep has pairsim \S+ \(digits \d+\)"),
        ("sources", "0" * 12, r"pairsim \S+ \(sources 0{12}\), the sweep has pairsim \S+ \(sources \w{12}\)"),
    ],
)
def test_a_context_of_another_version_is_refused(monkeypatch, name, value, told):
    packed = pickle.dumps(Context(SIMULATORS))
    monkeypatch.setattr(work, "OURS", work.OURS._replace(**{name: value}))
    with pytest.raises(RuntimeError, match=f"^this worker has {told}$"):
        pickle.loads(packed)
