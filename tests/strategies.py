"""Hypothesis strategies for oracles and decoders, driven by the registries.

A decoder is built from its dataclass fields, so one with known fields is covered as soon as it is registered. An
oracle, a field or a twin that is not known here is a `LookupError`, never a silent gap.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import random
import typing
from collections.abc import Callable, Sequence
from typing import Any

import naive
import numpy as np
from hypothesis import strategies as st

from pairsim import Decoder, Learned, Matrix, Oracle, ParameterError, Ranked, Recorded, Similarity, Uniform
from pairsim.decoders import REGISTRY as DECODERS
from pairsim.decoders.profiles import Profiles
from pairsim.oracles import REGISTRY as ORACLES

SEEDS = st.one_of(st.integers(0, 2**64 - 1), st.sampled_from([0, 1, 2**63, 2**64 - 1]))
ROWS = 70  # of a recorded oracle: more than one machine word of trials, and not a whole number of them
AWKWARD_PROBABILITIES = (
    0.0,
    1.0,
    0.5,
    2.0**-40,
    1 - 2.0**-53,
    math.nextafter(0.5, 0),
    math.nextafter(0.5, 1),
    5e-324,
    1 / 3,
)


@dataclasses.dataclass(frozen=True)
class OracleCase:
    """An oracle, and its twin: (seed, trial) to the answers of that tournament."""

    oracle: Oracle
    twin: Callable[[int, int], naive.LowWins]

    def decide_naively(
        self, decoder: Decoder, seed: int, trials: Sequence[int], drawn_numbers: bool = False
    ) -> list[naive.Decision]:
        """Decode trials with the decoder's twin on the oracle's twin, under class numbers drawn in each if asked."""
        options = {field.name: getattr(decoder, field.name) for field in dataclasses.fields(decoder)}
        if decoder.name not in naive.DECODERS:
            raise LookupError(f"decoder {decoder.name!r} has no twin: add one to tests/naive.py")
        decide = naive.decide_renumbered if drawn_numbers else naive.decide
        return [decide(decoder.name, options, self.oracle.n, self.twin(seed, trial), seed, trial) for trial in trials]


def random_case(oracle: Oracle, probabilities: naive.Probabilities) -> OracleCase:
    return OracleCase(oracle, lambda seed, trial: naive.random_tournament(probabilities, seed, trial))


def recorded_case(n: int, rows: list[list[bool]], truth: list[int]) -> OracleCase:
    return OracleCase(Recorded(rows, truth), lambda seed, trial: naive.recorded_tournament(n, rows[trial]))


def probabilities() -> st.SearchStrategy[float]:
    return st.one_of(st.floats(0, 1), st.sampled_from(AWKWARD_PROBABILITIES))


def uniform_cases(n: int) -> st.SearchStrategy[OracleCase]:
    return probabilities().map(lambda p: random_case(Uniform(n, p), naive.uniform_probabilities(n, p)))


def similarity_cases(n: int) -> st.SearchStrategy[OracleCase]:
    def build(weights: list[int]) -> OracleCase:
        weights = sorted(weights, reverse=True)
        weights[0] += 1  # someone must resemble the data point
        r = [weight / sum(weights) for weight in weights]
        return random_case(Similarity(r), naive.similarity_probabilities(r))

    return st.lists(st.integers(0, 9), min_size=n, max_size=n).map(build)


def matrix_cases(n: int) -> st.SearchStrategy[OracleCase]:
    def build(flat: list[float]) -> OracleCase:
        above = iter(flat)
        table = [[0.5] * n for _ in range(n)]
        for low in range(n):
            for high in range(low + 1, n):
                table[low][high] = next(above)
                table[high][low] = 1 - table[low][high]
        return random_case(Matrix(table), table)

    return st.lists(probabilities(), min_size=n * (n - 1) // 2, max_size=n * (n - 1) // 2).map(build)


def ranked_cases(n: int) -> st.SearchStrategy[OracleCase]:
    shares = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, 0.5, 0.99, 1e-300, 1 - 2.0**-53]))

    def build(drawn: tuple[float, float, float]) -> OracleCase:
        return OracleCase(Ranked(n, *drawn), lambda seed, trial: naive.ranked_tournament(n, *drawn, seed, trial))

    return st.tuples(probabilities(), shares, shares).map(build)


def recorded_cases(n: int) -> st.SearchStrategy[OracleCase]:
    pairs = n * (n - 1) // 2

    def build(drawn: tuple[int, list[int]]) -> OracleCase:
        bits, truth = drawn
        rows = [[bool(bits >> (row * pairs + pair) & 1) for pair in range(pairs)] for row in range(ROWS)]
        return recorded_case(n, rows, truth)

    # one big integer instead of a list of lists: the same tournaments, drawn in one step
    truths = st.lists(st.integers(0, n - 1), min_size=ROWS, max_size=ROWS)
    return st.tuples(st.integers(0, 2 ** (ROWS * pairs) - 1), truths).map(build)


ORACLE_CASES: dict[str, Callable[[int], st.SearchStrategy[OracleCase]]] = {
    "uniform": uniform_cases,
    "similarity": similarity_cases,
    "matrix": matrix_cases,
    "ranked": ranked_cases,
    "recorded": recorded_cases,
}


def oracle_cases(name: str, n: int) -> st.SearchStrategy[OracleCase]:
    """Return the strategy for registered oracle `name` with n classes."""
    if name not in ORACLES or name not in ORACLE_CASES:
        raise LookupError(f"oracle {name!r} has no strategy: add one to tests/strategies.py")
    return ORACLE_CASES[name](n)


def _takes_any(cls: type[Decoder]) -> bool:
    """Say whether the tie rule "any" is one of the decoder's."""
    try:
        cls(ties="any")  # type: ignore[call-arg]
    except (ParameterError, TypeError):
        return False
    return True


