"""bound() and certified_sample_size(): what they take, what they return, what they reject."""

from __future__ import annotations

import dataclasses
import math

import pytest

from pairsim import Adag, Matrix, MaxWin, Poll, Recorded, Similarity, Uniform, bound
from pairsim.bounds import Bound, certified_sample_size
from pairsim.bounds.certify import _smallest
from pairsim.bounds.general import general_poll_failure
from pairsim.errors import ParameterError

REFUSAL = r"^The '\w+' parameter of \w+ must be .* instead\.$"


def test_a_bound_says_what_it_is_about() -> None:
    found = bound(Uniform(32, 0.8), Poll("3log", ties="lose"))
    assert (found.decoder, found.oracle, found.n) == ("poll:l=3log,ties=lose", "uniform", 32)
    assert found.width == found.failure_high - found.failure_low
    assert found.success_low == 1 - found.failure_high
    assert found.success_high == 1 - found.failure_low
    assert "order 7" in found.how
    assert "order 3" in bound(Similarity([0.5, 0.3, 0.2]), MaxWin()).how
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.failure_low = 0.0  # type: ignore[misc]


def test_multiples_of_log_n_are_the_number_they_stand_for() -> None:
    one, other = bound(Uniform(32, 0.8), Poll("3log")), bound(Uniform(32, 0.8), Poll(15))
    assert (one.failure_low, one.failure_high) == (other.failure_low, other.failure_high)


def test_sample_sizes_for_the_harder_rule_serve_the_easier_ones() -> None:
    sizes = {ties: certified_sample_size(64, 0.9, 0.05, ties).l for ties in ("lose", "random", "first")}
    assert sizes["first"] <= sizes["random"] <= sizes["lose"]
    assert sizes["first"] < sizes["lose"]


def test_the_default_failure_is_one_in_n() -> None:
    found = certified_sample_size(64, 0.9)
    assert found.failure == 1 / 64
    assert found == certified_sample_size(64, 0.9, 1 / 64, "random")
    assert found == certified_sample_size(Uniform(64, 0.9))


def test_sample_sizes_for_any_oracle() -> None:
    oracle = Similarity.profile("zipf:2.0", 16)
    found = certified_sample_size(oracle, failure=0.35, ties="random")
    assert general_poll_failure(oracle.matrix(), found.l, "random")[1] == found.failure_high <= 0.35
    assert general_poll_failure(oracle.matrix(), found.l - 1, "random")[1] > 0.35


def test_tiny_failures_can_be_asked_for() -> None:
    found = certified_sample_size(1000, 0.95, 1e-25)
    assert 1e-27 < found.failure_low <= found.failure_high <= 1e-25


@pytest.mark.parametrize(("border", "most"), [(1, 100), (8, 100), (9, 100), (57, 100), (100, 100), (6, 6)])
def test_the_search_finds_the_border(border: int, most: int) -> None:
    assert _smallest(lambda l: 0.5**l, 0.5**border, most) == border
    assert _smallest(lambda l: 1.0 if l < border else 0.0 + 1e-300, 0.5, most) == border


def test_the_search_looks_below_and_knows_when_there_is_nothing() -> None:
    assert _smallest(lambda l: 0.1 if l >= 40 or l == 37 else 0.9, 0.5, 1000) == 37
    assert _smallest(lambda l: 0.9, 0.5, 1000) is None


def test_what_max_win_cannot_reach_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"must be at least 0\.196, the failure of max-win"):
        certified_sample_size(64, 0.7)
    with pytest.raises(ParameterError, match="certified with l of at most 30, where the bound is"):
        certified_sample_size(64, 0.9, largest=30)


@pytest.mark.parametrize(
    "call",
    [
        lambda: bound(Recorded([[True]]), MaxWin()),
        lambda: bound("uniform", MaxWin()),  # type: ignore[arg-type]
        lambda: bound(Uniform(8, 0.9), Adag()),
        lambda: bound(Uniform(8, 0.9), "max-win"),  # type: ignore[arg-type]
        lambda: bound(Uniform(8, 0.9), Poll(100_001)),
        lambda: bound(Uniform(10_000_001, 0.9), MaxWin()),
        lambda: bound(Similarity.profile("zipf:1.0", 2_001), MaxWin()),
        lambda: certified_sample_size(64),
        lambda: certified_sample_size(Uniform(8, 0.9), 0.9),
        lambda: certified_sample_size(64, 0.9, 0.0),
        lambda: certified_sample_size(64, 0.9, math.nan),
        lambda: certified_sample_size(64, 0.9, 0.1, "never"),
        lambda: certified_sample_size(64, 0.9, 0.1, largest=0),
        lambda: certified_sample_size(Recorded([[True]])),
    ],
)
def test_bad_parameters_are_refused_in_one_line(call: object) -> None:
    with pytest.raises(ParameterError, match=REFUSAL):
        call()  # type: ignore[operator]


def test_two_classes_are_a_single_game() -> None:
    for decoder in (MaxWin(), MaxWin("lose"), Poll(3), Poll(1, "first")):
        for oracle in (Uniform(2, 0.8), Matrix([[0.5, 0.8], [0.2, 0.5]])):
            found = bound(oracle, decoder)
            assert found.failure_low <= 0.2 <= found.failure_high
            assert isinstance(found, Bound)
            assert found.width < 1e-8
