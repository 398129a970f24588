"""CONTRIBUTING tells the truth: the picture of the longest way, and the files that it names."""

from __future__ import annotations

import re
import sys
import threading
from pathlib import Path
from types import FrameType

import pytest

import pairsim
from pairsim.cli import main

ROOT = Path(pairsim.__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text()
STATION = re.compile(r"^ ?(\d+) ([a-z_.]+(?:, [a-z_.]+)*)  ", re.MULTILINE)


def stations() -> list[list[str]]:
    """Return the modules of each station of the picture."""
    return [names.split(", ") for _, names in STATION.findall(TEXT)]


# one function of each station, which is called when the way comes there
FUNCTIONS = (
    *("run", "sweep_command", "decoder", "make_request", "open", "create_or_open", "make_groups", "load", "register"),
    *("_next_unit", "submit", "play_unit", "run", "play_slab", "row"),
)


def first_calls(words: list[str], monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Return (module, name) of the functions of pairsim that a command calls, in the order of each one's first call."""
    seen: dict[tuple[str, str], None] = {}
    lock = threading.Lock()

    def note(frame: FrameType, event: str, _: object) -> None:
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith("pairsim.") and frame.f_code.co_name != "<module>":
            with lock:
                seen.setdefault((module.removeprefix("pairsim."), frame.f_code.co_name))

    monkeypatch.setattr(sys, "argv", ["pairsim", *words])
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        with pytest.raises(SystemExit, match=r"^0$"):
            main.run()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return list(seen)


def test_the_longest_way_is_as_it_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    drawn = stations()
    assert [len(drawn), drawn[0], drawn[-1]] == [15, ["cli.main"], ["sweeps.progress"]]
    words = ["sweep", "--p", "0.8", "--n", "6", "--decoder", "max-win", "--decoder", "adag", "--trials", "300"]
    words += ["--store", str(tmp_path / "a.db"), "--threads", "1"]
    first_calls(words, monkeypatch)  # compiles
    called = first_calls([*words, "--seed", "1"], monkeypatch)
    places = []
    for names, function in zip(drawn, FUNCTIONS, strict=True):
        for name in names:
            assert any(f"{module}.".startswith(f"{name}.") for module, _ in called), f"{name} is not called"
        found = [k for k, (module, each) in enumerate(called) if each == function and in_station(module, names)]
        assert found, f"{function} of {names} is not called"
        places.append(found[0])
    assert places == sorted(places), [called[place] for place in places]


def in_station(module: str, names: list[str]) -> bool:
    return any(f"{module}.".startswith(f"{name}.") for name in names)


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`((?:pairsim|tests|experiments)/[\w/]+\.py)", TEXT))))
def test_files_that_are_named_are_there(name: str) -> None:
    assert (ROOT / name).exists()
