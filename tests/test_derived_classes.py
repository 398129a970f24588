"""Decoders and oracles derived from pairsim's own: their rules are theirs, whatever they inherit.

Shortcuts (closed forms, conditional methods, scores of many trials at once) are for exact types, and what a store holds
of a class is never taken for another's.
"""

from __future__ import annotations

import dataclasses
import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pairsim import Adag, Ddag, Decoder, MaxWin, Oracle, ParameterError, Poll, TopK, Uniform, simulate, sweep

TRIALS = 1000
RULES = Ddag()


def _rules(self: Decoder, n: int) -> Any:
    return RULES.kernel(n)


@dataclasses.dataclass(frozen=True)
class OtherMaxWin(MaxWin):
    """A max-win by its name, a ddag by its rules."""

    kernel = _rules


@dataclasses.dataclass(frozen=True)
class OtherAdag(Adag):
    """An adag by its name, a ddag by its rules."""

    kernel = _rules


@dataclasses.dataclass(frozen=True)
class OtherPoll(Poll):
    """A poll by its name, a ddag by its rules."""

    kernel = _rules


@dataclasses.dataclass(frozen=True)
class OtherTopK(TopK):
    """A top-k by its name, a ddag by its rules."""

    kernel = _rules


class Certain(Uniform):
    """A uniform oracle by its name and its p, but every answer is right."""

    def kernel(self) -> Any:
        return Uniform(self.n, 1.0).kernel()


DERIVED = [OtherMaxWin(), OtherAdag(), OtherPoll(2), OtherTopK(3, 2)]


def ids(value: object) -> str:
    return type(value).__name__


@pytest.mark.parametrize("decoder", DERIVED, ids=ids)
def test_a_derived_decoder_is_simulated_by_its_own_rules(decoder: Decoder) -> None:
    wanted = simulate(Uniform(8, 0.7), RULES, TRIALS, method="simulated").success
    for method in ("auto", "simulated"):
        for beside in ([], [MaxWin()]):
            found = simulate(Uniform(8, 0.7), [decoder, *beside], TRIALS, method=method)[0]
            assert (found.success, found.method) == (wanted, "simulated")
    with pytest.raises(ParameterError, match="'method' parameter"):
        simulate(Uniform(8, 0.7), decoder, TRIALS, method="conditional")


@pytest.mark.parametrize("decoder", [MaxWin(), Adag(), Ddag(), Poll(2)], ids=ids)
def test_a_derived_oracle_gives_its_own_answers(decoder: Decoder) -> None:
    wanted = simulate(Uniform(8, 1.0), decoder, TRIALS, method="simulated").success
    for method in ("auto", "simulated"):
        assert simulate(Certain(8, 0.7), decoder, TRIALS, method=method).success == pytest.approx(wanted, abs=0.05)
    rows = sweep([Uniform(8, 0.7), Certain(8, 0.7)], [MaxWin(), decoder] if decoder != MaxWin() else [decoder], TRIALS)
    assert rows.success.iloc[-1] == pytest.approx(wanted, abs=0.05)
    assert rows.success.iloc[0] < 0.6  # and the other one those of probability


@pytest.mark.parametrize(
    ("oracle", "decoder", "plain"),
    [
        (Uniform(8, 0.7), OtherMaxWin(), MaxWin()),
        (Uniform(8, 0.7), OtherAdag(), Adag()),
        (Certain(8, 0.7), Ddag(), Ddag()),
    ],
    ids=["max-win", "adag", "uniform"],
)
@pytest.mark.parametrize("derived_first", [True, False])
def test_a_store_does_not_take_one_for_the_other(
    oracle: Oracle, decoder: Decoder, plain: Decoder, derived_first: bool, tmp_path: Path
) -> None:
    requests = [(oracle, decoder), (Uniform(8, 0.7), plain)]
    for request in requests if derived_first else requests[::-1]:
        alone = _success(*request, None)
        assert _success(*request, tmp_path / "a.db") == alone
        assert _success(*request, tmp_path / "a.db") == alone  # from the store
    assert _success(*requests[0], None) != _success(*requests[1], None)


def _success(oracle: Oracle, decoder: Decoder, store: Path | None) -> float:
    return float(sweep([oracle], [decoder], TRIALS, method="simulated", store=store).success[0])


SOURCE = """
import dataclasses
from pairsim import Adag, Ddag

@dataclasses.dataclass(frozen=True)
class Mine(Ddag):
    name = "mine"
    def kernel(self, n):
        return {rules}().kernel(n)
"""


def test_an_edited_decoder_is_computed_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a store holds of a class is what its source was then; the same source finds it again."""
    monkeypatch.syspath_prepend(tmp_path)
    played: list[int] = []

    def run(rules: str) -> float:
        (tmp_path / "my_decoders.py").write_text(SOURCE.format(rules=rules))
        played.clear()
        count = lambda oracle, trials: played.append(trials)  # noqa: E731
        decoder = _fresh("my_decoders").Mine()
        rows = sweep([Uniform(8, 0.7)], [decoder], TRIALS, method="simulated", store=tmp_path / "a.db", progress=count)
        return float(rows.success[0])

    ddag = run("Ddag")
    assert run("Ddag") == ddag
    assert played == []
    assert run("Adag") == simulate(Uniform(8, 0.7), Adag(), TRIALS, method="simulated").success != ddag
    assert played != []


def _fresh(name: str) -> ModuleType:
    sys.modules.pop(name, None)
    importlib.invalidate_caches()
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    try:
        return importlib.import_module(name)
    finally:
        sys.dont_write_bytecode = before
