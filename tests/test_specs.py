"""Specs of users' classes: fields of any plain type are read from the command line as they are written."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal, Optional

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairsim import Adag, ParameterError, decoder
from pairsim.specs import find_class, load, names_user_class, read_pairs, read_value, split_spec


@dataclasses.dataclass(frozen=True)
class Dials(Adag):
    """An adag with a field of every kind."""

    name = "dials"

    k: int = 3
    share: float = 0.5
    limit: float | None = None
    size: int | str = "log"
    fast: bool = False
    sizes: tuple[int, ...] = (1, 2)
    mode: Literal["low", "high"] = "low"
    maybe: Optional[int] = None  # noqa: UP045 - as users write it
    anything: Any = "x"


WORDS = st.text("abcdefgh-_.", min_size=1).filter(lambda word: word not in ("e", "inf"))
WHOLE = st.integers(-(10**29), 10**29)
REALS = st.floats(allow_nan=False)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(
    st.builds(
        Dials,
        k=st.integers(-(10**12), 10**12),
        share=REALS,
        limit=st.one_of(st.none(), REALS),
        size=st.one_of(WHOLE, st.just("3log")),
        fast=st.booleans(),
        sizes=st.lists(WHOLE).map(tuple),
        mode=st.sampled_from(["low", "high"]),
        maybe=st.one_of(st.none(), st.integers(0, 9)),
        anything=WORDS,
    )
)
def test_a_spec_reads_back(dials: Dials) -> None:
    again = decoder(dials.spec)
    assert again == dials
    assert [type(getattr(again, each.name)) for each in dataclasses.fields(dials)] == [
        type(getattr(dials, each.name)) for each in dataclasses.fields(dials)
    ]


@pytest.mark.parametrize(
    ("kind", "text", "told"),
    [
        (int, "3.5", "an integer"),
        (int, "\u0663", "an integer"),
        (float, "half", "a number"),
        (bool, "yes", "true or false"),
        (int | None, "no", "an integer or none"),
        (tuple[int, ...], "1/x", "an integer"),
    ],
)
def test_values_of_another_type_are_refused(kind: Any, text: str, told: str) -> None:
    with pytest.raises(ParameterError) as caught:
        read_value("decoder m:D", "k", text, kind)
    assert (
        str(caught.value)
        == f"The 'k' parameter of decoder m:D must be {told}. Got {text.rsplit('/', maxsplit=1)[-1]!r} instead."
    )


def test_names_and_settings_are_told_apart() -> None:
    assert split_spec("decoder", "a.b:C:k=1,l=m:n", []) == ("a.b:C", "k=1,l=m:n")
    assert split_spec("decoder", "poll:l=a.b", ["poll"]) == ("poll", "l=a.b")
    for text in ("poll", "a.b:C=1", "a.b:", ":C", "a..b:C", "1a:C", "a b:C", "a:C!", ""):
        with pytest.raises(ParameterError):
            split_spec("decoder", text, [])
    with pytest.raises(ParameterError):
        split_spec("estimator", "a.b:C", [], users=False)
    assert not names_user_class("a.b:C:k=1")


def test_lists_have_commas_where_that_is_said() -> None:
    assert read_pairs("x", "p=0.5,0.7,q=1", "pq", lists=True) == {"p": "0.5,0.7", "q": "1"}
    for text in ("p=1,2", "p=1,p=2", "r=1", "p"):
        with pytest.raises(ParameterError):
            read_pairs("x", text, "pq")


@pytest.mark.parametrize("module", ["", "os.path; import os", "..x", "no such", "a-b", "pairsim.nothing"])
def test_only_names_of_modules_are_loaded(module: str) -> None:
    with pytest.raises(ParameterError):
        load("sweep", module)


def test_only_loaded_classes_of_the_kind_are_found() -> None:
    assert find_class(Adag, f"{__name__}:Dials") is Dials
    for name in ("os:system", "builtins:eval", f"{__name__}:Nothing", "no.such.module:Thing", f"{__name__}:load"):
        assert find_class(Adag, name) is None
