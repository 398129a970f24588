"""Tasks: one decoder on one oracle, named by a hash of all that determines its result and of nothing else."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from pairsim.decoders import Decoder, SupersededError, decoder_of, superseded
from pairsim.errors import ParameterError, parameter_error
from pairsim.oracles import Oracle
from pairsim.oracles.labels import without_labels
from pairsim.simulation import STREAM_VERSION, BlockSimulator, block_trials, check_seed, make_simulator
from pairsim.simulation.conditional import CONDITIONAL, DIGITS_VERSION
from pairsim.simulation.methods import METHODS, has_conditional
from pairsim.store import OracleRecord, Store, TaskRecord, task_id, task_kind
from pairsim.sweeps.oracle_records import oracle_of, oracle_record, sizes_fit

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
    parts: dict[str, Any] = {
        "oracle": record.digest,
        "n": oracle.n,
        "decoder": decoder.definition(),
        "method": method,
        "seed": seed,
        "block": block_trials(oracle.n),
        "stream": STREAM_VERSION,
    }
    if _draws_labels(oracle, decoder):
        parts["labels"] = "random"
    if method == "conditional":  # counts are integers; sums of probabilities have last digits of their own
        computed_by = CONDITIONAL.of(without_labels(oracle, decoder))
        parts["digits"] = DIGITS_VERSION if computed_by is None else computed_by.digits
    definition = json.dumps(parts, sort_keys=True)
    return Task(oracle, record.digest, decoder, method, seed, definition, task_id(definition))


def _draws_labels(oracle: Oracle, decoder: Decoder) -> bool:
    """Say whether class numbers are drawn at random for this decoder."""
    return without_labels(oracle, decoder) != decoder


def _before_labels_were_drawn(task: Task) -> str:
    """Return the definition that such a task had before 0.3.0, when it read the class numbers of the oracle."""
    parts = json.loads(task.definition)
    del parts["labels"]
    return json.dumps(parts, sort_keys=True)


def task_of(record: TaskRecord, store: Store, known: dict[str, Oracle] | None = None) -> Task:
    """Return the task that a store holds; reject one that this version of pairsim would not compute alike.

    `known` are the oracles of earlier tasks by their digest, so that many tasks of one oracle hold it once.

    One whose decoder or oracle is of a user's class that is not loaded can be shown, but not computed.

    Raises
    ------
    SupersededError
        When an earlier version had other rules for it, or a user's class other code.
    """
    if task_kind(record.definition) != "sweep":
        raise parameter_error(
            "store", "task", "one of a sweep, which can be recomputed", f"an {task_kind(record.definition)}"
        )
    try:
        parts: dict[str, Any] = json.loads(record.definition)
        decoder = decoder_of(parts["decoder"])
        digest = parts["oracle"]
        oracle = known[digest] if known and digest in known else _oracle_of(store.oracle(digest, sizes_fit), decoder)
        if known is not None:
            known[digest] = oracle
        seed = check_seed("store", parts["seed"])
        if not (decoder.loaded and oracle.loaded):
            if parts["n"] != oracle.n or parts["method"] not in METHODS[1:] or task_id(record.definition) != record.id:
                raise ValueError
            return Task(oracle, digest, decoder, parts["method"], seed, record.definition, record.id)
        decoder.cost(oracle.n)  # rejects a decoder that does not fit the number of classes
        task = make_task(oracle, oracle_record(oracle), decoder, parts["method"], seed)
        if _draws_labels(oracle, decoder) and record.definition == _before_labels_were_drawn(task):
            raise superseded(decoder)
        if parts["method"] not in _methods_of(oracle, decoder):
            raise ValueError
    except SupersededError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, ParameterError):
        task = None
    if task is None or task.id != record.id:
        must_be = "one that this version of pairsim can compute again"
        raise parameter_error("store", "task", must_be, f"{record.id} ({record.definition[:200]})")
    return task


def _oracle_of(record: OracleRecord, decoder: Decoder) -> Oracle:
    """Return the oracle of a task; an error about its code is one of the task's decoder, too."""
    try:
        return oracle_of(record)
    except SupersededError as error:
        error.spec = decoder.spec
        raise


def _methods_of(oracle: Oracle, decoder: Decoder) -> tuple[str, ...]:
    """Return the methods by which blocks of such a task can have been run; "exact" is one that has none."""
    rules = without_labels(oracle, decoder)
    return ("simulated", "exact", "conditional") if has_conditional(oracle, rules) else ("simulated", "exact")


@dataclasses.dataclass(frozen=True)
class TaskGroup:
    """Oracles with one n that are simulated together: their simulator, and the task of each (oracle, decoder).

    The first `len(shown)` decoders are those that were asked for; `shown` says by which method each is reported. A
    max-win that is only there to be compared with may follow them. `simulator` has no decoders when all is exact.
    """

    simulator: BlockSimulator
    decoders: tuple[Decoder, ...]
    shown: tuple[str, ...]
    places: tuple[int, ...]  # of the oracles in the grid
    tasks: tuple[tuple[Task, ...], ...]
    records: tuple[OracleRecord, ...]


def make_groups(
    oracles: Sequence[Oracle], decoders: Sequence[Decoder], trials: Sequence[int], method: str, seed: int, paired: bool
) -> list[TaskGroup]:
    """Return the groups of a grid, in its order; uniform oracles with the same n share their tournaments."""
    together: dict[object, list[int]] = {}
    for place, oracle in enumerate(oracles):
        together.setdefault(oracle.n if oracle.uniform else f"alone {place}", []).append(place)
    groups = []
    for places in together.values():
        members = tuple(oracles[place] for place in places)
        simulator, shown = make_simulator(members, tuple(decoders), method, trials[places[0]], seed)
        simulator = dataclasses.replace(simulator, paired=paired)
        records = tuple(oracle_record(oracle) for oracle in members)
        run_by = list(zip(simulator.decoders, simulator.methods, strict=True)) or [(each, "exact") for each in decoders]
        tasks = tuple(
            tuple(make_task(oracle, record, each, how, seed) for each, how in run_by)
            for oracle, record in zip(members, records, strict=True)
        )
        groups.append(TaskGroup(simulator, tuple(decoders), shown, tuple(places), tasks, records))
    return groups
