"""What a new decoder or oracle must have, and where: each check returns one line per place that is still missing."""

from __future__ import annotations

import dataclasses
import inspect
import json
import pickle
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import naive
import strategies

import pairsim
from pairsim import Decoder, Oracle, Uniform, simulate
from pairsim.decoders import decoder as read_decoder
from pairsim.decoders import decoder_of
from pairsim.exact_values import EXACT
from pairsim.kernels.protocol import DECODERS, ORACLES
from pairsim.replay.explanations import EXPLANATIONS
from pairsim.simulation.conditional import CONDITIONAL
from pairsim.store import OracleRecord
from pairsim.sweeps.oracle_records import oracle_of, oracle_record, sizes_fit

ROOT = Path(pairsim.__file__).parents[1]
README = ROOT / "README.md"
N = 6


def home_of(cls: type) -> str:
    """Return the file of a class."""
    file = Path(inspect.getfile(cls))
    return str(file.relative_to(ROOT)) if file.is_relative_to(ROOT) else file.name


def missing_of_decoder(cls: type[Decoder]) -> list[str]:
    """Return what is missing of a decoder: the file, and what to write there."""
    home = home_of(cls)
    found = list(_missing_facts(cls, home))
    try:
        example = cls()
    except TypeError as error:
        return [*found, f"{home}: a default for every field ({error})"]
    for check in (_decoder_works, _decoder_travels, _decoder_is_planned, _decoder_is_provided):
        found += _tried(check, example, home)
    if cls.name not in naive.DECODERS:
        found.append(f"tests/naive.py: a twin in DECODERS[{cls.name!r}], written from the description alone")
    for field in dataclasses.fields(cls):
        try:
            strategies.field_values(cls, field.name, N, few=True)
        except LookupError:
            found.append(f"tests/strategies.py: values to try for the field {field.name!r} in field_values")
    return found


def missing_of_oracle(cls: type[Oracle]) -> list[str]:
    """Return what is missing of an oracle: the file, and what to write there."""
    home = home_of(cls)
    found = list(_missing_facts(cls, home))
    unexplained = (each for each in cls.options if not each.required and not each.help)
    found += [f"{home}: help for the option {option.name!r}" for option in unexplained]
    try:
        example = cls.example(N)
    except Exception as error:
        return [*found, f"{home}: `example(n)`, or options from which `make` can make one ({error})"]
    for check in (_oracle_works, _oracle_travels):
        found += _tried(check, example, home)
    if cls.name not in strategies.ORACLE_CASES:
        found.append(f"tests/strategies.py: cases with a plain twin in ORACLE_CASES[{cls.name!r}]")
    return found


def _missing_facts(cls: Any, home: str) -> Iterator[str]:
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", getattr(cls, "name", "")):
        yield f"{home}: `name` in kebab-case, as it is written on the command line"
    if not 10 <= len(getattr(cls, "summary", "")) <= 120:
        yield f"{home}: `summary`, one line for `pairsim decoders` or `pairsim oracles`"
    if ">>>" not in (cls.__doc__ or ""):
        yield f"{home}: a runnable example in the docstring of {cls.__name__}"
    if f"`{getattr(cls, 'name', '')}" not in README.read_text() and cls.__module__.startswith("pairsim."):
        yield f"README.md: a line about `{getattr(cls, 'name', '')}`"


def _tried(check: Callable[[Any, str], Iterator[str]], example: Any, home: str) -> list[str]:
    """Return what a check finds; what it raises is something that is missing, too."""
    try:
        return list(check(example, home))
    except Exception as error:
        what = check.__name__.lstrip("_").replace("_", " ")
        return [f"{home}: ({what}) {type(error).__name__}: {error}"]


