"""`pairsim record`: the answers of the model itself, bit for bit, and nothing over a file that is there."""

from __future__ import annotations

import json
import pickle
import sys

import numpy as np
import pytest
from libsvm_text import libsvm_text
from sklearn.svm import SVC

from pairsim import MaxWin, ParameterError, Recorded, from_model, simulate
from pairsim.datasets import load
from pairsim.evaluation import estimator
from pairsim.evaluation.recording import record_given, record_trained
from pairsim.learn.one_vs_one.calibration import deal_folds
from pairsim.models import read_libsvm, read_skops
from pairsim.outputs import write_new, write_whole


@pytest.fixture
def wine_file(tmp_path):
    X, y = load("wine").whole()
    X.assign(target=y).to_csv(tmp_path / "wine.csv", index=False)
    return tmp_path / "wine.csv"


@pytest.mark.parametrize("part", ["test", "train"])
def test_the_file_holds_the_answers_of_the_trained_model(tmp_path, pairsim_command, part):
    out = tmp_path / "answers.npz"
    outcome = pairsim_command(
        "record", "--data", "wine", "--estimator", "svc-rbf:C=3", "--part", part, "--seed", 4, "--out", out
    )
    assert (outcome.code, outcome.out) == (0, "")
    dataset = load("wine", seed=4)
    numbers = dataset.numbers()
    X, y = (numbers.X_test, numbers.y_test) if part == "test" else (numbers.X, numbers.y)
    model = SVC(C=3, random_state=4).fit(numbers.X, numbers.y)
    assert Recorded.load(out) == from_model(model).record(X, y)


def test_a_libsvm_file_gets_the_features_as_they_are(tmp_path, pairsim_command, wine_file):
    X, y = load("wine").whole()
    svc = SVC(kernel="linear").fit(X.to_numpy(), y)
    (tmp_path / "wine.model").write_text(libsvm_text(svc))
    out = tmp_path / "answers.npz"
    outcome = pairsim_command("record", "--data", wine_file, "--libsvm", tmp_path / "wine.model", "--out", out)
    assert outcome.code == 0
    recorded = Recorded.load(out)
    assert recorded.rows == len(y)  # all rows: the file has no test part of its own
    assert recorded == read_libsvm(tmp_path / "wine.model").record(*(load(str(wine_file)).whole()))
    one = simulate(recorded, MaxWin(ties="first")).success
    assert one == (svc.predict(X.to_numpy()) == y).mean()


def test_every_command_with_an_oracle_takes_the_file(tmp_path, pairsim_command):
    out = tmp_path / "a.npz"
    pairsim_command("record", "--data", "iris", "--estimator", "perceptron", "--out", out)
    recorded = Recorded.load(out)
    given = ("--oracle", f"recorded:{out}")
    store, table = tmp_path / "r.db", tmp_path / "t.csv"
    outcome = pairsim_command("sweep", *given, "--store", store, "--out", table, "--format", "json")
    rows = json.loads(outcome.out)
    assert {row["trials"] for row in rows} == {recorded.rows}
    assert all(row["low"] < row["success"] < row["high"] or row["success"] in (0.0, 1.0) for row in rows)
    assert rows[0]["low"] < rows[0]["high"]
    for results in (store, table):
        assert pairsim_command("plot", results, "--out", tmp_path / "fig.png").code == 0
    planned = json.loads(pairsim_command("plan", *given, "--target", 0.5, "--format", "json").out)
    assert {option["decoder"] for option in planned} >= {"adag", "max-win", "quick"}
    outcome = pairsim_command("bound", *given)
    assert (outcome.code, len(outcome.err.splitlines())) == (2, 1)
    assert f"{recorded.rows} recorded rows" in outcome.err


def one_line(outcome) -> str:
    assert (outcome.code, outcome.out, len(outcome.err.splitlines())) == (2, "", 1)
    return outcome.err


