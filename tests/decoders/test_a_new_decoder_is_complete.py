"""One failure that names every place where a decoder is still missing, with the file and what to write there."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import pytest
from completeness import missing_of_decoder

from pairsim import Decoder
from pairsim.decoders import REGISTRY, Cost


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_a_new_decoder_is_complete(name: str) -> None:
    missing = missing_of_decoder(REGISTRY[name])
    assert not missing, "\n".join(["still missing:", *missing])


class HalfKernel(NamedTuple):
    n: int


@dataclasses.dataclass(frozen=True)
class Half(Decoder):
    """A decoder of which next to nothing is there."""

    name = "Half done"
    summary = "half"
    explained_by = "magic"
    closed_form = True

    speed: float = 0.5

    def cost(self, n: int) -> Cost:
        return Cost(1, 1)

    def kernel(self, n: int) -> Any:
        return HalfKernel(n)


def test_all_that_is_missing_is_told_at_once() -> None:
    """Negative control."""
    told = missing_of_decoder(Half)
    here = "tests/decoders/test_a_new_decoder_is_complete.py: "
    wanted = [
        here + "`name` in kebab-case",
        here + "`summary`",
        here + "a runnable example",
        here + "define_decoder(HalfKernel",
        "pairsim/exact_values: a file with @EXACT.register(Half)",
        "tests/naive.py: a twin in DECODERS['Half done']",
        "tests/strategies.py: values to try for the field 'speed'",
    ]
    assert len(told) == len(wanted), told
    for line, start in zip(told, wanted, strict=True):
        assert line.startswith(start), line


def test_fields_need_defaults() -> None:
    demanding = dataclasses.make_dataclass("Demanding", [("must", int)], bases=(), frozen=True)
    bare = type("Bare", (Half,), {"__init__": demanding.__init__, "__module__": __name__})
    assert any("a default for every field" in line for line in missing_of_decoder(bare))
