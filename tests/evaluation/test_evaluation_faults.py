"""Evaluations as processes of their own, killed and stopped: the same command resumes, and trains nothing twice."""

from __future__ import annotations

import csv
import io
import os
import signal
import time

import pytest
from sweep_processes import PATIENCE, Process, all_gone, workers_of

from pairsim import ParameterError
from pairsim.evaluation import evaluate
from pairsim.evaluation.results import read_evaluation
from pairsim.store import StoreError

ESTIMATORS = ["svc-rbf", "sgd:max_iter=250000,tol=none"]  # the second takes its time, so that a signal finds it at work
SPECS = ["max-win", "adag", "radag"]
TIMES = ("fit_seconds", "predict_seconds")


def words(*more: object) -> list[str]:
    estimators = [word for each in ESTIMATORS for word in ("--estimator", each)]
    decoders = [word for each in SPECS for word in ("--decoder", each)]
    return ["evaluate", "--data", "iris", *estimators, *decoders, "--format", "csv", *map(str, more)]


def known_rows(store) -> list[dict[str, object]]:
    """Return what a store that somebody may be writing to has by now."""
    try:
        return [row._asdict() for row in read_evaluation(store)[0]]
    except (ParameterError, StoreError):  # not there, or nothing finished
        return []


def stop_amid(folder, sign: signal.Signals):
    """Start the command, send a signal when the first estimator is done, and return how it ended."""
    store = folder / "a.db"
    with Process(words("--store", store), folder) as process:
        patience = time.monotonic() + PATIENCE
        while len(known_rows(store)) < len(SPECS):
            assert not process.is_over()
            assert time.monotonic() < patience
            time.sleep(0.01)
        os.kill(process.pid, sign)
        return process.wait()


@pytest.fixture(scope="module")
def wanted() -> list[dict[str, object]]:
    """The rows of a run that nothing disturbed, but for their times."""
    rows = evaluate(["iris"], ESTIMATORS, SPECS).rows
    return [{name: value for name, value in row._asdict().items() if name not in TIMES} for row in rows]


@pytest.mark.parametrize(
    ("sign", "code", "said"),
    [(signal.SIGKILL, 137, None), (signal.SIGINT, 130, "stopped by Ctrl-C"), (signal.SIGTERM, 143, "SIGTERM")],
    ids=["kill -9", "Ctrl-C", "SIGTERM"],
)
def test_the_same_command_goes_on_where_it_was_stopped(tmp_path, pairsim_command, wanted, sign, code, said):
    ended = stop_amid(tmp_path, sign)
    assert (ended.code, ended.out) == (code, "")
    assert "Traceback" not in ended.err
    if said is not None:
        last = ended.err.splitlines()[-1]
        assert said in last
        assert f"resume with: pairsim {' '.join(words())}" in last
    before = known_rows(tmp_path / "a.db")
    assert [row["estimator"] for row in before] == [ESTIMATORS[0]] * len(SPECS)
    outcome = pairsim_command(*words("--store", tmp_path / "a.db"))
    assert outcome.code == 0
    after = known_rows(tmp_path / "a.db")
    assert repr([{name: row[name] for name in wanted[0]} for row in after]) == repr(wanted)
    assert repr(after[: len(SPECS)]) == repr(before)  # times and all: what was done is not done again
    assert "svc-rbf: training" not in outcome.err
    printed = list(csv.DictReader(io.StringIO(outcome.out)))
    assert [float(row["accuracy"]) for row in printed] == [row["accuracy"] for row in after]


def test_stopped_without_a_store_nothing_is_left(tmp_path):
    with Process(
        ["evaluate", "--data", "iris", "--estimator", ESTIMATORS[1], "--decoder", "adag"], tmp_path
    ) as process:
        patience = time.monotonic() + PATIENCE
        while "training" not in (tmp_path / "stderr").read_text():
            assert time.monotonic() < patience
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGINT)
        ended = process.wait()
    assert (ended.code, ended.out) == (130, "")
    assert "nothing was kept" in ended.err.splitlines()[-1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["stderr", "stdout"]


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_folds_on_processes_end_with_the_command(tmp_path, sign):
    words = ["evaluate", "--data", "digits", "--reduction", "sbc-kernel", "--reduction", "one-vs-all", "--jobs", "2"]
    with Process(words, tmp_path) as process:
        patience = time.monotonic() + PATIENCE
        while len(workers := workers_of(process.pid)) < 2:
            assert not process.is_over()
            assert time.monotonic() < patience
            time.sleep(0.01)
        (os.killpg if sign == signal.SIGINT else os.kill)(process.pid, sign)
        ended = process.wait()
    assert ended.code == 128 + sign
    assert ended.out == ""
    assert [line for line in ended.err.splitlines() if not line.startswith("pairsim: ")] == []
    assert all_gone(workers)
