"""Units of work: blocks, or pieces of one, that any thread, process or machine can play alike."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

from pairsim.decoders import Decoder, SupersededError
from pairsim.engines.packing import pack, unpack
from pairsim.errors import ParameterError
from pairsim.oracles import Oracle
from pairsim.simulation import BlockSimulator
from pairsim.simulation.blocks import run_block
from pairsim.simulation.tally import BlockResult
from pairsim.specs import can_be_imported, find_class, load, names_user_class
from pairsim.store import OracleRecord
from pairsim.sweeps.oracle_records import oracle_of, oracle_record
from pairsim.sweeps.versions import OURS, Versions

T = TypeVar("T")


class Unit(NamedTuple):
    """Ranges of trials to play on some oracles and decoders of a group; `number` tells units apart."""

    number: int
    group: int
    oracles: tuple[int, ...]
    places: tuple[int, ...]
    ranges: tuple[tuple[int, int], ...]
    whole_blocks: bool


class UsersDecoder(NamedTuple):
    """A decoder of a user's class as plain data: the worker imports the module, and compares the code."""

    name: str
    settings: dict[str, Any]
    code: int | str | None


class SimulatorRecord(NamedTuple):
    """A `BlockSimulator` as plain data."""

    oracles: tuple[OracleRecord, ...]
    decoders: tuple[Decoder | UsersDecoder, ...]
    methods: tuple[str, ...]
    reference: int
    seed: int
    paired: bool


class Context:
    """What all units share: the simulators of the sweep. It travels as plain data, and to the same version only."""

    def __init__(self, simulators: Sequence[BlockSimulator]) -> None:
        self._simulators = list(simulators)
        self._parts: dict[tuple[int, tuple[int, ...], tuple[int, ...]], BlockSimulator] = {}

    def simulator(self, group: int, oracles: tuple[int, ...], places: tuple[int, ...]) -> BlockSimulator:
        """Return the part of a group's simulator with these oracles and decoders."""
        key = (group, oracles, places)
        if key not in self._parts:
            self._parts[key] = part_of(self._simulators[group], oracles, places)
        return self._parts[key]

    def __reduce__(self) -> tuple[Any, ...]:
        records = []
        for simulator in self._simulators:
            oracles = tuple(oracle_record(oracle) for oracle in simulator.oracles)
            decoders = tuple(map(_as_record, simulator.decoders))
            records.append(
                SimulatorRecord(
                    oracles, decoders, simulator.methods, simulator.reference, simulator.seed, simulator.paired
                )
            )
        # packed once more, so that another version compares the versions before it looks for classes it may not have
        return _unpack, (OURS.to_text(), OURS.stream, pack(records))


def part_of(simulator: BlockSimulator, oracles: tuple[int, ...], places: tuple[int, ...]) -> BlockSimulator:
    """Return a simulator with some of the oracles and decoders, in their order."""
    reference = places.index(simulator.reference) if simulator.reference in places else -1
    return dataclasses.replace(
        simulator,
        oracles=tuple(simulator.oracles[place] for place in oracles),
        decoders=tuple(simulator.decoders[place] for place in places),
        methods=tuple(simulator.methods[place] for place in places),
        reference=reference,
    )


def _unpack(version: str, stream: int, packed: bytes) -> Context:
    """Read a context; name, place and number of arguments stay, or workers of other versions fail without a reason."""
    differs = OURS.against(Versions.from_text(version, stream))
    if differs:
        raise RuntimeError(differs)
    records: list[SimulatorRecord] = unpack(packed)
    known: dict[str, Oracle] = {}
    simulators = []
    for record in records:
        oracles = tuple(known.setdefault(each.digest, _oracle_of(each)) for each in record.oracles)
        decoders = tuple(_decoder_of(each) if isinstance(each, UsersDecoder) else each for each in record.decoders)
        simulators.append(BlockSimulator(oracles, decoders, *record[2:]))
    return Context(simulators)


def _as_record(decoder: Decoder) -> Decoder | UsersDecoder:
    """Return a user's decoder as plain data where a worker can import its class; others travel as they are."""
    cls = type(decoder)
    if not names_user_class(cls.stored_name()) or not can_be_imported(cls):
        return decoder
    return UsersDecoder(cls.stored_name(), decoder.settings(), decoder.code)


def _decoder_of(record: UsersDecoder) -> Decoder:
    """Return the decoder of a sweep elsewhere; reject one whose code is another here."""
    cls = _load(Decoder, record.name)  # type: ignore[type-abstract]
    decoder = cls(**record.settings)
    if decoder.code != record.code:
        raise RuntimeError(f"this worker has other code of {record.name} than the sweep")
    return decoder


def _oracle_of(record: OracleRecord) -> Oracle:
    """Return the oracle of a sweep elsewhere; reject one whose code is another here."""
    if names_user_class(record.name):
        _load(Oracle, record.name)  # type: ignore[type-abstract]
    try:
        return oracle_of(record)
    except SupersededError:
        raise RuntimeError(f"this worker has other code of {record.name} than the sweep") from None


def _load(base: type[T], name: str) -> type[T]:
    """Return a user's class, of a module that the person who runs the sweep has named."""
    try:
        load("worker", name.partition(":")[0])
    except ParameterError as error:
        raise RuntimeError(f"this worker cannot import {name} ({error})") from None
    cls = find_class(base, name)
    if cls is None:
        raise RuntimeError(f"this worker has no {name}: classes of users must stand at the top of a module")
    return cls


def play_unit(context: Context, unit: Unit) -> list[list[BlockResult]]:
    """Play the ranges of a unit, one after the other."""
    simulator = context.simulator(unit.group, unit.oracles, unit.places)
    run = run_block if unit.whole_blocks else BlockSimulator.run
    return [run(simulator, first, count) for first, count in unit.ranges]
