"""Laws of oracles and decoders as values: they print, pickle, compare and hash as what they are, and cannot change."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import OracleCase, decoders, every_decoder, oracle_cases

import pairsim
from pairsim import (
    Adag,
    Champion,
    Ddag,
    Decoder,
    Halving,
    Matrix,
    MaxWin,
    Oracle,
    Poll,
    Quick,
    Ranked,
    Recorded,
    Similarity,
    TopK,
    Uniform,
)
from pairsim.decoders import REGISTRY as DECODERS
from pairsim.oracles import REGISTRY as ORACLES

NAMES = {name: getattr(pairsim, name) for name in pairsim.__all__}
NAMES |= {cls.__name__: cls for cls in (*DECODERS.values(), *ORACLES.values())}
on_every_oracle = pytest.mark.parametrize("oracle_name", sorted(ORACLES))
on_every_decoder = pytest.mark.parametrize("decoder_name", sorted(DECODERS))

EXAMPLES: dict[str, Oracle] = {name: cls.example(4) for name, cls in ORACLES.items()} | {
    "uniform": Uniform(4, 0.7),
    "similarity": Similarity([0.5, 0.3, 0.2]),
    "matrix": Matrix([[0.5, 0.7], [0.3, 0.5]]),
    "ranked": Ranked(4, 0.9, 0.5, 0.25),
    "recorded": Recorded([[True, False, True], [False, False, True]], truth=[0, 2]),
}


def read_back(value: Oracle | Decoder) -> object:
    """Evaluate a repr with nothing in scope but pairsim's public names."""
    return eval(repr(value), {"__builtins__": {}}, NAMES)


def check_value(value: Oracle | Decoder) -> None:
    for twin in (read_back(value), pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
        assert twin == value
        assert hash(twin) == hash(value)
        assert type(twin) is type(value)
        assert repr(twin) == repr(value)


@on_every_decoder
def test_decoders_are_values(decoder_name: str) -> None:
    @settings(derandomize=True, deadline=None, max_examples=40)
    @given(st.integers(2, 9).flatmap(lambda n: decoders(decoder_name, n)))
    def law(decoder: Decoder) -> None:
        check_value(decoder)
        assert pairsim.decoder(decoder.spec) == decoder
        assert decoder.spec.split(":")[0] == decoder_name

    law()


@on_every_oracle
def test_oracles_are_values(oracle_name: str) -> None:
    @settings(derandomize=True, deadline=None, max_examples=20)
    @given(st.integers(2, 6).flatmap(lambda n: oracle_cases(oracle_name, n)))
    def law(case: OracleCase) -> None:
        check_value(case.oracle)

    law()


@pytest.mark.parametrize(
    "oracle",
    [Recorded.of(Uniform(6, 0.6), 300, 1), Matrix(Uniform(45, 0.6).matrix()), Similarity.profile("zipf:1.0", 1500)],
    ids=lambda oracle: type(oracle).__name__,
)
def test_long_reprs_are_not_shortened(oracle: Oracle) -> None:
    """NumPy prints more than 1,000 numbers as "...", which would not read back."""
    check_value(oracle)


def test_different_values_differ() -> None:
    """Negative control: equality must be able to say no."""
    values: list[Oracle | Decoder] = [
        *every_decoder(5),
        *EXAMPLES.values(),
        Uniform(4, 0.70001),
        Uniform(5, 0.7),
        Matrix(Uniform(4, 0.7).matrix()),
        Similarity([0.5, 0.25, 0.25]),
        Recorded([[True, False, True], [False, False, True]], truth=[0, 1]),
        Recorded([[True, False, True], [False, True, True]], truth=[0, 2]),
        Recorded([[True, False, True]], truth=[0]),
    ]
    for place, value in enumerate(values):
        assert all(value != other for other in values[:place])
    assert len({repr(value) for value in values}) == len(values)
    assert len({(type(value), hash(value)) for value in values}) == len(values)
    assert all(value != repr(value) for value in values)


def test_equal_ways_to_say_it_are_equal() -> None:
    assert Poll("1log") == Poll("log")
    assert Poll("5.0log") == Poll("5log") == Poll()
    assert Poll(3) == pairsim.decoder("poll:l=3")
    assert {MaxWin(), MaxWin("random"), pairsim.decoder("max-win")} == {MaxWin()}
    assert pairsim.decoder("halving:l=1log") == Halving() == Halving("log", "random")
    assert (Quick(), Champion()) == (Quick("random"), Champion("random", "random"))
    assert (Adag(), Ddag(), TopK()) == (Adag("random"), Ddag("random"), TopK(5, "3log", "rescore", "random"))


@on_every_decoder
def test_decoders_are_frozen(decoder_name: str) -> None:
    decoder = DECODERS[decoder_name]()
    for name in [*(field.name for field in dataclasses.fields(decoder)), "new"]:
        with pytest.raises(AttributeError):
            setattr(decoder, name, 2)


@on_every_oracle
def test_oracles_are_frozen(oracle_name: str) -> None:
    """An oracle whose n could be set would hash as another one, and send compiled code past the end of its arrays."""
    oracle = copy.copy(EXAMPLES[oracle_name])
    for name in ["n", "p", "new"]:
        with pytest.raises(AttributeError):
            setattr(oracle, name, 2)


def test_oracles_keep_their_own_copy() -> None:
    table, r = np.array([[0.5, 0.7], [0.3, 0.5]]), np.array([0.6, 0.4])
    rows, truth = np.array([[True, False, True]]), np.array([2])
    matrix, similarity, recorded = Matrix(table), Similarity(r), Recorded(rows, truth)
    before = [repr(oracle) for oracle in (matrix, similarity, recorded)]
    table[0, 1], table[1, 0], r[0], r[1], rows[0, 0], truth[0] = 0.1, 0.9, 0.9, 0.1, False, 1
    matrix.matrix()[0, 1] = 0.2
    similarity.matrix()[0, 1] = 0.2
    unpacked = recorded.answers()
    if unpacked.flags.writeable:
        unpacked[0, 0] = False
    assert [repr(oracle) for oracle in (matrix, similarity, recorded)] == before