def field_values(cls: type[Decoder], field: str, n: int, *, few: bool) -> Sequence[Any]:
    """Return values to try for a decoder's field: all kinds, or a few for tests that go through every combination."""
    known: dict[str, tuple[Sequence[Any], Sequence[Any]]] = {
        "ties": (("random", "lose", "first"), ("random", "lose", "first")),
        "order": (("random", "given"), ("random", "given")),
        "final": (("rescore", "maxwin"), ("rescore", "maxwin")),
        "l": ((1, 2, 3, 7, "log", "2log", "1.5log", "5log"), (2, "log")),
        "k": (range(1, n + 1), (1, min(3, n))),
        "p": ((None, 0.55, 0.7, 0.9, 0.999), (None, 0.8)),
        "stop": ((0.6, 0.9, 0.99, 1.0), (0.95,)),
        "budget": ((None, 1, 5, 20), (None,)),
        "rounds": ((None, 1, 2, 5, 18), (None, 3)),
        "answers": ((None, *some_answers(n)), (None, some_answers(n)[0])),
        "weight": ((None, 0.1, 1.0), (None,)),
        "lead": ((0.5, 4.0, 30.0), (4.0,)),
        "errors": ((None, *some_errors(n)), (None, some_errors(n)[0])),
    }
    if field == "ties" and _takes_any(cls):
        known["ties"] = (("random", "lose", "first", "any"),) * 2
    if field not in known and typing.get_type_hints(cls).get(field) is bool:
        return (False, True)
    if field not in known:
        raise LookupError(f"decoder field {field!r} has no values: add some to tests/strategies.py")
    return known[field][few]


@functools.cache
def some_errors(n: int) -> list[tuple[float, ...]]:
    """Return errors of n(n-1)/2 pairs: all different, of few kinds (so that many pairings cost the same), all alike."""
    dice, pairs = random.Random(n), n * (n - 1) // 2
    return [
        tuple(round(dice.random(), 4) for _ in range(pairs)),
        tuple(dice.choice((0.0, 0.1, 0.2)) for _ in range(pairs)),
        tuple(dice.random() ** 9 for _ in range(pairs)),
        (0.25,) * pairs,
    ]


@functools.cache
def some_answers(n: int) -> list[Profiles]:
    """Return what was learned from coin flips, and from answers that mostly follow an order with the winner on top."""
    dice, rows = np.random.default_rng(n), 400
    low, high = np.triu_indices(n, 1)
    true = dice.integers(0, n, rows)[:, None]
    ordered = (np.abs(low - true) < np.abs(high - true)) ^ (dice.random((rows, len(low))) < 0.05)
    flips = dice.random((20, len(low))) < 0.5
    return [Profiles(str(Learned(Recorded(answers)).answers)) for answers in (ordered, flips)]


def decoders(name: str, n: int) -> st.SearchStrategy[Decoder]:
    """Return the strategy for registered decoder `name` with n classes."""
    cls = DECODERS[name]
    values = {f.name: st.sampled_from(field_values(cls, f.name, n, few=False)) for f in dataclasses.fields(cls)}
    return st.builds(cls, **values)


def every_decoder(n: int) -> list[Decoder]:
    """Return every registered decoder with every combination of a few values for its fields."""
    found: list[Decoder] = []
    for cls in DECODERS.values():
        names = [field.name for field in dataclasses.fields(cls)]
        combinations = itertools.product(*(field_values(cls, name, n, few=True) for name in names))
        found += [cls(**dict(zip(names, values, strict=True))) for values in combinations]
    return found
