"""Long sweeps from the command line: stores, rules, shards, progress, and the commands that look at results."""

from __future__ import annotations

import csv
import io
import json

import pandas as pd
import pytest
from sweep_tools import plain_rows_in, rows_in

from pairsim import Uniform, simulate, sweep
from pairsim.decoders import decoder
from pairsim.store import Store, opening
from pairsim.sweeps.files import csv_text, read_table
from pairsim.sweeps.rows import COLUMNS

GRID = ("sweep", "--n", "4,6", "--p", "0.8", "--decoder", "max-win", "--decoder", "poll:l=2", "--decoder", "adag")
GRID = (*GRID, "--threads", "1", "--trials", "500")
NEW_COMMANDS = ("sweep", "show", "export", "merge", "compare", "replay", "verify")


@pytest.fixture
def store(pairsim_command, tmp_path):
    """A store with a finished sweep of six rows."""
    path = tmp_path / "results.db"
    assert pairsim_command(*GRID, "--store", path).code == 0
    return path


def lines_of(text: str) -> list[str]:
    return [line for line in text.splitlines() if "compiling" not in line]


def one_line(outcome, *words: str, code: int = 2) -> None:
    """Check that a command said no: one line, the exit code, nothing on stdout."""
    (line,) = lines_of(outcome.err)
    assert (outcome.code, outcome.out) == (code, "")
    assert line.startswith("pairsim: ")
    for word in words:
        assert word in line


@pytest.mark.parametrize("command", NEW_COMMANDS)
def test_help_has_an_example(pairsim_command, command):
    outcome = pairsim_command(command, "--help")
    assert outcome.code == 0
    assert f"Example: pairsim {command} " in " ".join(outcome.out.split())


@pytest.mark.parametrize(
    "words",
    ["show {}", "show {} --tasks", "plot {} --out {}.svg", "export {} --out {}.csv", "compare {} adag max-win"],
)
def test_a_store_is_opened_and_checked_once(words, pairsim_command, store, monkeypatch):
    opened, check = [], opening.open_checked
    monkeypatch.setattr(opening, "open_checked", lambda *where: opened.append(where) or check(*where))
    assert pairsim_command(*words.replace("{}", str(store)).split()).code == 0
    assert len(opened) == 1


def test_a_store_changes_nothing_and_the_second_time_plays_nothing(pairsim_command, store):
    plain = pairsim_command(*GRID, "--format", "csv")
    again = pairsim_command(*GRID, "--format", "csv", "--store", store)
    assert again.out == plain.out == csv_text(plain_rows_in(store))
    (note,) = lines_of(again.err)
    assert note == f"pairsim: {store} already has 6 of the blocks"
    assert lines_of(pairsim_command(*GRID, "--store", store, "--quiet").err) == []


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        (("--max-failures", "30"), {"max_failures": 30}),
        (("--half-width", "0.004", "--method", "simulated"), {"half_width": 0.004, "method": "simulated"}),
        (("--half-width", "5%"), {"half_width": "5%"}),
        (("--max-failures", "1000000", "--trials", "20000"), {"max_failures": 1_000_000, "trials": 20_000}),
    ],
)
def test_rules(pairsim_command, options, arguments):
    outcome = pairsim_command(
        "sweep", "--n", "4", "--p", "0.99", "--decoder", "poll:l=3", "--format", "csv", "--quiet", *options
    )
    frame = sweep([Uniform(4, 0.99)], [decoder("poll:l=3")], **arguments)
    assert outcome.out == frame.to_csv(index=False, columns=COLUMNS, lineterminator="\n")


def test_processes_and_shards(pairsim_command, tmp_path, store):
    one = pairsim_command(*GRID, "--format", "csv").out
    where = tuple("--workers" if word == "--threads" else word for word in GRID)
    assert pairsim_command(*where, "--format", "csv").out == one
    long = (*GRID, "--trials", "160000", "--quiet")
    parts = []
    for part in (2, 1):
        parts.append(tmp_path / f"{part}.db")
        assert pairsim_command(*long, "--store", parts[-1], "--shard", f"{part}/2").code == 0
    told = pairsim_command(*GRID, "--trials", "160000", "--store", parts[0], "--shard", "2/2").err
    assert "shard 2/2 is done; merge the stores with: pairsim merge" in told
    merged = pairsim_command("merge", *parts, "--out", tmp_path / "all.db")
    assert (merged.code, merged.out) == (0, "")
    assert "18 blocks of 6 tasks from 2 files" in merged.err
    assert csv_text(plain_rows_in(tmp_path / "all.db")) == pairsim_command(*long, "--format", "csv").out
    again = pairsim_command("merge", *parts, "--out", tmp_path / "all.db")
    assert "duplicates dropped" in again.err
    assert csv_text(plain_rows_in(tmp_path / "all.db")) == pairsim_command(*long, "--format", "csv").out


