"""Units of work: blocks, or pieces of one, that any thread, process or machine can play alike."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

from pairsim.decoders import Decoder
from pairsim.oracles import Oracle
from pairsim.simulation import STREAM_VERSION, Bench
from pairsim.simulation.blocks import play_block
from pairsim.simulation.tally import Played
from pairsim.store import OracleRecord
from pairsim.sweeps.oracle_records import oracle_of, oracle_record
from pairsim.version import VERSION


class Unit(NamedTuple):
    """Ranges of trials to play on some oracles and decoders of a group; `number` tells units apart."""

    number: int
    group: int
    oracles: tuple[int, ...]
    places: tuple[int, ...]
    ranges: tuple[tuple[int, int], ...]
    whole_blocks: bool


class BenchRecord(NamedTuple):
    """A bench as plain data."""

    oracles: tuple[OracleRecord, ...]
    decoders: tuple[Decoder, ...]
    methods: tuple[str, ...]
    reference: int
    seed: int
    paired: bool


class Context:
    """What all units share: the benches of the sweep. It travels as plain data, and to the same version only."""

    def __init__(self, benches: Sequence[Bench]) -> None:
        self._benches = list(benches)
        self._parts: dict[tuple[int, tuple[int, ...], tuple[int, ...]], Bench] = {}

    def bench(self, group: int, oracles: tuple[int, ...], places: tuple[int, ...]) -> Bench:
        """Return the part of a group's bench with these oracles and decoders."""
        key = (group, oracles, places)
        if key not in self._parts:
            self._parts[key] = part_of(self._benches[group], oracles, places)
        return self._parts[key]

    def __reduce__(self) -> tuple[Any, ...]:
        records = []
        for bench in self._benches:
            oracles = tuple(oracle_record(oracle) for oracle in bench.oracles)
            records.append(
                BenchRecord(oracles, bench.decoders, bench.methods, bench.reference, bench.seed, bench.paired)
            )
        return _unpack, (VERSION, STREAM_VERSION, records)


def part_of(bench: Bench, oracles: tuple[int, ...], places: tuple[int, ...]) -> Bench:
    """Return a bench with some of the oracles and decoders, in their order."""
    reference = places.index(bench.reference) if bench.reference in places else -1
    return dataclasses.replace(
        bench,
        oracles=tuple(bench.oracles[place] for place in oracles),
        decoders=tuple(bench.decoders[place] for place in places),
        methods=tuple(bench.methods[place] for place in places),
        reference=reference,
    )


def _unpack(version: str, stream: int, records: list[BenchRecord]) -> Context:
    if (version, stream) != (VERSION, STREAM_VERSION):
        here, there = f"pairsim {VERSION}", f"pairsim {version}"
        raise RuntimeError(f"this worker has {here} (stream {STREAM_VERSION}), the sweep {there} (stream {stream})")
    known: dict[str, Oracle] = {}
    benches = []
    for record in records:
        oracles = tuple(known.setdefault(each.digest, oracle_of(each)) for each in record.oracles)
        benches.append(Bench(oracles, *record[1:]))
    return Context(benches)


def play_unit(context: Context, unit: Unit) -> list[list[Played]]:
    """Play the ranges of a unit, one after the other."""
    bench = context.bench(unit.group, unit.oracles, unit.places)
    play = play_block if unit.whole_blocks else Bench.play
    return [play(bench, first, count) for first, count in unit.ranges]
