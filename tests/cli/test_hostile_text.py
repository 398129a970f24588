"""Text that would do something to a terminal, in every place that prints: it never arrives there."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import hostile_files
import numpy as np
import pytest
from terminals import run_in_terminal
from test_forged_stores import COMMANDS, decoded_by, forge, put

from pairsim import MaxWin, Recorded, Uniform, sweep
from pairsim.plain_text import printable
from pairsim.store import Run, Store

pytestmark = pytest.mark.usefixtures("commands_built_once")
commands_built_once = hostile_files.commands_built_once

ESCAPES = "\x1b[31m\x1b]0;title\x07\r\b\x7f\x85\x9b2J\u2028\u202e\u2066\u200b"
HOSTILE = f"evil{ESCAPES}\nend"
IN_JSON = f"{HOSTILE}\x00"
ROW = ["uniform", "4", "0.7", "max-win", "simulated", "100", "0.5", "0.4", "0.6", "6", "6", "1", "1"]


def assert_harmless(text: str, where: object) -> None:
    """Nothing but printable text and line ends."""
    assert all(letter.isprintable() or letter == "\n" for letter in text), (where, text)


def test_the_check_can_fail() -> None:
    for letter in HOSTILE.replace("\n", "").removeprefix("evil").removesuffix("end"):
        if not letter.isprintable():
            with pytest.raises(AssertionError):
                assert_harmless(f"a{letter}b", "")
            assert printable(f"a{letter}b") == "a?b"
    assert printable("plain ünïcode 日本 ±") == "plain ünïcode 日本 ±"


def with_run(path: Path) -> str:
    """Make a store whose run has hostile notes; return the id of a task in it."""
    sweep([Uniform(4, 0.7)], [MaxWin()], trials=50, store=path)
    with Store.create_or_open(path) as store:
        store.add_run(Run(HOSTILE, HOSTILE, json.dumps({HOSTILE: HOSTILE}), HOSTILE))
        store.add_run(Run(HOSTILE, HOSTILE, HOSTILE, HOSTILE))
        return store.tasks()[0].id


FORGED: dict[str, tuple[str, str, Any]] = {
    "kind": ("uniform", "task", put(kind=IN_JSON)),
    "kind of an evaluation": ("uniform", "task", put(kind="evaluation", data=IN_JSON, estimator=IN_JSON)),
    "label": ("uniform", "request", put(label=IN_JSON)),
    "shown": ("uniform", "request", put(shown=IN_JSON)),
    "decoder": ("uniform", "task", decoded_by(name=IN_JSON)),
    "setting": ("uniform", "task", decoded_by(name="ddag", order=IN_JSON)),
    "setting that is none": ("uniform", "task", decoded_by(name="ddag", **{IN_JSON: 1})),
    "errors of a radag": ("uniform", "task", decoded_by(name="radag", errors=IN_JSON)),
    "answers of a learned": ("uniform", "task", decoded_by(name="learned", answers=IN_JSON)),
    "method": ("uniform", "task", put(method=IN_JSON)),
    "key": ("uniform", "task", put(**{IN_JSON: 1})),
    "oracle": ("uniform", "oracle", lambda record: record._replace(name=HOSTILE)),
    "oracle's parameters": ("uniform", "oracle", lambda record: record._replace(params=json.dumps({IN_JSON: IN_JSON}))),
    "request": ("uniform", "request", lambda record: {IN_JSON: IN_JSON}),
}
MORE = {
    "show as csv": ["show", "STORE", "--format", "csv"],
    "show as json": ["show", "STORE", "--format", "json"],
    "tasks as csv": ["show", "STORE", "--tasks", "--format", "csv"],
    "replay as json": ["replay", "STORE", "--task", "TASK", "--trial", "2", "--format", "json"],
    "merge": ["merge", "STORE", "--out", "NEW.db"],
    "evaluate": ["evaluate", "--data", "iris", "--decoder", "max-win", "--quiet", "--store", "STORE"],
}


@pytest.mark.parametrize("name", [*FORGED, "run"])
def test_forged_stores(tmp_path: Path, pairsim_command, name: str) -> None:
    path = tmp_path / "a.db"
    task = with_run(path) if name == "run" else forge(path, *FORGED[name])
    seen = ""
    for command, words in (COMMANDS | MORE).items():
        places = {"STORE": path, "TASK": task} | {
            f"NEW{end}": tmp_path / f"new{end}" for end in (".csv", ".svg", ".db")
        }
        outcome = pairsim_command(*(places.get(word, word) for word in words))
        assert_harmless(outcome.out + outcome.err, command)
        assert outcome.code in (0, 1, 2)
        seen += outcome.out + outcome.err
    if (tmp_path / "new.csv").exists():
        assert_harmless((tmp_path / "new.csv").read_text(), "export")
    if name in ("kind", "label", "run", "decoder"):
        assert "evil" in seen  # it was printed, but for what does harm


TABLES = {
    "name of an oracle": [HOSTILE, *ROW[1:]],
    "name of a decoder": [*ROW[:3], HOSTILE, *ROW[4:]],
    "method": [*ROW[:4], HOSTILE, *ROW[5:]],
    "number": [*ROW[:6], HOSTILE, *ROW[7:]],
}


@pytest.mark.parametrize("name", [*TABLES, "header"])
@pytest.mark.parametrize("ending", [".csv", ".json"])
def test_tables(tmp_path: Path, pairsim_command, name: str, ending: str) -> None:
    path = tmp_path / f"a{ending}"
    header = hostile_files.HEADER.strip().split(",")
    header, row = ([HOSTILE, *header[1:]], ROW) if name == "header" else (header, TABLES[name])
    if ending == ".json":
        path.write_text(json.dumps([dict(zip(header, row, strict=False))]))
    else:
        text = io.StringIO()
        csv.writer(text).writerows([header, row])
        path.write_text(text.getvalue(), newline="")
    for words in (
        ["show", path],
        ["show", path, "--tasks"],
        ["plot", path, "--out", tmp_path / "new.svg"],
        ["compare", path, "max-win", HOSTILE],
        ["compare", path, "max-win", "adag"],
        ["export", path, "--out", tmp_path / "new.csv"],
        ["sweep", "--n", "4", "--p", "0.9", "--out", path],
        ["evaluate", "--data", path],
        ["record", "--data", path, "--estimator", "linear-svc", "--out", tmp_path / "new.npz"],
    ):
        outcome = pairsim_command(*words)
        assert_harmless(outcome.out + outcome.err, words[0])


def dataset(path: Path) -> None:
    """Write a data set whose columns and labels are hostile."""
    probability = np.random.default_rng(1)
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([HOSTILE, f"{HOSTILE}2", f"{HOSTILE}label"])
    for place in range(60):
        kind = place % 4
        writer.writerow([*(kind + probability.normal(size=2)).round(3), f"{HOSTILE}{kind}"])
    path.write_text(text.getvalue(), newline="", encoding="utf-8")


def test_data_sets(tmp_path: Path, pairsim_command) -> None:
    path = tmp_path / f"{HOSTILE}.csv"
    dataset(path)
    store, answers = tmp_path / f"{HOSTILE}.db", tmp_path / f"{HOSTILE}.npz"
    train = ["--decoder", "max-win", "--decoder", "adag"]
    for words in (
        ["evaluate", "--data", path, *train, "--store", store, "--out", tmp_path / f"{HOSTILE}e.csv"],
        ["evaluate", "--data", path, *train, "--target", HOSTILE],
        ["evaluate", "--data", path, *train, "--format", "csv"],
        ["evaluate", "--data", path, "--reduction", "one-vs-all", "--folds", "2", "--jobs", "1"],
        ["show", store],
        ["show", store, "--tasks"],
        ["show", tmp_path / f"{HOSTILE}e.csv"],
        ["compare", store, "max-win", "adag"],
        ["export", store, "--out", tmp_path / f"{HOSTILE}x.csv"],
        ["plot", store, "--out", tmp_path / f"{HOSTILE}x.svg"],
        ["record", "--data", path, "--estimator", "linear-svc", "--out", answers],
        ["fit-oracle", answers, "--trials", "50", "--decoder", "max-win", "--out", tmp_path / f"{HOSTILE}f.csv"],
        ["exact", "--oracle", f"recorded:{answers}"],
    ):
        outcome = pairsim_command(*words)
        assert_harmless(outcome.out + outcome.err, words)
        assert outcome.code == 0 or "--target" in words, outcome


NAME = f"{HOSTILE}"
POINT = ["--n", "4", "--p", "0.9"]
NAMED = {
    "sweep": ["sweep", *POINT, "--trials", "9", "--store", ".db", "--out", ".csv", "--plot", ".svg"],
    "sweep again": ["sweep", *POINT, "--trials", "9", "--store", ".db"],
    "sweep to a stranger's file": ["sweep", *POINT, "--out", "other.csv"],
    "sweep to another ending": ["sweep", *POINT, "--out", ".txt"],
    "sweep to a table": ["sweep", *POINT, "--store", ".csv"],
    "sweep into a directory": ["sweep", *POINT, "--out", "/a.csv"],
    "sweep on a damaged store": ["sweep", *POINT, "--store", "damaged.db"],
    "matrix": ["sweep", "--matrix", ".txt"],
    "matrix that is none": ["sweep", "--matrix", "damaged.db"],
    "good matrix": ["sweep", "--matrix", "matrix.txt", "--trials", "9", "--format", "csv"],
    "good matrix in a table": ["sweep", "--matrix", "matrix.txt", "--trials", "9", "--progress", "json"],
    "similarities": ["plan", "--target", "0.9", "--r", ".txt"],
    "good similarities": ["exact", "--r", "r.txt"],
    "answers": ["exact", "--oracle", "recorded:.npz"],
    "decoder": ["sweep", *POINT, "--decoder", "radag:errors=.npy"],
    "answers of a decoder": ["sweep", *POINT, "--decoder", "learned:answers=.npz"],
    "unknown decoder": ["sweep", *POINT, "--decoder", ""],
    "unknown data": ["evaluate", "--data", ""],
    "unknown estimator": ["evaluate", "--data", "iris", "--estimator", ""],
    "unknown setting": ["evaluate", "--data", "iris", "--estimator", "svc-rbf:="],
    "unknown reduction": ["evaluate", "--data", "iris", "--reduction", ""],
    "libsvm": ["record", "--data", "iris", "--libsvm", ".model", "--out", "new.npz"],
    "other libsvm": ["record", "--data", "iris", "--libsvm", "other.csv", "--out", "new.npz"],
    "skops": ["record", "--data", "iris", "--skops", "other.csv", "--out", "new.npz"],
    "show nothing": ["show", "nothing.db"],
    "show damage": ["show", "damaged.db"],
    "show a stranger": ["show", "other.csv"],
    "show": ["show", ".db"],
    "show a table": ["show", ".csv"],
    "export": ["export", ".db", "--out", "new.csv"],
    "merge": ["merge", ".db", "--out", "new.db"],
    "merge damage": ["merge", ".db", "damaged.db", "--out", "new2.db"],
    "verify": ["verify", ".db"],
    "verify damage": ["verify", "damaged.db"],
    "compare": ["compare", ".db", "max-win", "adag"],
    "compare nothing": ["compare", "nothing.db", "max-win", "adag"],
    "replay": ["replay", ".db", "--task", "", "--trial", "0"],
    "plot": ["plot", ".db", "--out", "new.svg"],
    "plot nothing": ["plot", "nothing.db", "--out", "new.svg"],
    "fit-oracle": ["fit-oracle", "other.csv"],
    "format": ["sweep", *POINT, "--format", ""],
    "ties": ["sweep", *POINT, "--ties", ""],
    "method": ["sweep", *POINT, "--method", ""],
    "n": ["sweep", "--n", "", "--p", "0.9"],
    "half width": ["sweep", *POINT, "--half-width", ""],
    "shard": ["sweep", *POINT, "--store", ".db", "--shard", ""],
    "scheduler": ["sweep", *POINT, "--scheduler", ""],
    "trials": ["sweep", *POINT, "--trials", ""],
    "unknown option": ["sweep", "--"],
    "unknown command": [""],
}
KEPT = {
    "sweep",
    "evaluate",
    "record",
    "exact",
    "plan",
    "show",
    "export",
    "merge",
    "verify",
    "compare",
    "replay",
    "plot",
}
KEPT |= {"fit-oracle", "iris", "max-win", "adag", "0", "9", "4", "0.9", "csv", "json", "new.npz"}


def test_names_of_files_and_values(tmp_path: Path, pairsim_command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every word that does not belong to the command's own language is hostile; the words follow each other."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"{NAME}other.csv").write_text("a,b\n1,2\n")
    (tmp_path / f"{NAME}damaged.db").write_bytes(b"SQLite format 3\x00" + bytes(5000))
    (tmp_path / f"{NAME}matrix.txt").write_text("0.5,0.9\n0.1,0.5\n")
    (tmp_path / f"{NAME}r.txt").write_text("0.5\n0.3\n0.2\n")
    for case, words in NAMED.items():
        outcome = pairsim_command(*(_named(word) for word in words))
        assert_harmless(outcome.out + outcome.err, case)
        assert outcome.code in (0, 1, 2)
        if outcome.code == 2:
            assert len(outcome.err.splitlines()) == 1, case


def _named(word: str) -> str:
    """Put the hostile name before a word that stands for a file or a value."""
    if word in KEPT or (word.startswith("--") and word != "--"):
        return word
    prefix = next(
        (
            start
            for start in ("recorded:", "radag:errors=", "learned:answers=", "svc-rbf:", "--")
            if word.startswith(start)
        ),
        "",
    )
    return prefix + NAME + word.removeprefix(prefix)


def test_recorded_answers_with_other_words(tmp_path: Path, pairsim_command) -> None:
    good = tmp_path / "good.npz"
    Recorded.of(Uniform(4, 0.7), 30).save(good)
    with np.load(good) as stored:
        parts = dict(stored)
    for name in parts:
        np.savez(tmp_path / "bad.npz", **parts | {name: np.array([IN_JSON])})
        outcome = pairsim_command("exact", "--oracle", f"recorded:{tmp_path / 'bad.npz'}")
        assert_harmless(outcome.out + outcome.err, name)
        assert outcome.code == 2


def test_a_real_terminal_gets_nothing_but_colours(tmp_path: Path) -> None:
    """The same in a terminal, where rich draws: only its own bold and reset are left."""
    path = tmp_path / "a.db"
    forge(path, *FORGED["label"])
    table = tmp_path / f"{HOSTILE}.csv"
    shown = run_in_terminal(
        [(80, ["show", str(path)]), (80, ["show", str(path), "--tasks"]), (80, ["show", str(table)])], tmp_path
    )
    for each in shown:  # colours are gone by now
        assert_harmless("\n".join(each.out) + each.err, "terminal")
    assert re.search("evil", "\n".join(shown[0].out))
