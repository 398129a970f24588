"""Stores of version 0.2.0: what was computed by its rules is kept and left out, everything else is reported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from old_stores import FIRST, ROWS, definition_of, write_old_store, write_with_old_quick

from pairsim import Champion, MaxWin, ParameterError, Poll, Quick, Radag, TopK, Uniform, sweep
from pairsim.decoders import SupersededError, decoder_of
from pairsim.evaluation.results import read_evaluation
from pairsim.store import Store, TaskRecord, merge_stores, task_id
from pairsim.sweeps.requests import stored_rows
from pairsim.sweeps.tasks import task_of
from pairsim.sweeps.verification import verify_store

KEPT = [0, 1, 8, 9, 11, 12]
SPECS = ["quick", "champion:ties=any", "radag", "max-win:ties=first", "top-k:k=2,l=2,final=rescore,ties=first"]
SPECS += ["adag:order=given"]
OLD_SPECS = [*SPECS, "quick", "max-win:ties=first"]
WHY = "computed by rules that an earlier version had"
LINE = f"pairsim: 8 rows are skipped ({', '.join(SPECS)}): {WHY}; run the sweep again"


@pytest.fixture
def old_store(tmp_path: Path) -> Path:
    write_old_store(tmp_path / "old.db")
    return tmp_path / "old.db"


def records_of(path: Path) -> list[object]:
    with Store.read(path) as store:
        return [*map(repr, store.tasks()), *map(repr, store.requests()), *map(repr, store.all_blocks())]


def test_rows_by_the_same_rules_are_reported_as_before(old_store):
    left_out: list[str] = []
    with Store.read(old_store) as store:
        rows = stored_rows(store, left_out)
        with pytest.raises(SupersededError, match="quick, by rules of an earlier version"):
            stored_rows(store)
    found = [(row.oracle.split(":")[0], row.decoder) for row in rows]
    names = [ROWS[at][1].name for at in KEPT]
    assert found == list(zip(names, ["max-win", "poll:l=2", "adag", *SPECS[3:6:2], "poll:l=2"], strict=True))
    assert [row.success for row in rows[:2]] == [1 - ROWS[at][4][1] for at in (0, 1)]
    assert rows[1].agreement == ROWS[1][6] / 200
    assert rows[5].success == pytest.approx(1 - ROWS[12][4][1])
    assert rows[5].agreement != rows[5].agreement, "what it was compared with, max-win:ties=first, is left out"
    assert left_out == OLD_SPECS


@pytest.mark.parametrize("arguments", [("show",), ("show", "--tasks"), ("show", "--format", "csv")], ids=str)
def test_show(pairsim_command, old_store, arguments):
    command, *options = arguments
    shown = pairsim_command(command, old_store, *options)
    assert (shown.code, shown.err.splitlines()) == (0, [LINE])
    assert "poll:l=2" in shown.out
    assert "quick" not in shown.out


def test_export_plot_and_verify(pairsim_command, old_store, tmp_path):
    exported = pairsim_command("export", old_store, "--out", tmp_path / "rows.csv")
    assert exported.err.splitlines() == [LINE, f"pairsim: wrote 6 rows to {tmp_path / 'rows.csv'}"]
    assert pairsim_command("plot", old_store, "--out", tmp_path / "rows.svg").err.splitlines()[0] == LINE
    with Store.read(old_store) as store:
        left_out: list[str] = []
        checked = verify_store(store, 100, 0, left_out=left_out)
    assert sorted(each.task.id for each in checked) == sorted(ROWS[at][0] for at in KEPT)
    assert all(each.agrees for each in checked), "version 0.2.0 found the same digits"
    assert sorted(left_out) == sorted(OLD_SPECS)
    verified = pairsim_command("verify", old_store, "--blocks", 3, "--seed", 1)
    assert verified.code == 0
    assert "8 tasks are skipped" in verified.err


def test_compare_and_replay(pairsim_command, old_store):
    compared = pairsim_command("compare", old_store, "poll:l=2", "max-win", "--format", "csv")
    assert (compared.code, len(compared.out.splitlines())) == (0, 2)
    assert LINE in compared.err.splitlines()
    refused = pairsim_command("compare", old_store, "quick", "max-win")
    assert refused.code == 2
    assert LINE in refused.err.splitlines()
    for at in (2, 5):
        replayed = pairsim_command("replay", old_store, "--task", ROWS[at][0][:8], "--trial", 0)
        assert replayed.code == 2
        (line,) = replayed.err.splitlines()
        assert "by rules of an earlier version" in line


def test_a_store_of_nothing_else(pairsim_command, tmp_path):
    write_old_store(tmp_path / "old.db", (2, 3))
    shown = pairsim_command("show", tmp_path / "old.db")
    assert shown.code == 0
    assert "2 rows are skipped (quick, champion:ties=any)" in shown.err
    for command, *options in (("export", "--out", tmp_path / "x.csv"), ("verify",)):
        refused = pairsim_command(command, tmp_path / "old.db", *options)
        assert (refused.code, len(refused.err.splitlines())) == (2, 2)
        assert "all skipped" in refused.err


def test_a_sweep_computes_them_anew_beside_the_old_ones(old_store, tmp_path):
    before = records_of(old_store)
    decoders = [MaxWin(), Poll(2), Quick(), Champion("any"), Radag(), MaxWin("first"), TopK(2, 2, ties="first")]
    rows = sweep([Uniform(5, 0.8)], decoders, 200, seed=1, store=old_store, threads=1)
    fresh = sweep([Uniform(5, 0.8)], decoders, 200, seed=1, threads=1)
    assert rows.equals(fresh)
    assert set(before) <= set(records_of(old_store))
    left_out: list[str] = []
    with Store.read(old_store) as store:
        found = stored_rows(store, left_out)
    assert len(found) == len(KEPT) + 5
    assert left_out == ["adag:order=given", "quick", "max-win:ties=first"], "those that were not computed again"
    first = [row.success for row in found if row.decoder == "max-win:ties=first" and row.oracle == "uniform"]
    assert first == [row.success for row in found if row.decoder == "max-win"][:1], "a fair draw among the tied"


def test_merging_keeps_them(old_store, tmp_path):
    write_old_store(tmp_path / "more.db", (0, 2))
    merge_stores([old_store, tmp_path / "more.db"], tmp_path / "all.db")
    assert set(records_of(tmp_path / "all.db")) == set(records_of(old_store))


def test_evaluations(pairsim_command, tmp_path):
    evaluated, old = tmp_path / "new.db", tmp_path / "old.db"
    command = ("evaluate", "--data", "iris", "--decoder", "max-win", "--decoder", "quick", "--decoder", "adag")
    assert pairsim_command(*command, "--store", evaluated).code == 0
    write_with_old_quick(evaluated, old)
    line = f"pairsim: 1 row is skipped (quick): {WHY}; run the evaluation again"
    for reading in (("show", old), ("show", old, "--tasks"), ("export", old, "--out", tmp_path / "rows.csv")):
        shown = pairsim_command(*reading)
        assert shown.code == 0
        assert shown.err.splitlines()[0] == line
        assert "quick" not in shown.out
    compared = pairsim_command("compare", old, "adag", "max-win", "--format", "csv")
    assert (compared.code, compared.err.splitlines()) == (0, [line])
    assert pairsim_command("plot", old, "--out", tmp_path / "rows.svg").err.splitlines()[0] == line
    with pytest.raises(SupersededError):
        read_evaluation(old)
    before = records_of(old)
    assert pairsim_command(*command, "--store", old).code == 0
    assert set(records_of(old)) > set(before)
    left_out: list[str] = []
    assert [row.decoder for row in read_evaluation(old, left_out)[0]] == ["max-win", "adag", "quick"]
    assert left_out == []


def test_only_what_0_2_0_wrote_is_superseded(old_store):
    """Negative control: anything else that this version does not write is rejected, and not left out."""
    with Store.read(old_store) as store:
        for at in range(len(ROWS)):
            record = TaskRecord(ROWS[at][0], definition_of(at))
            if at in KEPT:
                assert task_of(record, store).id == record.id
            else:
                with pytest.raises(SupersededError):
                    task_of(record, store)
        for changes in ({"labels": "given"}, {"decoder": FIRST | {"version": 7}}, {"oracle": "0" * 32}):
            parts = json.loads(definition_of(5)) | changes
            definition = json.dumps(parts, sort_keys=True)
            with pytest.raises(ParameterError) as refused:
                task_of(TaskRecord(task_id(definition), definition), store)
            assert not isinstance(refused.value, SupersededError)


def test_definitions_read_back():
    for each in (Quick(), Quick("any", "given"), Champion("lose"), Radag(), MaxWin("first"), Poll("3log")):
        assert decoder_of(each.definition()) == each
    assert "version" not in MaxWin("first").definition(), "max-win's rules are those it always had"