def _decoder_works(decoder: Decoder, home: str) -> Iterator[str]:
    if type(decoder.kernel(N)) not in DECODERS:
        yield f"{home}: define_decoder({type(decoder.kernel(N)).__name__}, allocate=..., begin=..., ...)"
        return
    if not isinstance(getattr(decoder, "repeats", None), bool):
        yield f"{home}: `repeats`: may it ask a pair twice in one trial?"
    if decoder.explained_by not in EXPLANATIONS:
        yield f"pairsim/replay/explanations.py: EXPLANATIONS[{decoder.explained_by!r}], or another `explained_by`"
    estimate = simulate(Uniform(N, 0.9), decoder, 64, method="simulated", threads=1)
    if estimate.queries > decoder.cost(N).queries or estimate.rounds > decoder.cost(N).rounds:
        yield f"{home}: a `cost` that is never exceeded: {estimate.queries} queries, {estimate.rounds} rounds were used"
    known = decoder.expected_distinct(N)
    if known is not None and not decoder.repeats and estimate.distinct != known:
        yield f"{home}: an `expected_distinct` of {estimate.distinct}, or None"


def _decoder_travels(decoder: Decoder, home: str) -> Iterator[str]:
    if read_decoder(decoder.spec) != decoder:
        yield f"{home}: fields that can be read from the spec {decoder.spec!r}"
    if decoder_of(json.loads(json.dumps(decoder.definition()))) != decoder:
        yield f"{home}: `settings` that JSON keeps"
    if pickle.loads(pickle.dumps(decoder)) != decoder:
        yield f"{home}: equality after pickling"


def _decoder_is_planned(decoder: Decoder, home: str) -> Iterator[str]:
    for family in type(decoder).candidates(N, "random"):
        for size in family.grid:
            if not isinstance(family.decoder(size).cost(N)[0], int):
                yield f"{home}: `candidates` that fit {N} classes"


def _decoder_is_provided(decoder: Decoder, home: str) -> Iterator[str]:
    if decoder.closed_form and type(decoder) not in EXACT:
        yield f"pairsim/exact_values: a file with @EXACT.register({type(decoder).__name__}), or closed_form = False"
    if decoder.equivalent is not None and not decoder.equivalent.reference:
        yield f"{home}: an `equivalent` that is a reference, such as MaxWin"
    if decoder.reference and decoder.equivalent != decoder:
        yield f"{home}: a reference that is its own `equivalent`"
    method = CONDITIONAL.of(decoder)
    if method is not None and method.applies(Uniform(N, 0.9), decoder):
        simulate(Uniform(N, 0.9), decoder, 64, method="conditional", threads=1)


def _oracle_works(oracle: Oracle, home: str) -> Iterator[str]:
    if type(oracle.kernel()) not in ORACLES:
        yield f"{home}: define_oracle({type(oracle.kernel()).__name__}, low_wins=...), or define_drawn(...)"
        return
    truth = oracle.truth(0, 5)
    if truth.shape != (5,) or truth.min() < 0 or truth.max() >= N:
        yield f"{home}: `truth`, the true class of each trial"
    if oracle.n != N:
        yield f"{home}: an `example(n)` of n classes, that sets `n`"
    simulate(oracle, [pairsim.MaxWin(), pairsim.Adag()], min(20, oracle.rows or 20), threads=1)
    probabilities = oracle.probabilities()
    if probabilities is not None and probabilities.matrix().shape != (N, N):
        yield f"{home}: `matrix`, n x n"


def _oracle_travels(oracle: Oracle, home: str) -> Iterator[str]:
    record: OracleRecord = oracle_record(oracle)
    shapes = {name: (each.shape, each.dtype) for name, each in record.arrays.items()}
    if not sizes_fit(record.name, record.params, shapes):
        yield f"{home}: `arrays_fit`, which says what shapes and dtypes the arrays of `to_plain` have"
    if oracle_of(record) != oracle:
        yield f"{home}: `to_plain` and `from_plain` that are inverse"
    for option in type(oracle).options if type(oracle).to_plain is Oracle.to_plain else ():
        if getattr(oracle, option.name, None) != (option.example if option.required else option.default):
            yield f"{home}: an attribute with the value of the option {option.name!r}"
    if pickle.loads(pickle.dumps(oracle)) != oracle:
        yield f"{home}: equality after pickling"
