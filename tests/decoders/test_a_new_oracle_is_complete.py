"""One failure that names every place where an oracle is still missing, with the file and what to write there."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from completeness import missing_of_oracle

from pairsim.oracles import REGISTRY, Option, Oracle


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_a_new_oracle_is_complete(name: str) -> None:
    missing = missing_of_oracle(REGISTRY[name])
    assert not missing, "\n".join(["still missing:", *missing])


class HalfKernel(NamedTuple):
    n: int


class Half(Oracle):
    """An oracle of which next to nothing is there."""

    name = "half"
    summary = "half"
    options = (Option("p"), Option("share", default=0.5))

    def __init__(self, n: int, p: float, share: float) -> None:
        self.n, self.share = n, share

    def kernel(self) -> Any:
        return HalfKernel(self.n)


def test_all_that_is_missing_is_told_at_once() -> None:
    """Negative control."""
    told = missing_of_oracle(Half)
    here = "tests/decoders/test_a_new_oracle_is_complete.py: "
    wanted = [
        here + "`summary`",
        here + "a runnable example",
        here + "help for the option 'share'",
        here + "define_oracle(HalfKernel",
        here + "an attribute with the value of the option 'p'",
        "tests/strategies.py: cases with a plain twin in ORACLE_CASES['half']",
    ]
    assert len(told) == len(wanted), told
    for line, start in zip(told, wanted, strict=True):
        assert line.startswith(start), line


def test_an_example_is_needed() -> None:
    nothing = type("Nothing", (Half,), {"options": (), "__module__": __name__})
    assert any("`example(n)`" in line for line in missing_of_oracle(nothing))
