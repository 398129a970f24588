"""Decoders and oracles that users write: compiled from their present source, and checked when they are registered."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from cache_processes import ROOT, run_python

from pairsim import ParameterError
from pairsim.decoders.adag import AdagKernel
from pairsim.decoders.max_win import MaxWinKernel
from pairsim.kernels.protocol import DECODERS, ORACLES, DecoderFunctions, OracleFunctions
from pairsim.kernels.signatures import describe_signature
from pairsim.oracles.uniform import UniformKernel

MODULE = '''
"""A decoder that asks one query; the annotations are the user's, not numba's."""
import dataclasses
from typing import Any, ClassVar, NamedTuple
import numpy as np
from pairsim.decoders import Cost, Decoder
from pairsim.kernels.protocol import DECODERS, DecoderFunctions

class MineKernel(NamedTuple):
    n: int

def _allocate(decoder: Any, n: int) -> Any:
    return np.zeros(1, np.int64)

def _begin(decoder, state, key):
    state[0] = 1

def _round_size(decoder, state):
    return state[0]

def _pair(decoder, state, k):
    return 0, decoder.n - 1

def _record(decoder, state, k, i, j, i_wins):
    pass

def _finish_round(decoder, state):
    state[0] = 0

def _winner(decoder, state):
    return WINNER

DECODERS[MineKernel] = DecoderFunctions(_allocate, _begin, _round_size, _pair, _record, _finish_round, _winner)

@dataclasses.dataclass(frozen=True)
class Mine(Decoder):
    name: ClassVar[str] = "mine"
    summary: ClassVar[str] = "mine"
    repeats: ClassVar[bool] = False
    reads_labels = False

    def cost(self, n):
        return Cost(1, 1)

    def kernel(self, n):
        return MineKernel(n)
'''
USE_MINE = (
    "from mine import Mine\n"
    "from pairsim import Uniform, sweep\n"
    "print(sweep([Uniform(8, 0.7)], [Mine()], 500, method='simulated').success.tolist())\n"
)
USE_DDAG = (
    "from pairsim.simulation import watch_compiler\n"
    "watch = watch_compiler()\n"
    "from pairsim import Ddag, Uniform, sweep\n"
    "print(sweep([Uniform(8, 0.7)], [Ddag()], 500, method='simulated').success.tolist(), watch.kernels > 0)\n"
)


GROWING = (
    MODULE.replace("return np.zeros(1, np.int64)", "return np.zeros((2, 64), np.int64)")
    .replace(
        "    state[0] = 0\n",
        """    kept = np.empty(1000)
    kept[:] = state[0, 0]
    parts = [kept[:500], kept[500:].copy()]
    state[0, 0] = 0
    state[1, 0] = np.int64(parts[0].sum() + np.concatenate((parts[1], kept)).sum())