def test_progress_for_programs(pairsim_command, tmp_path):
    for options in ((), ("--store", tmp_path / "results.db"), ("--max-failures", "50"), ("--method", "exact")):
        grid = GRID if "exact" not in options else (*GRID[:5], "--decoder", "adag")
        outcome = pairsim_command(*grid, *options, "--progress", "json", "--format", "json")
        assert json.loads(outcome.out)
        states = [json.loads(line) for line in lines_of(outcome.err)]
        assert states[-1]["fraction"] == 1.0
        assert states[-1]["tasks_done"] == states[-1]["tasks"]
        assert states[-1]["current"] == []
        fractions = [state["fraction"] for state in states]
        assert all(0.0 <= fraction <= 1.0 for fraction in fractions)
        assert states[-1]["trials"] == sum(row["trials"] for row in json.loads(outcome.out) if row["trials"])


@pytest.mark.parametrize("style", ["lines", "none", "auto"])
def test_short_runs_are_silent(pairsim_command, style):
    assert lines_of(pairsim_command(*GRID, "--progress", style).err) == []


def test_time_that_is_up(pairsim_command, store):
    more = (*GRID, "--trials", "300000", "--store", store)
    outcome = pairsim_command(*more, "--max-seconds", "0.000001")
    assert outcome.code == 0
    assert "time is up with" in outcome.err
    assert "the same command resumes" in outcome.err


def test_a_dry_run_does_nothing(pairsim_command, tmp_path, store):
    nowhere = tmp_path / "nowhere.db"
    outcome = pairsim_command(*GRID, "--store", nowhere, "--dry-run", "--format", "json")
    assert not nowhere.exists()
    tasks = json.loads(outcome.out)
    assert [(task["n"], task["decoder"]) for task in tasks] == [
        (n, spec) for n in (4, 6) for spec in ("max-win", "poll:l=2", "adag")
    ]
    assert [task["queries"] for task in tasks[:3]] == [500 * 6, 500 * 8, 500 * 3]
    assert {(task["blocks"], task["stored"]) for task in tasks} == {(1, 0)}
    before = store.read_bytes()
    there = json.loads(pairsim_command(*GRID, "--store", store, "--dry-run", "--format", "json").out)
    assert {(task["blocks"], task["stored"]) for task in there} == {(1, 1)}
    assert store.read_bytes() == before
    text = pairsim_command(*GRID, "--store", store, "--dry-run", "--max-failures", "9").out
    assert "at most, 6 tasks" in text


def test_show(pairsim_command, store):
    table = pairsim_command("show", store)
    assert table.code == 0
    for word in ("max-win", "poll:l=2", "adag", "6 blocks; seeds 0", "pairsim sweep --n 4,6"):
        assert word in table.out
    text = pairsim_command("show", store, "--format", "csv").out
    assert text == pairsim_command(*GRID, "--format", "csv").out
    assert [list(row) for row in json.loads(pairsim_command("show", store, "--format", "json").out)] == [COLUMNS] * 6
    records = json.loads(pairsim_command("show", store, "--tasks", "--format", "json").out)
    with Store.read(store) as opened:
        assert {record["task"] for record in records} <= {task.id for task in opened.tasks()}
    assert [(r["decoder"], r["blocks"], r["state"]) for r in records[:3]] == [
        ("max-win", 1, "finished"),
        ("poll:l=2", 1, "finished"),
        ("adag", 1, "finished"),
    ]
    assert "finished" in pairsim_command("show", store, "--tasks").out
    listed = list(csv.DictReader(io.StringIO(pairsim_command("show", store, "--tasks", "--format", "csv").out)))
    assert [row["task"] for row in listed] == [record["task"] for record in records]


