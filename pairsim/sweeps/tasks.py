"""Tasks: one decoder on one oracle, named by a hash of all that determines its result and of nothing else."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from pairsim.decoders import REGISTRY, Decoder
from pairsim.errors import ParameterError, refusal
from pairsim.oracles import Oracle, Uniform
from pairsim.simulation import STREAM_VERSION, Bench, block_trials, check_seed, make_bench
from pairsim.simulation.conditional import DIGITS_VERSION
from pairsim.simulation.methods import has_conditional
from pairsim.store import OracleRecord, Store, TaskRecord, task_id, task_kind
from pairsim.sweeps.oracle_records import oracle_of, oracle_record

TRIALS_LIMIT = 1 << 62  # the places of trials in the random stream are 64-bit numbers


@dataclasses.dataclass(frozen=True)
class Task:
    """One decoder on one oracle, by one method, under one seed.

    The number of trials, labels, notes, threads and other decoders are no part of it.
    """

    oracle: Oracle
    oracle_digest: str
    decoder: Decoder
    method: str
    seed: int
    definition: str
    id: str

    @property
    def record(self) -> TaskRecord:
        """The task as the store keeps it."""
        return TaskRecord(self.id, self.definition)


def make_task(oracle: Oracle, record: OracleRecord, decoder: Decoder, method: str, seed: int) -> Task:
    """Return the task with its name."""
    settings = {field.name: getattr(decoder, field.name) for field in dataclasses.fields(decoder)}
    parts: dict[str, Any] = {
        "oracle": record.digest,
        "n": oracle.n,
        "decoder": {"name": decoder.name, **settings},
        "method": method,
        "seed": seed,
        "block": block_trials(oracle.n),
        "stream": STREAM_VERSION,
    }
    if method == "conditional":  # counts are whole numbers; sums of chances have last digits of their own
        parts["digits"] = DIGITS_VERSION
    definition = json.dumps(parts, sort_keys=True)
    return Task(oracle, record.digest, decoder, method, seed, definition, task_id(definition))


def task_of(record: TaskRecord, store: Store) -> Task:
    """Return the task that a store holds; refuse one that this version of pairsim would not compute alike."""
    if task_kind(record.definition) != "sweep":
        raise refusal(
            "store", "task", "one of a sweep, which can be played again", f"an {task_kind(record.definition)}"
        )
    try:
        parts: dict[str, Any] = json.loads(record.definition)
        settings = dict(parts["decoder"])
        decoder = REGISTRY[settings.pop("name")](**settings)
        oracle = oracle_of(store.oracle(parts["oracle"]))
        decoder.cost(oracle.n)  # refuses a decoder that does not fit the number of classes
        if parts["method"] not in _methods_of(oracle, decoder):
            raise ValueError
        seed = check_seed("store", parts["seed"])
        task = make_task(oracle, oracle_record(oracle), decoder, parts["method"], seed)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, ParameterError):
        task = None
    if task is None or task.id != record.id:
        must_be = "one that this version of pairsim can compute again"
        raise refusal("store", "task", must_be, f"{record.id} ({record.definition[:200]})")
    return task


def _methods_of(oracle: Oracle, decoder: Decoder) -> tuple[str, ...]:
    """Return the methods by which blocks of such a task can have been played; "exact" is one that has none."""
    return ("simulated", "exact", "conditional") if has_conditional(oracle, decoder) else ("simulated", "exact")


@dataclasses.dataclass(frozen=True)
class Group:
    """Oracles with one n that are simulated together: their bench, and the task of each (oracle, decoder) on it.

    The first `len(shown)` decoders are those that were asked for; `shown` says by which method each is reported. A
    max-win that is only there to be compared with may follow them. `bench` has no decoders when all is exact.
    """

    bench: Bench
    decoders: tuple[Decoder, ...]
    shown: tuple[str, ...]
    places: tuple[int, ...]  # of the oracles in the grid
    tasks: tuple[tuple[Task, ...], ...]
    records: tuple[OracleRecord, ...]


def make_groups(
    oracles: Sequence[Oracle], decoders: Sequence[Decoder], trials: Sequence[int], method: str, seed: int, paired: bool
) -> list[Group]:
    """Return the groups of a grid, in its order; uniform oracles with the same n share their tournaments."""
    together: dict[object, list[int]] = {}
    for place, oracle in enumerate(oracles):
        together.setdefault(oracle.n if isinstance(oracle, Uniform) else f"alone {place}", []).append(place)
    groups = []
    for places in together.values():
        members = tuple(oracles[place] for place in places)
        bench, shown = make_bench(members, tuple(decoders), method, trials[places[0]], seed)
        bench = dataclasses.replace(bench, paired=paired)
        records = tuple(oracle_record(oracle) for oracle in members)
        played = list(zip(bench.decoders, bench.methods, strict=True)) or [(each, "exact") for each in decoders]
        tasks = tuple(
            tuple(make_task(oracle, record, each, how, seed) for each, how in played)
            for oracle, record in zip(members, records, strict=True)
        )
        groups.append(Group(bench, tuple(decoders), shown, tuple(places), tasks, records))
    return groups