""",
    )
    .replace("state[0] = 1", "state[:, 0] = 1")
    .replace("return state[0]", "return state[0, 0]")
    .replace("return WINNER", "return 0 if state[1, 0] == 2000 else 1")
)


def test_a_decoder_may_make_arrays_in_any_of_its_functions(tmp_path):
    """Pairsim's own functions run without reference counts; a user's, which may allocate, keep theirs."""
    (tmp_path / "mine.py").write_text(GROWING)
    program = USE_MINE.replace("500", "100_000")
    found = run_python(program, tmp_path / "cache", PYTHONPATH=f"{ROOT}:{tmp_path}")
    assert found.stdout == "[1.0]\n", found.stderr


def test_an_edited_decoder_is_compiled_again_and_a_removed_one_does_no_harm(tmp_path):
    module, cache, path = tmp_path / "mine.py", tmp_path / "cache", f"{ROOT}:{tmp_path}"
    for winner, success in ((0, "[1.0]"), (1, "[0.0]")):
        module.write_text(MODULE.replace("WINNER", str(winner)))
        done = run_python(USE_MINE, cache, PYTHONPATH=path, PYTHONDONTWRITEBYTECODE="1")
        assert (done.returncode, done.stdout, done.stderr) == (0, success + "\n", "")
    compiled = run_python(USE_DDAG, cache, PYTHONPATH=path)
    assert compiled.stdout.endswith(" True\n")
    files = [path.read_bytes() for path in cache.rglob("*") if path.is_file()]
    assert files
    assert not any(b"MineKernel" in content for content in files)
    assert any(b"DdagKernel" in content for content in files)  # negative control: names of types do show
    module.unlink()
    loaded = run_python(USE_DDAG, cache, PYTHONPATH=path)
    assert (loaded.stdout, loaded.stderr) == (compiled.stdout.replace("True", "False"), "")


class Kernel(NamedTuple):
    n: int


class Own(MaxWinKernel):
    """A user's class below one of pairsim's."""


class Pretender(NamedTuple):
    n: int


Pretender.__module__ = "pairsim.decoders.adag"


def test_signatures_are_described_unless_a_type_is_not_ours():
    ours = numba.typeof(AdagKernel(True))
    array = numba.typeof(np.zeros(3))
    assert describe_signature((ours, array)) == "pairsim.decoders.adag.AdagKernel(bool), array(float64, 1d, C)"
    assert describe_signature((ours,)) != describe_signature((numba.typeof((True,)),))  # a tuple is not its class
    frozen = np.zeros(3)
    frozen.setflags(write=False)
    assert describe_signature((numba.typeof(frozen),)) != describe_signature((array,))
    record = numba.typeof(np.zeros(3, np.dtype([("x", np.int64)])))
    function = numba.typeof(numba.njit(lambda x: x))
    foreign = [
        numba.typeof(each)
        for each in (Kernel(3), Own(*MaxWinKernel(1)), Pretender(3), (AdagKernel(True), (Kernel(3),)))
    ]
    for kind in (*foreign, record, function):
        assert describe_signature((array, kind)) is None


def allocate(decoder, n): ...
def begin(decoder, state, key): ...
def round_size(decoder, state): ...
def pair(decoder, state, k): ...
def record(decoder, state, k, i, j, i_wins): ...
def finish_round(decoder, state): ...
def winner(decoder, state): ...
def confidence(decoder, state): ...
def probabilities(decoder, state, out): ...


GOOD = DecoderFunctions(allocate, begin, round_size, pair, record, finish_round, winner, confidence, probabilities)


def make_type() -> Any:
    return NamedTuple("Mine", [("n", int)])


OTHERS = [
    lambda: 0,
    lambda decoder: 0,
    lambda decoder, other: 0,
    lambda state, decoder: 0,
    lambda decoder, state, key=0: 0,
    lambda decoder, state, key, more: 0,
    lambda decoder, state, *, k: 0,
    lambda decoder, state, **k: 0,
    lambda decoder, state, /: 0,
    lambda decoder, n, /: 0,
    lambda *everything: 0,
    lambda decoder, n, *, state: 0,
    lambda decoder, state, k, i, j, wins: 0,
    lambda decoder, state, k, i, j, i_wins, more: 0,
    None,
    5,
    "pair",
    len,
    DecoderFunctions,
    numba.njit(lambda decoder, state: 0),
]


@pytest.mark.parametrize("name", DecoderFunctions._fields)
def test_a_function_with_other_parameters_is_refused_when_it_is_registered(name):
    wanted = ", ".join(getattr(GOOD, name).__code__.co_varnames)
    kind = make_type()
    for function in [each for each in OTHERS if each is not None or name not in DECODERS.optional]:
        with pytest.raises(ParameterError) as caught:
            DECODERS[kind] = GOOD._replace(**{name: function})
        assert str(caught.value).startswith(
            f"The '{name}' parameter of DECODERS[Mine] must be a function of ({wanted}). Got "
        )
        assert kind not in DECODERS
    if name not in DECODERS.optional:
        with pytest.raises(ParameterError):
            DECODERS.update({kind: GOOD._replace(**{name: None})})
    DECODERS[kind] = GOOD  # negative control
    assert DECODERS[kind] == GOOD


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("low_wins", "oracle, trial, i, j"), ("probability", "oracle, i, j"),
     ("fill", "oracle, n, low, rows, high, scratch, lanes")],
)  # fmt: skip
def test_so_are_an_oracles(name, parameters):
    good = {
        "low_wins": lambda oracle, trial, i, j: True,
        "probability": lambda oracle, i, j: 0.5,
        "fill": lambda oracle, n, low, rows, high, scratch, lanes: None,
    }
    kind = make_type()
    with pytest.raises(ParameterError) as caught:
        ORACLES[kind] = OracleFunctions(**good | {name: lambda oracle, x: 0})
    assert str(caught.value) == (
        f"The '{name}' parameter of ORACLES[Mine] must be a function of ({parameters}). "
        "Got a function of (oracle, x) instead."
    )
    ORACLES[kind] = OracleFunctions(good["low_wins"], None)
    ORACLES[make_type()] = OracleFunctions(**good)


def kind_name(value):
    return type(value).__name__


@pytest.mark.parametrize("key", [int, tuple, Kernel(3), "Mine", None, lambda: 0], ids=kind_name)
def test_only_the_class_of_a_named_tuple_can_be_registered(key):
    with pytest.raises(ParameterError, match="The 'type' parameter of DECODERS must be a NamedTuple class"):
        DECODERS[key] = GOOD


@pytest.mark.parametrize(
    "value", [None, tuple(GOOD), OracleFunctions(winner, None), winner], ids=lambda value: type(value).__name__
)
def test_only_the_functions_of_a_decoder_can_be_registered(value):
    with pytest.raises(ParameterError, match="must be a DecoderFunctions"):
        DECODERS[make_type()] = value


def test_a_function_may_have_annotations_and_take_the_rest():
    def winner_with_types(decoder: Any, state: Any) -> int:
        return 0

    def record_all(decoder, state, *rest):
        pass

    kind = make_type()
    given = GOOD._replace(winner=winner_with_types, record=record_all)
    DECODERS[kind] = given
    assert DECODERS[kind].winner.__annotations__ == {}  # numba would take them for a difference
    assert winner_with_types.__annotations__
    DECODERS[kind] = given


def test_compiled_functions_are_not_replaced_without_a_word():
    kind = make_type()
    DECODERS[kind] = GOOD
    DECODERS[kind] = GOOD._replace(winner=lambda decoder, state: 1)  # nothing is compiled yet
    assert DECODERS[kind].winner is not winner
    with pytest.raises(ParameterError, match=r"registered once.*Mine with other functions"):
        DECODERS[kind] = GOOD
    del DECODERS[kind]
    with pytest.raises(ParameterError, match="registered once"):
        DECODERS[kind] = GOOD


def test_pairsims_own_types_keep_their_functions():
    """Their machine code is in the cache."""
    before = DECODERS[MaxWinKernel]
    for functions in (GOOD, before._replace(winner=winner), DECODERS[AdagKernel]):
        with pytest.raises(ParameterError):
            DECODERS[MaxWinKernel] = functions
    with pytest.raises(ParameterError, match="of your own"):
        DECODERS[UniformKernel] = GOOD
    DECODERS[MaxWinKernel] = before
    assert DECODERS[MaxWinKernel] == before