def test_export(pairsim_command, store, tmp_path):
    out = {suffix: tmp_path / f"table{suffix}" for suffix in (".csv", ".json", ".parquet")}
    for suffix, path in out.items():
        direct = tmp_path / f"direct{suffix}"
        assert pairsim_command("export", store, "--out", path).err.endswith(f"wrote 6 rows to {path}\n")
        pairsim_command(*GRID, "--out", direct)
        assert path.read_bytes() == direct.read_bytes()
        pd.testing.assert_frame_equal(read_table(path), read_table(out[".csv"]))
    assert pairsim_command("show", out[".json"], "--format", "csv").out == out[".csv"].read_text()
    assert "a store has tasks" in pairsim_command("show", out[".csv"], "--tasks").err


def test_compare(pairsim_command, store, tmp_path):
    found = json.loads(pairsim_command("compare", store, "max-win", "poll:l=2", "--format", "json").out)
    rows = {(row.n, row.decoder): row.success for row in plain_rows_in(store)}
    for each in found:
        wanted = rows[each["n"], "max-win"] - rows[each["n"], "poll:l=2"]
        assert each["difference"] == pytest.approx(wanted, abs=1e-12)
        assert each["low"] < wanted < each["high"]
        assert (each["paired"], each["trials"]) == ("yes", 500)
    assert "max-win is better on 2, poll:l=2 on 0, undecided on 0" in " ".join(
        pairsim_command("compare", store, "max-win", "poll:l=2").out.split()
    )
    table = tmp_path / "table.csv"
    pairsim_command("export", store, "--out", table)
    outcome = pairsim_command("compare", table, "max-win", "poll:l=2", "--format", "json")
    assert "use a store for paired intervals" in outcome.err
    for wide, each in zip(json.loads(outcome.out), found, strict=True):
        assert wide["paired"] == "no"
        assert wide["high"] - wide["low"] > each["high"] - each["low"]


def test_replay(pairsim_command, store):
    records = json.loads(pairsim_command("show", store, "--tasks", "--format", "json").out)
    adag = next(record["task"] for record in records if record["decoder"] == "adag")
    poll = next(record["task"] for record in records if record["decoder"] == "poll:l=2")
    text = pairsim_command("replay", store, "--task", adag[:8], "--trial", "17")
    assert (text.code, lines_of(text.err)) == (0, [])
    report = json.loads(pairsim_command("replay", store, "--task", adag, "--trial", "17", "--format", "json").out)
    assert isinstance(report, dict)
    assert report
    full = pairsim_command("replay", store, "--task", adag, "--trial", "17", "--full")
    assert len(full.out) >= len(text.out) > 0
    assert "one draw from them" in pairsim_command("replay", store, "--task", poll, "--trial", "0").err
    one_line(pairsim_command("replay", store, "--task", adag[:3], "--trial", "0"), "'task' parameter of replay")
    one_line(pairsim_command("replay", store, "--task", "feed" * 8, "--trial", "0"), "which fits 0")
    one_line(pairsim_command("replay", store, "--task", adag, "--trial", "-1"), "'trial' parameter")
    one_line(pairsim_command("replay", store, "--task", adag, "--trial", "0", "--format", "csv"), "text, json")


def copied(source, target, change):
    """Copy a store through its public face, so that all checksums are right, and change some blocks on the way."""
    with Store.read(source) as old, Store.create_or_open(target) as new:
        new.add_oracles([old.oracle(digest) for digest in old.oracles()])
        new.add_tasks(old.tasks())
        new.put_requests(old.requests())
        new.record([change(block) for block in old.all_blocks()], old.all_pairs())


def test_verify(pairsim_command, store, tmp_path):
    outcome = pairsim_command("verify", store)
    assert (outcome.code, outcome.out) == (0, "6 of 6 blocks recomputed: all values match.\n")
    assert pairsim_command("verify", store, "--blocks", "2", "--seed", "1").out.startswith("2 of 6 blocks")
    same, wrong = tmp_path / "same.db", tmp_path / "wrong.db"
    copied(store, same, lambda block: block)
    assert pairsim_command("verify", same).code == 0
    first = []

    def with_one_lie(block):
        first.append(block)
        failed, *others = block.values
        return block if len(first) > 1 else block._replace(values=(failed + 1.0, *others))

    copied(store, wrong, with_one_lie)
    outcome = pairsim_command("verify", wrong)
    assert (outcome.code, outcome.out) == (1, "")
    lie, end = lines_of(outcome.err)
    assert first[0].task in lie
    assert end == "pairsim: 1 of 6 recomputed blocks differ"