def test_nothing_is_overwritten(tmp_path, pairsim_command, monkeypatch):
    (tmp_path / "mine.npz").write_text("precious")
    arguments = ("record", "--data", "iris", "--estimator", "perceptron", "--out")
    assert "exists" in one_line(pairsim_command(*arguments, tmp_path / "mine.npz"))
    assert (tmp_path / "mine.npz").read_text() == "precious"
    (tmp_path / "link.npz").symlink_to(tmp_path / "nowhere.npz")
    one_line(pairsim_command(*arguments, tmp_path / "link.npz"))
    one_line(pairsim_command(*arguments, tmp_path / "mine.csv"))
    one_line(pairsim_command(*arguments, tmp_path / "no" / "such" / "folder.npz"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.npz", "mine.npz"]


def test_files_are_whole_or_not_there(tmp_path):
    def broken(path):
        path.write_bytes(b"half")
        raise RuntimeError

    for write in (write_new, write_whole):
        with pytest.raises(RuntimeError):
            write(tmp_path / "a.npz", broken)
        assert list(tmp_path.iterdir()) == []
    write_new(tmp_path / "a.npz", lambda path: path.write_bytes(b"first"))
    with pytest.raises(FileExistsError):
        write_new(tmp_path / "a.npz", lambda path: path.write_bytes(b"second"))
    assert (tmp_path / "a.npz").read_bytes() == b"first"
    write_whole(tmp_path / "a.npz", lambda path: path.write_bytes(b"third"))
    assert (tmp_path / "a.npz").read_bytes() == b"third"
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]


def test_labels_and_features_that_the_model_does_not_know_are_refused(tmp_path, pairsim_command, wine_file):
    X, y = load("wine").whole()
    rows = y != 2
    (tmp_path / "two.model").write_text(libsvm_text(SVC(kernel="linear").fit(X.to_numpy()[rows], y[rows])))
    arguments = ("--libsvm", tmp_path / "two.model", "--out", tmp_path / "a.npz")
    assert "labels of the model's classes (0, 1)" in one_line(
        pairsim_command("record", "--data", wine_file, *arguments)
    )
    text = wine_file.read_text().splitlines()
    text[5] = ",".join(["", *text[5].split(",")[1:]])
    (tmp_path / "holes.csv").write_text("\n".join(text) + "\n")
    assert "nan" in one_line(pairsim_command("record", "--data", tmp_path / "holes.csv", *arguments))
    (tmp_path / "words.csv").write_text("a,b,target\nx,1,0\ny,2,1\nx,1,0\ny,2,1\n")
    one_line(pairsim_command("record", "--data", tmp_path / "words.csv", *arguments))
    assert not (tmp_path / "a.npz").exists()


def test_a_class_that_was_not_trained_on_cannot_be_recorded(monkeypatch, tmp_path):
    monkeypatch.setenv("PAIRSIM_DATA", str(tmp_path))
    for part, rows in (("train", "1,a\n2,b\n1.5,a\n3,b\n"), ("test", "1,a\n3,c\n")):
        (tmp_path / f"new-{part}.csv").write_text("x,target\n" + rows)
    with pytest.raises(ParameterError, match="labels of the model's classes"):
        record_trained(load("new"), estimator("linear-svc"))


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--estimator", "svc-rbf", "--libsvm", "x.model"),
        ("--estimator", "nothing"),
        ("--estimator", "svc-rbf:C=-1"),
        ("--estimator", "svc-rbf:C=one"),
        ("--estimator", "svc-rbf:kernel=linear"),
        ("--estimator", "svc-rbf:C=1,C=2"),
        ("--estimator", "svc-rbf", "--part", "half"),
        ("--estimator", "svc-rbf", "--part", "all"),
        ("--estimator", "svc-rbf", "--seed", "-1"),
        ("--libsvm", "nowhere.model"),
    ],
    ids=str,
)
def test_bad_options_are_one_line(tmp_path, pairsim_command, arguments):
    one_line(pairsim_command("record", "--data", "iris", "--out", tmp_path / "a.npz", *arguments))
    assert list(tmp_path.iterdir()) == []