def test_more_then_fewer_trials(pairsim_command, store):
    """The rows of a store are those of the longest run; each command prints what it was asked for."""
    more = pairsim_command(*GRID, "--trials", "20000", "--store", store, "--format", "csv").out
    fewer = pairsim_command(*GRID, "--trials", "300", "--store", store, "--format", "csv").out
    assert fewer == pairsim_command(*GRID, "--trials", "300", "--format", "csv").out
    assert pairsim_command("show", store, "--format", "csv").out == more
    assert len(rows_in(store)) == 6


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((*GRID, "--store", "results.csv"), ("'store' parameter", "results.db")),
        ((*GRID, "--shard", "1/2"), ("'shard' parameter", "--store")),
        ((*GRID, "--shard", "3/2", "--store", "x.db"), ("'shard' parameter", "1/4")),
        ((*GRID, "--shard", "1/2", "--store", "x.db", "--half-width", "0.1"), ("'shard' parameter", "rule")),
        ((*GRID, "--half-width", "much"), ("'half_width' parameter", "1%")),
        ((*GRID, "--half-width", "0.1", "--max-failures", "5"), ("'max_failures' parameter",)),
        ((*GRID, "--max-failures", "1"), ("'max_failures' parameter",)),
        ((*GRID, "--max-seconds", "-1"), ("'max_seconds' parameter",)),
        ((*GRID, "--workers", "2"), ("'workers' parameter", "threads")),
        ((*GRID, "--progress", "loud"), ("'progress' parameter", "json")),
        ((*GRID[:-4], "--scheduler", "nowhere"), ("'scheduler' parameter", "tcp://host:port")),
        (("show", "nothing.db"), ("nothing.db",)),
        (("export", "nothing.db", "--out", "t.csv"), ("nothing.db",)),
        (("export", "nothing.db", "--out", "t.txt"), ("'file' parameter of export", "nothing.db")),
        (("merge", "nothing.db", "--out", "all.db"), ("nothing.db",)),
        (("compare", "nothing.db", "adag", "ddag"), ("nothing.db",)),
        (("compare", "nothing.db", "adag", "stranger"), ("stranger",)),
        (("replay", "nothing.db", "--task", "abcd", "--trial", "0"), ("nothing.db",)),
        (("verify", "nothing.db"), ("nothing.db",)),
        (("verify", "nothing.db", "--blocks", "0"), ("'blocks' parameter",)),
        (("show",), ("Try 'pairsim show --help'",)),
        (("shaw",), ("Try 'pairsim --help'",)),
        (("show", "--what"), ("No such option: --what. Try",)),
        (("decoders", "all"), ("(all). Try",)),
        (("bound", "--n", "10000000000", "--p", "0.9"), ("at most 2,147,483,647 classes",)),
        (("exact", "--n", "8", "--p", "0.9", "--decoder", "poll:l=10000000000"), ("at most 2,147,483,647",)),
    ],
)
def test_one_line_of_no(pairsim_command, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    one_line(pairsim_command(*arguments), *words)
    assert list(tmp_path.iterdir()) == []  # and nothing was made


def test_an_empty_store_has_nothing_to_tell(pairsim_command, tmp_path):
    path = tmp_path / "empty.db"
    Store.create_or_open(path).close()
    for arguments in (
        ("export", path, "--out", tmp_path / "t.csv"),
        ("verify", path),
        ("compare", path, "adag", "ddag"),
    ):
        one_line(pairsim_command(*arguments))
    assert "0 blocks; seeds none" in pairsim_command("show", path).out
    assert pairsim_command("show", path, "--format", "json").out == "[]\n"  # programs get what they can read
    assert pairsim_command("show", path, "--format", "csv").out == ",".join(COLUMNS) + "\n"
    nothing = pairsim_command(*GRID, "--max-seconds", "0.000001", "--format", "json")
    assert (nothing.code, json.loads(nothing.out)) == (0, [])


def test_a_row_of_a_store_is_what_simulate_says(store):
    (row, *_) = plain_rows_in(store)
    found = simulate(Uniform(4, 0.8), [decoder("max-win"), decoder("adag")], 500)[0]
    assert (row.success, row.low, row.high) == (found.success, found.low, found.high)