def test_without_skops_the_error_says_how_to_get_it(tmp_path, pairsim_command, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops", None)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    error = one_line(pairsim_command("record", "--data", "iris", "--skops", "m.skops", "--out", tmp_path / "a.npz"))
    assert "pip install 'pairsim[skops]'" in error


def test_skops_files_are_read_and_untrusted_types_are_refused(tmp_path, pairsim_command):
    skops = pytest.importorskip("skops.io")
    iris = load("iris")
    model = SVC().fit(iris.X.to_numpy(), iris.y)
    skops.dump(model, tmp_path / "m.skops")
    out = tmp_path / "a.npz"
    assert pairsim_command("record", "--data", "iris", "--skops", tmp_path / "m.skops", "--out", out).code == 0
    assert Recorded.load(out) == record_given(iris, from_model(model))
    model.note = Strange()
    skops.dump(model, tmp_path / "strange.skops")
    skops.dump(SVC(), tmp_path / "new.skops")
    whole = (tmp_path / "m.skops").read_bytes()
    (tmp_path / "cut.skops").write_bytes(whole[: len(whole) // 2])
    bad = {"strange": "Strange", "new": "not fitted", "cut": "not a zip file", "none": "No such file"}
    for path, word in ((out, "skops"), *((tmp_path / f"{name}.skops", word) for name, word in bad.items())):
        error = one_line(pairsim_command("record", "--data", "iris", "--skops", path, "--out", tmp_path / "b.npz"))
        assert word in error
    (tmp_path / "pickle.skops").write_bytes(pickle.dumps(np.arange(3)))
    with pytest.raises(ParameterError):
        read_skops(tmp_path / "pickle.skops")


class Strange:
    """A type that skops has not heard of."""


def test_left_out_rows_are_answered_by_models_that_have_not_seen_them(tmp_path, pairsim_command):
    out = tmp_path / "left-out.npz"
    given = ("--data", "wine", "--estimator", "svc-rbf:C=3", "--seed", 4)
    assert pairsim_command("record", *given, "--part", "left-out", "--out", out).code == 0
    recorded = Recorded.load(out)
    numbers = load("wine", seed=4).numbers()
    assert recorded.rows == len(numbers.y)
    assert (recorded.truth(0, recorded.rows) == np.searchsorted(np.unique(numbers.y), numbers.y)).all()
    fold = deal_folds(recorded.truth(0, recorded.rows), 5, 4)
    for number in range(5):
        kept, outside = fold != number, fold == number
        model = from_model(SVC(C=3, random_state=4).fit(numbers.X[kept], numbers.y[kept]))
        expected = model.record(numbers.X[outside], numbers.y[outside])
        assert (recorded.bits[outside] == expected.bits).all()


def test_left_out_rows_need_a_training_and_two_rows_of_each_class(tmp_path, pairsim_command, wine_file):
    X, y = load("wine").whole()
    (tmp_path / "wine.model").write_text(libsvm_text(SVC(kernel="linear").fit(X.to_numpy(), y)))
    out = ("--part", "left-out", "--out", tmp_path / "a.npz")
    outcome = pairsim_command("record", "--data", wine_file, "--libsvm", tmp_path / "wine.model", *out)
    assert (outcome.code, len(outcome.err.splitlines())) == (2, 1)
    assert "test, train or all for a model that is trained already. Got 'left-out'" in outcome.err
    (tmp_path / "few.csv").write_text("x,target\n1,a\n2,a\n3,a\n4,a\n5,b\n")
    outcome = pairsim_command("record", "--data", tmp_path / "few.csv", "--estimator", "perceptron", *out)
    assert (outcome.code, len(outcome.err.splitlines())) == (2, 1)
    assert "one training row. Got 'left-out' with class 'b'" in outcome.err
